/* SPDX-License-Identifier: MIT
 *
 * Whose the wall was while no thread was busy. A thread whose waits were all of that kind, as those
 * of a program with one thread are, has it to the last of them, and so have its functions and
 * phases. Where others ran during some of a thread's waits, it is unknown during which: that part
 * stays nobody's.
 *
 * The other way round it is known how long a thread waited while all did: whenever no thread is
 * busy, every thread there is waits. Only of the time in which it did not live it is not known.
 */
#include "tools/model/internal.h"

/* Own cost is taken out of the waits, not out of the idle time; more than this is another thread.
 */
#define ALL_OF_IT 0.98

/* Who waits for the GIL waits for a thread that runs. */
static bool may_be_idle(const struct bp_function *function) {
    return function->kind == BP_FUNC_WAIT && !function->gil;
}

static double waited(const struct bp_model *model, uint32_t number) {
    const struct bp_thread_work *work = &model->work->threads[number];
    double sum_s = 0;
    for (uint32_t i = 0; i < model->threads[number].source->node_count; i++)
        if (may_be_idle(&model->functions[work->function[i]]))
            sum_s += work->self_s[i];
    return sum_s;
}

double bp_model_node_idle(const struct bp_model *model, uint32_t thread, uint32_t node,
                          double self_s) {
    const struct bp_thread_work *work = &model->work->threads[thread];
    return may_be_idle(&model->functions[work->function[node]]) ? self_s * work->idle_rate : 0;
}

void bp_model_share_idle(struct bp_model *model) {
    for (uint32_t i = 0; i < model->thread_count; i++) {
        struct bp_model_thread *thread = &model->threads[i];
        struct bp_thread_work *work = &model->work->threads[i];
        double waited_s = waited(model, i);
        /* What is idle at the end of the run nobody recorded; one thread alone has it, too. */
        double idle_s = model->thread_count == 1 ? model->wall.idle_s : thread->idle_s;
        if (!(waited_s > 0) || idle_s < ALL_OF_IT * waited_s)
            continue;
        work->idle_rate = idle_s < waited_s ? idle_s / waited_s : 1;
        for (uint32_t k = 0; k < thread->source->node_count; k++) {
            double s = bp_model_node_idle(model, i, k, work->self_s[k]);
            model->functions[work->function[k]].idle_s += s;
            model->contexts[work->context[k]].idle_s += s;
            thread->contexts[k].idle_s = s;
            thread->own_idle_s += s;
        }
        model->processes[thread->process].idle_s += thread->own_idle_s;
    }
}

/* How much of a thread's waits may be in doubt. */
#define DOUBT 0.05

/* While it was away, before it began or after its end, anything from none to all of the idle time
 * may have passed: when the wall was idle is not recorded. */
static void find_all_wait(const struct bp_model *model, uint32_t number) {
    struct bp_model_thread *thread = &model->threads[number];
    double waited_s = waited(model, number);
    double most_s = waited_s < model->wall.idle_s ? waited_s : model->wall.idle_s;
    double away_s = model->wall.total_s - model->wall.start_s - thread->lifetime_s;
    double least_s = model->wall.idle_s - (away_s > 0 ? away_s : 0);
    if (least_s < thread->idle_s)
        least_s = thread->idle_s;
    if (least_s > most_s)
        least_s = most_s;
    thread->all_wait_s = most_s - least_s > DOUBT * waited_s ? -1 : most_s;
    thread->all_wait_least_s = least_s;
    thread->all_wait_most_s = most_s;
}

/* Several pages are several runs, and what tasks that are left out waited is unknown. */
void bp_model_find_all_wait(struct bp_model *model) {
    bool known = model->wall.tree_count == 1 && model->tasks.summary.dropped == 0;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        struct bp_model_thread *thread = &model->threads[i];
        thread->all_wait_s = thread->all_wait_least_s = thread->all_wait_most_s = -1;
        if (known)
            find_all_wait(model, i);
    }
}

double bp_model_all_wait(const struct bp_model *model, bool *exact) {
    double sum_s = 0;
    *exact = true;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        if (thread->all_wait_most_s < 0)
            return -1;
        *exact &= thread->all_wait_s >= 0;
        sum_s += thread->all_wait_most_s;
    }
    return sum_s;
}
