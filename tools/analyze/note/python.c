/* SPDX-License-Identifier: MIT
 *
 * A Python program without a DSL: what was looked for, and which of the program's own modules took
 * most of the time, as the option that would measure them call by call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/again.h"
#include "tools/analyze/note/note.h"
#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

#define MOST_MODULES 3
/* Share of the time that samples found in the program's modules; less is not worth naming. */
#define SMALLEST_PART 0.1

struct module {
    const char *name;
    double s;
};

/* Modules that came with Python or were installed are nobody's DSL. */
static bool is_own_module(const struct bp_function *function) {
    const char *file = function->file;
    return function->module[0] && file[0] && file[0] != '<' && !strstr(file, "/lib/python3") &&
           !strstr(file, "/site-packages/") && !strstr(file, "/dist-packages/");
}

static int compare_modules(const void *a, const void *b) {
    const struct module *x = a;
    const struct module *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The program's own modules by the time that samples found in them: a new array. */
static struct module *sum_modules(const struct bp_model *model, uint32_t *count) {
    struct bp_keys table = {0};
    struct module *modules = bp_alloc(model->part_count + 1, sizeof(*modules));
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_part *part = &model->parts[i];
        const struct bp_function *function = &model->functions[part->function];
        if (part->kind != BP_PART_SAMPLED || !is_own_module(function) ||
            strcmp(function->name, "<module>") == 0)
            continue;
        uint32_t at = bp_keys_put(&table, function->module, strlen(function->module));
        modules[at].name = function->module;
        modules[at].s += part->self_s;
    }
    *count = table.count;
    bp_keys_fini(&table);
    qsort(modules, *count, sizeof(*modules), compare_modules);
    return modules;
}

/* " --python MODULE" for each that is worth it: a new text. */
static char *propose(const struct bp_model *model) {
    struct bp_text text = {0};
    uint32_t count;
    struct module *modules = sum_modules(model, &count);
    double sum_s = 0;
    for (uint32_t i = 0; i < count; i++)
        sum_s += modules[i].s;
    for (uint32_t i = 0; i < count && i < MOST_MODULES; i++) {
        if (modules[i].s < SMALLEST_PART * sum_s || !(modules[i].s > 0))
            break;
        bp_text_add(&text, " --python %s",
                    strpbrk(modules[i].name, " ,") ? "__main__" : modules[i].name);
    }
    free(modules);
    return bp_text_take(&text);
}

bool bp_notes_python(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    if (model->split.leads && model->samples.count)
        return true; /* the overview says what is the user's, and how to have it measured */
    bool python = false;
    const char *wanted = bp_model_variable(model, "BATTPROF_PYTHON");
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        python |= function->module[0] != 0;
        if (function->category == BP_DSL && bp_function_used(function))
            return false;
    }
    if (!python || model->wall.category_s[BP_DSL] > 0 || model->run.imported ||
        strcmp(wanted, "none") == 0)
        return false;
    char *options = propose(model);
    char *again = bp_again_sentence(model, options[0] ? options + 1 : "--python-all");
    if (model->split.leads)
        bp_analysis_note(analysis, "none of your code was sampled; to measure every function%s",
                         again);
    else
        bp_analysis_note(
            analysis,
            "nothing is DSL: no function of a Python module %s was called (a module's own "
            "code is none); to measure %s%s",
            *wanted ? wanted : "dsl",
            options[0] ? "where most of the program's own time was" : "every function", again);
    free(again);
    free(options);
    return true;
}
