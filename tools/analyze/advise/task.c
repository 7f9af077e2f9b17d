/* SPDX-License-Identifier: MIT
 *
 * Advice on tasks that stand out. On a busy machine any task may last long without doing more than
 * others: what it ran and what it waited, each compared with the others', tell these from those
 * that have more to do.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/page.h"
#include "tools/base/text.h"
#include "tools/model/task/typical.h"

/* Share of what outliers took below which no words are needed. */
#define UNSEEN_PART 0.3
/* Longer than any ordinary task by this factor, and by this part of its own time. */
#define LONGER 1.5
#define WORTH_NAMING 0.05
#define MOST_NAMES 3

/* Time in which a task neither ran nor was seen to wait. What the device does for it is no loss,
 * and without a CPU time nothing is known. */
static double unseen_time(const struct bp_model *model, const struct bp_model_task *task) {
    bool known = task->cpu_s > 0 && model->cuda.device_count == 0;
    return known
               ? fmax(task->duration_s + task->inner_s - task->cpu_s - task->waiting_s - task->io_s,
                      0)
               : 0;
}

/* The most that ordinary tasks took. */
struct ordinary {
    double cpu_s;
    double waiting_s; /* with file I/O */
};

static struct ordinary find_ordinary(const struct bp_model *model) {
    struct ordinary most = {0};
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!bp_task_counts(task) || task->outlier || task->dropped || task->unfinished)
            continue;
        most.cpu_s = fmax(most.cpu_s, task->cpu_s);
        most.waiting_s = fmax(most.waiting_s, task->waiting_s + task->io_s);
    }
    return most;
}

static bool is_longer(const struct bp_model_task *task, double s, double most_s) {
    return s > LONGER * most_s && s - most_s > WORTH_NAMING * task->duration_s;
}

/* Ran and waited no longer than ordinary tasks. */
static bool was_stopped(const struct bp_model *model, const struct ordinary *most,
                        const struct bp_model_task *task) {
    return unseen_time(model, task) > BP_TASK_TICK_S &&
           !is_longer(task, task->cpu_s - BP_TASK_TICK_S, most->cpu_s) &&
           !is_longer(task, task->waiting_s + task->io_s, most->waiting_s);
}

const char *bp_task_name(const struct bp_model_task *task) {
    return task->id[0] ? task->id : task->name;
}

struct outliers {
    const struct bp_model_task *worst;
    uint32_t count;
    uint32_t stopped;
    struct bp_text names; /* of those that were stopped, the first ones */
    double s;
    double unseen_s;
    double saves_s;
};

static void add_stopped(struct outliers *found, const struct bp_model_task *task) {
    if (found->stopped++ < MOST_NAMES)
        bp_text_add(&found->names, "%s%s", found->names.length ? ", " : "", bp_task_name(task));
}

static struct outliers find_outliers(const struct bp_model *model) {
    struct ordinary most = find_ordinary(model);
    struct outliers found = {0};
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!task->outlier || task->dropped)
            continue;
        if (was_stopped(model, &most, task)) {
            add_stopped(&found, task);
            continue;
        }
        found.count++;
        found.s += task->duration_s;
        found.unseen_s += unseen_time(model, task);
        found.saves_s += bp_task_surplus(model, task);
        if (!found.worst || task->duration_s > found.worst->duration_s)
            found.worst = task;
    }
    return found;
}

/* Waiting for the GIL is what others did, and waiting for what was handed to others is in the rows
 * of those who did it. */
static bool waits_for_others(const struct bp_model *model, const struct bp_model_task *task,
                             const struct bp_task_function *row) {
    const struct bp_function *function = &model->functions[row->function];
    return function->gil || (function->kind == BP_FUNC_WAIT && task->handed_s > row->self_s / 2);
}

/* The function that took most beyond the median task. */
static const struct bp_task_function *find_cause(const struct bp_model *model,
                                                 const struct bp_task_typical *typical,
                                                 const struct bp_model_task *task,
                                                 const struct bp_task_function *rows) {
    for (uint32_t i = 0; i < task->function_count; i++) {
        double more_s = rows[i].self_s - typical->function_s[rows[i].function];
        if (!(more_s > WORTH_NAMING * task->duration_s))
            return NULL;
        if (!waits_for_others(model, task, &rows[i]))
            return &rows[i];
    }
    return NULL;
}

static void add_cause(struct bp_text *text, const struct bp_model *model,
                      const struct bp_model_task *task) {
    struct bp_task_typical typical;
    bp_task_typical_init(&typical, model);
    struct bp_task_function *rows = bp_task_excess(model, &typical, task);
    const struct bp_task_function *cause = find_cause(model, &typical, task, rows);
    if (cause)
        bp_text_add(text, ", %s of it in %s (usually %s)", BP_SENTENCE_TIME(cause->self_s),
                    bp_function_part_label(&model->functions[cause->function]),
                    BP_SENTENCE_TIME(typical.function_s[cause->function]));
    free(rows);
    bp_task_typical_fini(&typical);
}

static char *outliers_what(const struct bp_model *model, const struct outliers *found) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    struct bp_text text = {0};
    bp_text_add(&text, "%u of %u tasks %s%s, with %.0f %% of the time of all; %s took %s%s",
                found->count, summary->count, found->count == 1 ? "is an outlier" : "are outliers",
                found->stopped ? " by what was done" : "", 100 * found->s / summary->sum_s,
                bp_task_name(found->worst), BP_SENTENCE_TIME(found->worst->duration_s),
                found->worst->unfinished ? " and had not ended" : "");
    add_cause(&text, model, found->worst);
    return bp_text_take(&text);
}

static char *outliers_why(const struct bp_model *model, const struct outliers *found) {
    struct bp_text text = {0};
    bool one = found->count == 1;
    bp_text_add(&text, "the median is %s: look at what %s (--by task), or give %s a time limit",
                BP_SENTENCE_TIME(model->tasks.summary.median_s), one ? "it does" : "they do",
                one ? "it" : "them");
    if (found->unseen_s > UNSEEN_PART * found->s)
        bp_text_add(&text, "; for %s %s no CPU or %s blocked out of sight",
                    BP_SENTENCE_TIME(found->unseen_s), one ? "it had" : "they had",
                    one ? "was" : "were");
    return bp_text_take(&text);
}

/* An outlier that took as long as the median task would save the rest. */
void bp_advise_outliers(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct outliers found = find_outliers(model);
    struct bp_advice *advice =
        found.worst ? bp_advise(analysis, found.worst->function, found.saves_s, 0,
                                outliers_what(model, &found), outliers_why(model, &found))
                    : NULL;
    if (advice)
        advice->in_tasks = 1;
    bp_text_fini(&found.names);
}

void bp_advise_stopped(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct outliers found = find_outliers(model);
    bool one = found.stopped == 1;
    if (found.stopped)
        bp_advise_warning(
            analysis,
            bp_make_text("%u of %u tasks took long, but ran and waited no longer than others: "
                         "%s%s",
                         found.stopped, model->tasks.summary.count, bp_text_get(&found.names),
                         found.stopped > MOST_NAMES ? ", ..." : ""),
            bp_make_text("the rest of the time %s no CPU or %s blocked: other programs had it, the "
                         "machine stood still, or %s waited where battprof does not look (page "
                         "faults, unknown calls)",
                         one ? "it had" : "they had", one ? "was" : "were", one ? "it" : "they"));
    bp_text_fini(&found.names);
}
