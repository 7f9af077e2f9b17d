/* SPDX-License-Identifier: MIT
 *
 * Advice from tasks, and about the measurement itself.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/advise.h"
#include "tools/memory.h"
#include "tools/page.h"
#include "tools/statistics.h"
#include "tools/text.h"

/* Own cost above this part of thread time has changed what was measured. */
#define HIGH_COST 0.2
/* In a run as short as this it is the start of the profiler. */
#define SHORT_RUN_S 0.1
/* With fewer samples a function's half of the time may be a third or two thirds of it. */
#define FEW_SAMPLES 30
/* Less of the threads' time than this is not worth dividing. */
#define LEAST_RUNNING 0.2
/* Fewer tasks than this have no distribution. */
#define FEW_TASKS 5
/* A first task this many times the median is warming something up. */
#define WARM_UP 3
/* Of what outliers took; less than this needs no words. */
#define UNSEEN_PART 0.3

/* Without the time in which a task neither ran nor was seen to wait. What the device does for it is
 * no loss, and without a CPU time nothing is known. */
static double own_time(const struct bp_model *model, const struct bp_model_task *task) {
    double seen_s = task->cpu_s + task->waiting_s + task->io_s;
    bool known = task->cpu_s > 0 && model->device_count == 0;
    return known && seen_s < task->duration_s ? seen_s : task->duration_s;
}

/* Own times are compared with own times: on a busy machine every task lasts longer than it runs. */
static double own_limit(const struct bp_model *model) {
    double *values = bp_alloc(model->task_count, sizeof(*values));
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        if (task->parent == BP_NO_TASK && !task->dropped && !task->unfinished)
            values[count++] = own_time(model, task);
    }
    bp_sort_values(values, count);
    double limit_s = bp_outlier_limit(values, count, model->task_summary.outlier_k);
    free(values);
    return limit_s;
}

static const char *name_of(const struct bp_model_task *task) {
    return task->id[0] ? task->id : task->name;
}

struct outliers {
    const struct bp_model_task *worst;
    uint32_t count;
    uint32_t stopped; /* ran and waited no longer than others do */
    double s;
    double unseen_s; /* neither running nor seen to wait */
    double saves_s;
};

static struct outliers find_outliers(const struct bp_model *model) {
    double limit_s = own_limit(model);
    struct outliers found = {0};
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        double own_s = own_time(model, task);
        if (!task->outlier || task->dropped)
            continue;
        if (own_s <= limit_s) {
            found.stopped++;
            continue;
        }
        found.count++;
        found.s += task->duration_s;
        found.unseen_s += task->duration_s - own_s;
        found.saves_s += bp_task_surplus(model, task);
        if (!found.worst || task->duration_s > found.worst->duration_s)
            found.worst = task;
    }
    return found;
}

/* An outlier that took as long as the median task would save the rest. */
void bp_advise_outliers(struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    struct outliers found = find_outliers(model);
    const struct bp_model_task *worst = found.worst;
    char unseen[80] = "";
    if (!worst)
        return;
    if (found.unseen_s > UNSEEN_PART * found.s)
        snprintf(unseen, sizeof(unseen), "; for %.3g s %s neither ran nor %s seen to wait",
                 found.unseen_s, found.count == 1 ? "it" : "they",
                 found.count == 1 ? "was" : "were");
    struct bp_advice *advice = bp_advise(
        model, worst->function, found.saves_s, 0,
        bp_make_text("%u of %u tasks %s, with %.0f %% of the time of all; %s took %.3g s%s",
                     found.count, summary->count,
                     found.count == 1 ? "is an outlier" : "are outliers",
                     100 * found.s / summary->sum_s, name_of(worst), worst->duration_s,
                     worst->unfinished ? " and had not ended" : ""),
        bp_make_text("the median is %.3g s: look at what %s (--by task), or give %s a "
                     "time limit%s",
                     summary->median_s, found.count == 1 ? "it does" : "they do",
                     found.count == 1 ? "it" : "them", unseen));
    if (advice)
        advice->in_tasks = 1;
}

/* A status does not say how far the program came; its tasks do. */
static const struct bp_model_task *longest_unfinished(const struct bp_model *model) {
    const struct bp_model_task *longest = NULL;
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        if (task->unfinished && task->parent == BP_NO_TASK && !task->dropped &&
            (!longest || task->duration_s > longest->duration_s))
            longest = task;
    }
    return longest;
}

static char *progress_text(const struct bp_model *model, bool killed) {
    const struct bp_task_summary *summary = &model->task_summary;
    const struct bp_model_task *longest = longest_unfinished(model);
    uint64_t ended = summary->ended + summary->folded;
    char count[32];
    bp_page_count(ended, count);
    const char *words = killed ? "what it had still to do is not in here"
                               : "whether it did all its work is not known from that";
    if (longest)
        return bp_make_text("%s: %s task%s ended, %u %s still running, %s for %.3g s", words, count,
                            ended == 1 ? "" : "s", summary->unfinished,
                            summary->unfinished == 1 ? "was" : "were", name_of(longest),
                            longest->duration_s);
    if (ended == 1)
        return bp_make_text("%s; its one task ended", words);
    if (ended)
        return bp_make_text("%s; all %s tasks that began have ended", words, count);
    return bp_make_text("%s", words);
}

static void warn_status(struct bp_model *model) {
    if (model->live || model->imported || (model->exit_status <= 0 && !model->signal))
        return;
    bp_advise_warning(model,
                      model->signal
                          ? bp_make_text("the program was killed by signal %d", model->signal)
                          : bp_make_text("the program ended with status %d", model->exit_status),
                      progress_text(model, model->signal));
}

static void warn_cost(struct bp_model *model) {
    double part = model->thread_s > 0 ? model->overhead_s / model->thread_s : 0;
    if (part < HIGH_COST || model->wall_s < SHORT_RUN_S)
        return;
    bp_advise_warning(
        model, bp_make_text("the profiler took %.0f %% of the time", 100 * part),
        bp_make_text("its cost is subtracted, but caches and timing have changed with it; hook "
                     "fewer functions (run --hook 'lib.so:name')"));
}

static void warn_tasks(struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    if (summary->count == 0)
        return;
    if (summary->count < FEW_TASKS)
        bp_advise_warning(
            model, bp_make_text("only %u task%s", summary->count, summary->count == 1 ? "" : "s"),
            bp_make_text("medians, outliers and projections need five or more"));
    const struct bp_model_task *first = &model->tasks[0];
    if (summary->count < FEW_TASKS || !(first->duration_s > WARM_UP * summary->median_s) ||
        !(first->duration_s > 0.1 * summary->sum_s))
        return;
    bp_advise_warning(model,
                      bp_make_text("the first task took %.3g s, the median %.3g s",
                                   first->duration_s, summary->median_s),
                      bp_make_text("it pays for warm-up (imports, JIT, caches): run more tasks "
                                   "before comparing"));
}

static void warn_samples(struct bp_model *model) {
    if (!model->sampled || model->samples >= FEW_SAMPLES || model->wall_s < SHORT_RUN_S ||
        model->running_s < LEAST_RUNNING * model->thread_s)
        return;
    bp_advise_warning(
        model,
        model->samples ? bp_make_text("only %u sample%s", (unsigned)model->samples,
                                      model->samples == 1 ? "" : "s")
                       : bp_make_text("no samples"),
        bp_make_text("they would tell which functions the %.2g s of own code are; run longer, or "
                     "with --rate 1000",
                     model->running_s));
}

static void warn_stopped(struct bp_model *model) {
    uint32_t stopped = find_outliers(model).stopped;
    if (stopped)
        bp_advise_warning(
            model,
            bp_make_text("%u of %u tasks took long, but ran and waited no longer than others",
                         stopped, model->task_summary.count),
            bp_make_text("the rest of the time %s neither on a CPU nor seen to wait: other "
                         "programs had the CPU, the machine stood still, or %s blocked where "
                         "battprof does not look (page faults, unknown calls)",
                         stopped == 1 ? "it was" : "they were", stopped == 1 ? "it" : "they"));
}

void bp_advise_measurement(struct bp_model *model) {
    warn_status(model);
    warn_cost(model);
    warn_samples(model);
    warn_tasks(model);
    warn_stopped(model);
}
