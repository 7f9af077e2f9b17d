/* SPDX-License-Identifier: MIT
 *
 * Where calls of many short functions cost much: the few functions that could be hooked instead.
 */
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/text.h"

/* Functions that are named at most. */
#define MOST_NAMES 3
/* Part of a function's time that its own calls may cost. */
#define CHEAP 0.1
/* Part of the threads' time below which a function is not worth a name. */
#define WORTH_NAMING 0.01

static bool is_worth_it(const struct bp_model *model, const struct bp_function *function) {
    return function->kind == BP_FUNC_CALL && function->calls && !function->module[0] &&
           !function->cuda && function->library[0] &&
           function->self_s > WORTH_NAMING * model->thread_time.total_s &&
           function->overhead_s < CHEAP * function->self_s;
}

/* The next one by self time after `before`; NULL if there is none. */
static const struct bp_function *next_by_time(const struct bp_model *model,
                                              const struct bp_function *before) {
    const struct bp_function *best = NULL;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (is_worth_it(model, function) && (!before || function->self_s < before->self_s) &&
            (!best || function->self_s > best->self_s))
            best = function;
    }
    return best;
}

char *bp_advise_fewer_hooks(const struct bp_model *model) {
    struct bp_text text = {0};
    const struct bp_function *function = next_by_time(model, NULL);
    for (int i = 0; i < MOST_NAMES && function; i++) {
        bp_text_add(&text, "%s--hook '%s:%s'",
                    i ? " " : "hooking only what has most time costs less: ", function->library,
                    function->name);
        function = next_by_time(model, function);
    }
    if (!text.length)
        bp_text_add(&text, "where --hook names a whole library, name single functions "
                           "('lib.so:name')");
    return bp_text_take(&text);
}
