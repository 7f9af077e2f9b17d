/* SPDX-License-Identifier: MIT
 *
 * Samples are an estimate, and know no calls. The largest sampled part of the framework is worth
 * being measured exactly: the option that does it is printed as a command to copy.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/again.h"
#include "tools/render/text/internal.h"

/* Smaller suspects are not worth another run. */
#define SMALLEST_PART 0.02

/* What run --count can count: Python's functions, and those that libraries export. A module's own
 * code is none, the import machinery is none of the program's, and what the interpreter does within
 * itself is not called by an exported name. */
static bool can_count(const struct bp_function *function) {
    bool script = function->module[0] != 0 && strcmp(function->name, "<module>") != 0 &&
                  strncmp(function->module, "importlib", 9) != 0;
    bool library = !function->module[0] && strncmp(function->library, "lib", 3) == 0 &&
                   strncmp(function->library, "libpython", 9) != 0 &&
                   !strstr(function->name, "+0x") && !strchr(function->name, '(');
    return script || library;
}

/* The whole module in Python, where its functions call each other; the one function of a library.
 */
static char *make_pattern(const struct bp_function *function) {
    const char *version = strstr(function->library, ".so");
    size_t length = version ? (size_t)(version - function->library) : strlen(function->library);
    if (!function->module[0])
        return bp_make_text("%.*s.so*:%s", (int)length, function->library, function->name);
    char *module = bp_again_module(function);
    char *pattern = bp_make_text("%s:*", module);
    free(module);
    return pattern;
}

static const struct bp_function *find_suspect(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_part *part = &model->parts[i];
        const struct bp_function *function = &model->functions[part->function];
        if (part->category != BP_FRAMEWORK || part->kind != BP_PART_SAMPLED || part->calls ||
            function->kind != BP_FUNC_CALL || !can_count(function))
            continue;
        if (part->self_s < SMALLEST_PART * model->thread_time.total_s)
            return NULL;
        return function;
    }
    return NULL;
}

char *bp_report_suspect(const struct bp_model *model) {
    const struct bp_function *function = find_suspect(model);
    return function ? make_pattern(function) : NULL;
}

void bp_report_suspect_line(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_function *function = find_suspect(model);
    if (!function)
        return;
    char *pattern = make_pattern(function);
    char *options = bp_make_text("--count '%s'", pattern);
    char *again = bp_again_sentence(model, options);
    bp_page_say(page, 6, "  to count and time each call of %s%s", function->label, again);
    free(again);
    free(options);
    free(pattern);
}
