/* SPDX-License-Identifier: MIT
 *
 * A function for an example that works: what a report says about tasks, phases or lines that were
 * not asked for names one of this very program.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/again.h"
#include "tools/base/memory.h"
#include "tools/base/terminal/hint.h"
#include "tools/render/text/internal.h"

/* A function of Python, or one that a library exports; no code that runs once and is no call. */
static bool can_be_named(const struct bp_function *function) {
    return function->kind == BP_FUNC_CALL && !function->cuda && function->name[0] != '<' &&
           strncmp(function->module, "importlib", 9) != 0 && !strpbrk(function->name, " (<") &&
           !strstr(function->name, "+0x") &&
           (function->module[0] || strstr(function->library, ".so"));
}

/* Called several times and with the largest total; without one the largest that samples found. */
static const struct bp_function *choose(const struct bp_model *model) {
    const struct bp_function *best = NULL;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (function->calls > 1 && can_be_named(function) &&
            (!best || function->total_s > best->total_s))
            best = function;
    }
    for (uint32_t i = 0; !best && i < model->part_count; i++) {
        const struct bp_function *function = &model->functions[model->parts[i].function];
        if (function->module[0] && can_be_named(function))
            best = function;
    }
    return best;
}

void bp_report_propose(const struct bp_page *page, const struct bp_model *model, const char *what,
                       const char *option) {
    const struct bp_function *function = choose(model);
    bool phase = strcmp(option, "--phase") == 0;
    fputc('\n', page->out);
    if (!function) {
        bp_page_say(page, 0, "%s: run it again with %s", what, option);
        return;
    }
    char *module =
        function->module[0] ? bp_again_module(function) : bp_copy_text(function->library);
    char *word = bp_make_text("%s%s%s:%s", phase ? function->name : "", phase ? "=" : "", module,
                              function->name);
    char *quoted = bp_hint_quote(word);
    char *options = bp_make_text("%s %s", option, quoted);
    char *again = bp_again_sentence(model, options);
    bp_page_say(page, 2, "%s, for example%s", what, again);
    free(again);
    free(options);
    free(quoted);
    free(word);
    free(module);
}
