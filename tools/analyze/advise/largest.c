/* SPDX-License-Identifier: MIT
 *
 * Advice on what takes most of the wall, where no other rule has a name for it: one function, or
 * garbage collection. How much faster a function can be nobody knows; what twice as fast would
 * save, Amdahl's law tells.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/advise.h"
#include "tools/page.h"
#include "tools/priority.h"
#include "tools/statistics.h"
#include "tools/text.h"

/* Of the wall: one function with more than this is the run. */
#define DOMINATES 0.3
/* Garbage collection is meant to take less. */
#define MUCH_COLLECTION 0.1
#define FASTER 2.0

/* What CPython's collector is called by: on request, when the interpreter ends, and otherwise when
 * enough objects were made. */
static const char *collection_cause(const struct bp_function *function) {
    if (strcmp(function->name, "gc_collect") == 0 || strcmp(function->module, "gc") == 0)
        return "the program asks for most of it, by gc.collect(): do it less often";
    if (strstr(function->name, "CollectNoFail") || strcmp(function->name, "PyGC_Collect") == 0)
        return "most of it is when Python ends: os._exit() after the last output spares that, "
               "fewer objects that are alive at the end shorten it";
    return "call gc.freeze() when all is loaded, gc.disable() or a higher gc.set_threshold() "
           "while many objects are made; or make fewer containers";
}

void bp_advise_collection(struct bp_model *model) {
    const struct bp_group *group = bp_advise_group(model, "garbage collection");
    char share[32];
    if (!group || group->part_count == 0 || !(group->wall_s > MUCH_COLLECTION * model->wall_s))
        return;
    double saves_s = group->wall_s;
    if (bp_advise_pooled(model))
        saves_s /= model->pid_count;
    bp_advise_by_group(
        model, group, saves_s,
        bp_make_text("garbage collection takes %s of the wall",
                     bp_page_share(group->wall_s, model->wall_s, share)),
        bp_make_text("%s", collection_cause(&model->functions[group->parts[0].function])));
}

/* A part that is one function's own work; names in brackets are of what is not known. */
static bool is_work(const struct bp_model *model, const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    return function->kind == BP_FUNC_CALL && function->name[0] != '(' && !function->cuda &&
           part->kind != BP_PART_BLOCKED &&
           (part->category == BP_DSL || strcmp(function->group, BP_GROUP_OTHER) == 0);
}

/* Of a DSL function as the table has it, with what it called of others; of the framework its parts
 * are lines of their own. */
static double part_wall(const struct bp_model *model, const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    return part->category == BP_DSL && function->wall_s > part->wall_s ? function->wall_s
                                                                       : part->wall_s;
}

static const struct bp_part *find_largest(const struct bp_model *model) {
    const struct bp_part *largest = NULL;
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_part *part = &model->parts[i];
        if (is_work(model, part) && (!largest || part->wall_s > largest->wall_s))
            largest = part;
    }
    return largest;
}

/* A rule that has looked closer, at what else than its work makes a function long. */
static bool is_advised(const struct bp_model *model, uint32_t function) {
    for (uint32_t i = 0; i < model->advice_count; i++)
        if (model->advice[i].function == function && model->advice[i].saves_s > 0)
            return true;
    return false;
}

/* Whether a GPU would help, of functions of the DSL. */
static void add_verdict(const struct bp_model *model, uint32_t function, char *text, size_t size) {
    struct bp_levels levels = BP_DEFAULT_LEVELS;
    struct bp_priorities *priorities = bp_priorities_new(model, &levels);
    snprintf(text, size, ": --tree tells from where it is called");
    for (uint32_t i = 0; i < priorities->candidate_count; i++) {
        const struct bp_candidate *candidate = &priorities->candidates[i];
        char count[32];
        if (candidate->function != function)
            continue;
        if (candidate->verdict == BP_KEEP)
            snprintf(text, size, "; a GPU would not help (--by candidate)");
        else if (candidate->verdict == BP_MOVE)
            snprintf(text, size, "; a candidate for a GPU (--by candidate)");
        else
            snprintf(text, size,
                     "; a candidate for a GPU, %s calls or more at once (--by candidate)",
                     bp_page_count((uint64_t)candidate->break_even, count));
    }
    bp_priorities_free(priorities);
}

/* A program, or a module, runs its main part once. */
static bool is_called_once(const struct bp_model *model, const struct bp_part *part) {
    const char *name = model->functions[part->function].name;
    return part->calls == 1 || strcmp(name, "main") == 0 || strcmp(name, "<module>") == 0;
}

void bp_advise_largest(struct bp_model *model) {
    const struct bp_part *part = find_largest(model);
    char name[BP_ADVISE_NAME];
    char share[32];
    char count[32];
    char calls[64] = "";
    char verdict[120];
    if (!part || !(part->wall_s > DOMINATES * model->wall_s) || is_advised(model, part->function))
        return;
    double wall_s = part_wall(model, part);
    double saved = 1 - bp_amdahl(wall_s / model->wall_s, FASTER);
    if (part->calls)
        snprintf(calls, sizeof(calls), ", in %s call%s", bp_page_count(part->calls, count),
                 part->calls == 1 ? "" : "s");
    add_verdict(model, part->function, verdict, sizeof(verdict));
    bp_advise(model, part->function, model->wall_s * saved, 0,
              bp_make_text("%s takes %s of the wall%s", bp_advise_name(model, part->function, name),
                           bp_page_share(wall_s, model->wall_s, share), calls),
              bp_make_text("by making it twice as fast%s%s",
                           is_called_once(model, part) ? "" : ", or calling it half as often",
                           verdict));
}
