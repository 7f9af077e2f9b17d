/* SPDX-License-Identifier: MIT
 *
 * Samples are an estimate, and know no calls. The largest sampled part of the framework is worth
 * being measured exactly: the option that does it is said as a command to copy.
 */
#include <string.h>

#include "tools/report_internal.h"

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

/* Of Python the whole module: its functions call each other. Of a library the one function. */
static void make_pattern(const struct bp_function *function, char *text, size_t size) {
    const char *version = strstr(function->library, ".so");
    if (function->module[0])
        snprintf(text, size, "%s:*", function->module);
    else
        snprintf(text, size, "%.*s.so*:%s",
                 (int)(version ? (size_t)(version - function->library) : strlen(function->library)),
                 function->library, function->name);
}

static const struct bp_function *find_suspect(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_part *part = &model->parts[i];
        const struct bp_function *function = &model->functions[part->function];
        if (part->category != BP_FRAMEWORK || part->kind != BP_PART_SAMPLED || part->calls ||
            function->kind != BP_FUNC_CALL || !can_count(function))
            continue;
        if (part->self_s < SMALLEST_PART * model->thread_s)
            return NULL;
        return function;
    }
    return NULL;
}

bool bp_report_suspect(const struct bp_model *model, char *text, size_t size) {
    const struct bp_function *function = find_suspect(model);
    if (function)
        make_pattern(function, text, size);
    return function;
}

void bp_report_suspect_line(const struct bp_page *page, const struct bp_model *model) {
    char pattern[400];
    char name[300];
    char line[1600];
    const struct bp_function *function = find_suspect(model);
    if (!function)
        return;
    make_pattern(function, pattern, sizeof(pattern));
    snprintf(line, sizeof(line),
             "  to count and time each call of %s: battprof run --count '%s' -- %s",
             bp_report_name(function, name, sizeof(name)), pattern, bp_model_again(model));
    bp_page_wrap(page, line, 6);
}
