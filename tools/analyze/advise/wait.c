/* SPDX-License-Identifier: MIT
 *
 * Advice on threads that wait for each other: locks, and Python's GIL. Waits of threads side by
 * side are not the wall's: at best it becomes shorter by what each of those that wait has waited.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/memory.h"
#include "tools/base/page.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"

/* Share of the longest wait: who waited less than the first has met the lock by chance, and who
 * waited less than the second is not whom the run waits for, such as a main thread that only starts
 * the others. */
#define TAKES_PART 0.1
#define MATTERS 0.3

struct waits {
    double s;
    uint32_t function; /* with most of it */
    uint32_t threads;  /* that took part */
    double most_s;     /* of those who matter */
    uint32_t at_once;  /* of them, most that lived at the same time */
};

typedef bool is_wait(const struct bp_function *function);

static double waited_by(const struct bp_model *model, uint32_t number, is_wait *is) {
    const struct bp_model_thread *thread = &model->threads[number];
    double s = 0;
    for (uint32_t i = 0; i < thread->source->node_count; i++)
        if (is(&model->functions[model->contexts[thread->contexts[i].context].function]))
            s += thread->contexts[i].self_s;
    return s;
}

static double thread_start(const struct bp_model *model, const struct bp_model_thread *thread) {
    const struct bp_model_process *process = &model->processes[thread->process];
    int64_t later = (int64_t)(thread->source->info.start - process->profile->header.start);
    return process->start_s + (double)later * process->tick_s;
}

static void count_threads(struct waits *waits, const struct bp_model *model,
                          const double *waited_s) {
    double *starts = bp_alloc(model->thread_count, sizeof(*starts));
    double *ends = bp_alloc(model->thread_count, sizeof(*ends));
    double longest_s = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        longest_s = waited_s[i] > longest_s ? waited_s[i] : longest_s;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        waits->threads += waited_s[i] > TAKES_PART * longest_s;
        if (!(waited_s[i] > MATTERS * longest_s))
            continue;
        waits->most_s += waited_s[i];
        starts[count] = thread_start(model, thread);
        ends[count] = starts[count] + thread->lifetime_s;
        count++;
    }
    waits->at_once = bp_most_at_once(starts, ends, count);
    free(starts);
    free(ends);
}

static struct waits find_waits(const struct bp_model *model, is_wait *is) {
    struct waits waits = {.function = BP_NO_FUNCTION};
    double *waited_s = bp_alloc(model->thread_count, sizeof(*waited_s));
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (is(function) && (waits.function == BP_NO_FUNCTION ||
                             function->self_s > model->functions[waits.function].self_s))
            waits.function = i;
    }
    for (uint32_t i = 0; waits.function != BP_NO_FUNCTION && i < model->thread_count; i++) {
        waited_s[i] = waited_by(model, i, is);
        waits.s += waited_s[i];
    }
    if (waits.s > 0)
        count_threads(&waits, model, waited_s);
    free(waited_s);
    return waits;
}

static void advise(struct bp_analysis *analysis, is_wait *is, const char *what, const char *why) {
    const struct bp_model *model = analysis->model;
    struct waits waits = find_waits(model, is);
    char time[32];
    if (model->lived_count < 2 || waits.at_once == 0)
        return;
    bp_sentence_time(waits.s, time);
    bp_advise(analysis, waits.function, waits.most_s / waits.at_once, 0,
              waits.threads == 1
                  ? bp_make_text("%s: %s of one thread", what, time)
                  : bp_make_text("%s: %s of %u threads together", what, time, waits.threads),
              bp_make_text("%s", why));
}

static bool is_gil(const struct bp_function *function) {
    return function->gil || (function->kind == BP_FUNC_WAIT && strcmp(function->group, "GIL") == 0);
}

void bp_advise_gil(struct bp_analysis *analysis) {
    advise(analysis, is_gil, "waiting for Python's GIL",
           "threads of one interpreter take turns: use processes, or native code that releases it");
}

/* Who waits on a condition or a semaphore waits for work or for a result, as idle workers and those
 * who gave them their work do. Only a lock is held by somebody who could let it go earlier. */
static bool is_lock(const struct bp_function *function) {
    static const char *const beginnings[] = {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_",
                                             "mtx_",           "flock",           "lockf"};
    if (function->kind != BP_FUNC_WAIT || is_gil(function))
        return false;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function->name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

void bp_advise_locks(struct bp_analysis *analysis) {
    advise(analysis, is_lock, "waiting for locks",
           "shorten what is done under the lock, or give workers longer pieces of work");
}
