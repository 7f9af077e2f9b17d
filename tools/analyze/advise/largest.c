/* SPDX-License-Identifier: MIT
 *
 * Advice on what takes most of the wall, where no other rule has a name for it: one function, or
 * garbage collection. How much faster a function can be is unknown; what twice as fast would
 * save, Amdahl's law tells.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/analyze/cause.h"
#include "tools/analyze/priority.h"
#include "tools/base/page.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"

/* Share of the wall above which one function is the run. */
#define DOMINATES 0.3
/* Garbage collection is meant to take less. */
#define MUCH_COLLECTION 0.1
#define FASTER 2.0
/* Part of a function's time from which a caller is named. */
#define MAIN_CALLER 0.5
/* Part of a function's time that its other lines have at least, where one is named as what could
 * go: a line that is the whole body is the function's work. */
#define OTHERS 0.02

/* What CPython's collector is called by: on request, when the interpreter ends, and otherwise when
 * enough objects were made. */
static const char *collection_cause(const struct bp_function *function) {
    if (strcmp(function->name, "gc_collect") == 0 || strcmp(function->module, "gc") == 0)
        return "most of it is asked for by gc.collect(): call that less often";
    if (strstr(function->name, "CollectNoFail") || strcmp(function->name, "PyGC_Collect") == 0)
        return "most of it happens when Python ends: os._exit() after the last output avoids it, "
               "and fewer live objects at the end shorten it";
    return "call gc.freeze() once everything is loaded, and gc.disable() or a higher "
           "gc.set_threshold() while many objects are made; or make fewer containers";
}

void bp_advise_collection(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_group *group = bp_advise_group(model, "garbage collection");
    if (!group || group->part_count == 0 ||
        !(group->wall_s > MUCH_COLLECTION * model->wall.total_s))
        return;
    double saves_s = group->wall_s;
    if (bp_advise_pooled(model))
        saves_s /= model->pid_count;
    bp_advise_by_group(
        analysis, group, saves_s,
        bp_make_text("garbage collection takes %s of the wall",
                     BP_SHARE(group->wall_s, model->wall.total_s)),
        bp_make_text("%s", collection_cause(&model->functions[group->parts[0].function])));
}

/* A part that is one function's own work; names in brackets are of what is not known. */
static bool is_work(const struct bp_model *model, const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    return function->kind == BP_FUNC_CALL && function->name[0] != '(' && !function->cuda &&
           part->kind != BP_PART_BLOCKED &&
           (part->category == BP_DSL || strcmp(function->group, BP_GROUP_OTHER) == 0);
}

/* Who calls a function of a library or of the interpreter most: the user's own function, which can
 * be changed, else its nearest caller. NULL for the user's own. */
static const struct bp_function *foreign_caller(const struct bp_model *model,
                                                const struct bp_part *part) {
    enum bp_owner owner = model->functions[part->function].owner;
    bool foreign = owner == BP_OWNER_LIBRARY || owner == BP_OWNER_STANDARD;
    if (part->category == BP_DSL || !foreign)
        return NULL;
    if (part->user_count && part->users[0].s >= MAIN_CALLER * part->self_s)
        return &model->functions[part->users[0].function];
    if (part->caller_count && part->callers[0].s >= MAIN_CALLER * part->self_s)
        return &model->functions[part->callers[0].function];
    return NULL;
}

/* A DSL function's part is as the table has it, with what it called of others; parts of the
 * framework are lines of their own. */
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
static bool is_advised(const struct bp_analysis *analysis, uint32_t function) {
    for (uint32_t i = 0; i < analysis->advice_count; i++)
        if (analysis->advice[i].function == function && analysis->advice[i].saves_s > 0)
            return true;
    return false;
}

/* Whether a GPU would help, of functions of the DSL in a run that has one. */
static void add_verdict(struct bp_text *text, const struct bp_model *model, uint32_t function) {
    struct bp_levels levels = BP_DEFAULT_LEVELS;
    struct bp_priorities *priorities = bp_priorities_new(model, &levels);
    const struct bp_candidate *found = NULL;
    bool wanted = bp_model_used_cuda(model);
    for (uint32_t i = 0; wanted && i < priorities->candidate_count; i++)
        if (priorities->candidates[i].function == function)
            found = &priorities->candidates[i];
    if (!found)
        bp_text_add(text, ": --tree shows where it is called from");
    else if (found->verdict == BP_LINE)
        bp_text_add(text, "; not for a GPU as a whole (--by candidate)");
    else if (found->verdict == BP_KEEP)
        bp_text_add(text, "; a GPU would not help (--by candidate)");
    else if (found->verdict == BP_MOVE)
        bp_text_add(text, "; a candidate for a GPU (--by candidate)");
    else
        bp_text_add(text, "; a candidate for a GPU, %s calls or more at once (--by candidate)",
                    BP_COUNT(bp_whole(found->break_even)));
    bp_priorities_free(priorities);
}

/* A program, or a module, runs its main part once. */
static bool is_called_once(const struct bp_model *model, const struct bp_part *part) {
    const char *name = model->functions[part->function].name;
    return part->calls == 1 || strcmp(name, "main") == 0 || strcmp(name, "<module>") == 0;
}

/* A rule has named the line. */
static bool is_line_advised(const struct bp_analysis *analysis, const struct bp_spot *spot) {
    for (uint32_t i = 0; i < analysis->advice_count; i++)
        if (analysis->advice[i].file && analysis->advice[i].line == spot->line &&
            strcmp(analysis->advice[i].file, spot->file) == 0)
            return true;
    return false;
}

static void set_line(struct bp_advice *advice, const struct bp_spot *spot) {
    if (!advice || !spot)
        return;
    advice->cause = "line";
    advice->file = spot->file;
    advice->line = spot->line;
}

/* Where one line is most of it, that line is what to look at, whatever it does. */
static bool advise_line(struct bp_analysis *analysis, const struct bp_part *part) {
    const struct bp_model *model = analysis->model;
    struct bp_main_line main = bp_model_main_line(model, part->function);
    if (!main.spot || is_line_advised(analysis, main.spot))
        return main.spot;
    if (main.wall_s > (1 - OTHERS) * main.whole_s)
        return false;
    struct bp_advice *advice = bp_advise(
        analysis, part->function, main.wall_s, 0,
        bp_make_text("%s:%u takes %s of the wall, %s of %s", bp_base_name(main.spot->file),
                     main.spot->line, BP_SHARE(main.wall_s, model->wall.total_s),
                     BP_SHARE(main.wall_s, main.whole_s), bp_advise_name(model, part->function)),
        bp_make_text("all of it if the line can go, a part if it runs less often%s",
                     bp_model_used_cuda(model)
                         ? "; the rest of the function takes little, so a GPU would have to take "
                           "over this line, not the function"
                         : ""));
    set_line(advice, main.spot);
    return true;
}

static char *largest_what(const struct bp_model *model, const struct bp_part *part, double wall_s,
                          const struct bp_spot *spot) {
    struct bp_text text = {0};
    bp_text_add(&text, "%s takes %s of the wall", bp_advise_name(model, part->function),
                BP_SHARE(wall_s, model->wall.total_s));
    if (part->calls)
        bp_text_add(&text, ", in %s call%s", BP_COUNT(part->calls), part->calls == 1 ? "" : "s");
    const struct bp_function *caller = foreign_caller(model, part);
    if (caller)
        bp_text_add(&text, ", most of it %s %s",
                    caller->owner == BP_OWNER_USER ? "for" : "called from", caller->label);
    else if (spot) /* of a function that is one line */
        bp_text_add(&text, ", all of it at %s:%u", bp_base_name(spot->file), spot->line);
    return bp_text_take(&text);
}

static char *largest_why(const struct bp_model *model, const struct bp_part *part) {
    struct bp_text text = {0};
    if (foreign_caller(model, part))
        bp_text_add(&text, "by calling it half as often, or for half as much");
    else
        bp_text_add(&text, "by making it twice as fast%s",
                    is_called_once(model, part) ? "" : ", or calling it half as often");
    add_verdict(&text, model, part->function);
    return bp_text_take(&text);
}

void bp_advise_largest(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_part *part = find_largest(model);
    if (!part || !(part->wall_s > DOMINATES * model->wall.total_s) ||
        is_advised(analysis, part->function) || bp_advise_has_cause(analysis, part->function))
        return;
    if (advise_line(analysis, part))
        return;
    double wall_s = part_wall(model, part);
    double saved = 1 - bp_amdahl(wall_s / model->wall.total_s, FASTER);
    const struct bp_spot *spot = bp_model_main_line(model, part->function).spot;
    struct bp_advice *advice =
        bp_advise(analysis, part->function, model->wall.total_s * saved, 0,
                  largest_what(model, part, wall_s, spot), largest_why(model, part));
    set_line(advice, spot);
}
