/* SPDX-License-Identifier: MIT
 *
 * Time that may be the machine's and not the function's: calls that took many times what the
 * others of the same function did, and long enough to have lost the CPU. The time may have gone in
 * a callee, whose burst it is, too: this is an upper bound. Comparisons take it as doubt; nothing
 * is corrected by it.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"

/* Shorter than any time slice: interrupts stay below it. */
#define SHORTEST_BURST_S 0.0005
/* Times the median. Real durations are spread, too; what is left out here counts as the work. */
#define BURST_FACTOR 16
/* With fewer calls the usual time is unknown. */
#define LEAST_CALLS 8
/* Share of the time in which threads could run, and seconds, below which a missing CPU is no news:
 * every machine has other things to do now and then. */
#define STARVED_PART 0.1
#define STARVED_S 0.05

static double middle_of(unsigned bucket) {
    double low = (double)bp_bucket_low(bucket);
    return bucket + 1 < BP_BUCKETS ? (low + (double)bp_bucket_low(bucket + 1)) / 2 : low;
}

/* All calls of a function on the thread: one context alone may have few. */
struct usual {
    uint64_t histogram[BP_BUCKETS];
    uint64_t returned;
    double median; /* ticks; 0: too few calls */
};

static void find_median(struct usual *usual) {
    uint64_t seen = 0;
    for (unsigned i = 1; i < BP_BUCKETS && usual->returned >= LEAST_CALLS; i++) {
        seen += usual->histogram[i];
        if (2 * seen > usual->returned) {
            usual->median = middle_of(i);
            return;
        }
    }
}

/* The functions of a thread, numbered as its nodes name them first. */
struct thread_usual {
    struct usual *list;
    uint32_t *number; /* by function; 0: none */
    uint32_t count;
};

static void init_usual(struct thread_usual *all, const struct bp_profile_thread *thread,
                       uint32_t func_count) {
    *all = (struct thread_usual){.number = bp_alloc(func_count, sizeof(*all->number))};
    for (uint32_t i = 1; i < thread->node_count; i++)
        if (!all->number[thread->nodes[i].func])
            all->number[thread->nodes[i].func] = ++all->count;
    all->list = bp_alloc(all->count + 1, sizeof(*all->list));
    for (uint32_t i = 1; i < thread->node_count; i++) {
        const struct bp_node *node = &thread->nodes[i];
        struct usual *usual = &all->list[all->number[node->func]];
        for (unsigned k = 1; k < BP_BUCKETS; k++) {
            usual->histogram[k] += node->histogram[k];
            usual->returned += node->histogram[k];
        }
    }
    for (uint32_t i = 1; i <= all->count; i++)
        find_median(&all->list[i]);
}

static double excess_of(const struct bp_node *node, double median, double tick_s) {
    double sum = 0;
    for (unsigned i = 1; i < BP_BUCKETS && median > 0; i++) {
        double middle = middle_of(i);
        if (node->histogram[i] && middle > BURST_FACTOR * median &&
            middle * tick_s > SHORTEST_BURST_S)
            sum += (double)node->histogram[i] * (middle - median);
    }
    return sum;
}

double *bp_model_bursts(const struct bp_profile_thread *thread, uint32_t func_count,
                        double tick_s) {
    double *burst_s = bp_alloc(thread->node_count, sizeof(*burst_s));
    struct thread_usual usual;
    init_usual(&usual, thread, func_count);
    for (uint32_t i = 1; i < thread->node_count; i++) {
        const struct bp_node *node = &thread->nodes[i];
        double median = usual.list[usual.number[node->func]].median;
        burst_s[i] = excess_of(node, median, tick_s) * tick_s;
    }
    free(usual.list);
    free(usual.number);
    return burst_s;
}

double bp_model_starved_s(const struct bp_model *model, double *could_run_s) {
    double runqueue_s = 0;
    double all_s = 0;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        all_s += thread->has_clocks ? thread->cpu_s + thread->runqueue_s : 0;
        runqueue_s += thread->has_clocks ? thread->runqueue_s : 0;
    }
    if (could_run_s)
        *could_run_s = all_s;
    return runqueue_s >= STARVED_PART * all_s && runqueue_s >= STARVED_S ? runqueue_s : 0;
}
