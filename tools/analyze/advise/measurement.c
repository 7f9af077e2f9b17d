/* SPDX-License-Identifier: MIT
 *
 * Warnings about the measurement itself: they decide whether the rest can be believed.
 */
#include <stdlib.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"

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
/* Busy threads per CPU from which on they are too many: a few are always between two states. */
#define CROWDED 1.2
/* Part of the wall from which on waiting that may be none is worth a warning. */
#define MUCH_OFF 0.05
/* A first task this many times the median is warming something up. */
#define WARM_UP 3

/* A status does not say how far the program came; its tasks do. */
static const struct bp_model_task *longest_unfinished(const struct bp_model *model) {
    const struct bp_model_task *longest = NULL;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (task->unfinished && bp_task_counts(task) && !task->dropped &&
            (!longest || task->duration_s > longest->duration_s))
            longest = task;
    }
    return longest;
}

static char *progress_text(const struct bp_model *model, bool killed) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    const struct bp_model_task *longest = longest_unfinished(model);
    uint64_t ended = summary->ended + summary->folded;
    char count[32];
    bp_page_count(ended, count);
    const char *words = killed ? "the work that was left is not in this profile"
                               : "whether it did all its work is unknown";
    if (longest)
        return bp_make_text("%s: %s task%s ended, %u %s still running, %s for %s", words, count,
                            ended == 1 ? "" : "s", summary->unfinished,
                            summary->unfinished == 1 ? "was" : "were", bp_task_name(longest),
                            BP_SENTENCE_TIME(longest->duration_s));
    if (ended == 1)
        return bp_make_text("%s; its one task ended", words);
    if (ended)
        return bp_make_text("%s; all %s tasks that began have ended", words, count);
    return bp_make_text("%s", words);
}

static void warn_status(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    if (model->run.live || model->run.imported ||
        (model->run.exit_status <= 0 && !model->run.signal))
        return;
    bp_advise_warning(
        analysis,
        model->run.signal
            ? bp_make_text("the program was killed by signal %d", model->run.signal)
            : bp_make_text("the program ended with status %d", model->run.exit_status),
        progress_text(model, model->run.signal));
}

static char *cause_of_overhead(const struct bp_model *model) {
    if (bp_model_is_hashed(model))
        return bp_make_text("--check-transfers reads all that is copied: take times from a run "
                            "without it");
    return bp_advise_fewer_hooks(model);
}

static void warn_overhead(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    double part = model->thread_time.total_s > 0
                      ? model->thread_time.overhead_s / model->thread_time.total_s
                      : 0;
    if (part < HIGH_COST || model->wall.total_s < SHORT_RUN_S)
        return;
    char *cause = cause_of_overhead(model);
    bp_advise_warning(
        analysis, bp_make_text("overhead is %.0f %% of the time", 100 * part),
        bp_make_text("it is subtracted, but it also changes caches and timing; %s", cause));
    analysis->advice[analysis->advice_count - 1].first = true;
    free(cause);
}

static void warn_tasks(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_task_summary *summary = &model->tasks.summary;
    if (summary->count == 0)
        return;
    if (summary->count < FEW_TASKS)
        bp_advise_warning(
            analysis,
            bp_make_text("only %u task%s", summary->count, summary->count == 1 ? "" : "s"),
            bp_make_text("medians, outliers and projections need five or more"));
    const struct bp_model_task *first = &model->tasks.list[0];
    if (summary->count < FEW_TASKS || !(first->duration_s > WARM_UP * summary->median_s) ||
        !(first->duration_s > 0.1 * summary->sum_s))
        return;
    bp_advise_warning(analysis,
                      bp_make_text("the first task took %s, the median %s",
                                   BP_SENTENCE_TIME(first->duration_s),
                                   BP_SENTENCE_TIME(summary->median_s)),
                      bp_make_text("it pays for warm-up (imports, JIT, caches): run more tasks "
                                   "before comparing"));
}

static void warn_samples(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    char time[32];
    if (!model->samples.on || model->samples.count >= FEW_SAMPLES ||
        model->wall.total_s < SHORT_RUN_S ||
        model->thread_time.running_s < LEAST_RUNNING * model->thread_time.total_s)
        return;
    bp_advise_warning(analysis,
                      model->samples.count
                          ? bp_make_text("only %u sample%s", (unsigned)model->samples.count,
                                         model->samples.count == 1 ? "" : "s")
                          : bp_make_text("no samples"),
                      bp_make_text("which functions took the %s of running code, imports included, "
                                   "is uncertain; run longer, or with a higher --rate",
                                   bp_sentence_time(model->thread_time.running_s, time)));
}

/* A program that became another by exec may have said which CPUs that one has: taskset. */
static uint32_t cpus_of(const struct bp_model *model) {
    uint32_t cpus = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        if (header->state != BP_EXECED && header->cpus > cpus)
            cpus = header->cpus;
    }
    return cpus;
}

/* Threads that were busy at once, on average over the time in which any was. */
static double busy_threads(const struct bp_model *model) {
    double busy_s = 0;
    double wall_s = model->wall.total_s - model->wall.idle_s - model->wall.start_s;
    for (uint32_t i = 0; i < model->thread_count; i++)
        busy_s += model->threads[i].busy_s;
    return wall_s > 0 ? busy_s / wall_s : 0;
}

/* Who reads that a function took 2 s should know that it had a CPU for one of them. */
static void warn_starved(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    double could_run_s;
    double starved_s = bp_model_starved_s(model, &could_run_s);
    double busy = busy_threads(model);
    uint32_t cpus = cpus_of(model);
    if (!(starved_s > 0))
        return;
    char *why = cpus && busy > CROWDED * cpus
                    ? bp_make_text("%.0f threads were busy at once, on average, and %u CPU%s there "
                                   "for them",
                                   busy, cpus, cpus == 1 ? " was" : "s were")
                    : bp_make_text("other threads or programs had it");
    bp_advise_warning(
        analysis,
        bp_make_text("threads had no CPU for %s of the %s in which they could have run",
                     BP_SENTENCE_TIME(starved_s), BP_SENTENCE_TIME(could_run_s)),
        bp_make_text("%s: times include the wait for a CPU; the column CPU is the work alone, "
                     "where it is known",
                     why));
    analysis->advice[analysis->advice_count - 1].first = true;
    free(why);
}

/* What the samples of threads do not fill, where no clock told how long others had the CPU: of
 * threads that have not ended, or were killed. */
static double off_cpu_s(const struct bp_model *model) {
    double off_s = 0;
    for (uint32_t i = 0; i < model->part_count; i++)
        off_s += model->parts[i].kind == BP_PART_BLOCKED ? model->parts[i].self_s : 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        off_s -= model->threads[i].has_clocks ? model->threads[i].blocked_s : 0;
    return off_s;
}

/* It counts as waiting, but on a busy machine it is mostly not. */
static void warn_off_cpu(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    double off_s = off_cpu_s(model);
    if (model->run.imported || !(off_s > MUCH_OFF * model->wall.total_s))
        return;
    bp_advise_warning(
        analysis,
        bp_make_text("%s of the waiting may be time without a CPU", BP_SENTENCE_TIME(off_s)),
        bp_make_text("whether a thread that has not ended was blocked, or other programs had its "
                     "CPU, is unknown"));
}

void bp_advise_measurement(struct bp_analysis *analysis) {
    warn_starved(analysis);
    warn_off_cpu(analysis);
    warn_status(analysis);
    warn_overhead(analysis);
    warn_samples(analysis);
    warn_tasks(analysis);
    bp_advise_stopped(analysis);
}
