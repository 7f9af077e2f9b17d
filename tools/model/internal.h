/* SPDX-License-Identifier: MIT
 *
 * The steps in which a model is built, one file each, in this order:
 *
 *     load.c              which files belong to the run
 *     process.c           clock rates, ends of processes, exit status
 *     function.c          functions by name, coverage
 *     thread.c            node times to functions and contexts; open calls; overhead
 *     overhead.c          what a call cost, and what calls took that were only counted
 *     recursion.c         functions within themselves
 *     line/exact_line.c   lines that were counted
 *     call.c              what a call took: mean and quantiles
 *     burst.c             calls that lost the CPU
 *     device.c            transfers, kernels, and what a CUDA call's time was
 *     wall.c              the wall split and its check
 *     idle.c              the wall in which nobody was busy
 *     task/               tasks and phases; the list is in task/internal.h
 *     group.c             what the time was for and whose it was, with pool.c (time to be
 *                         divided), sample.c, path.c, stack.c (by what), part.c (into what)
 *     line/               the same by line: line.c, sum.c, work.c, spot.c
 *     site.c              where copies come from
 *     role.c              what processes were for; machines
 *
 * Advice and notes follow from the finished model: tools/analyze/analysis.h.
 */
#ifndef BP_TOOLS_MODEL_INTERNAL_H
#define BP_TOOLS_MODEL_INTERNAL_H

#include "tools/model/model.h"
#include "tools/model/work.h"

int bp_model_load(struct bp_model *model, struct bp_error *error);
void bp_model_settle_processes(struct bp_model *model);

/* load.c: the rules for this run: those of a file that was given, or those that it was made with.
 */
void bp_model_choose_rules(struct bp_model *model, const struct bp_rules *given);

/* The numbers of the functions of all processes. */
void bp_model_map_functions(struct bp_model *model);
/* The number of a function, which is made if it is new. Its texts must outlive the model. */
uint32_t bp_model_put_function(struct bp_model *model, const struct bp_function *described,
                               uint32_t flags);
void bp_model_finish_functions(struct bp_model *model);
void bp_model_free_functions(struct bp_model *model);

/* The times of a node, in ticks. */
struct bp_node_times {
    double inside;   /* overhead of one timed call within its time */
    double moved;    /* what its calls took that were only counted */
    double recorded; /* in which its function was open */
    double total;    /* that time, overhead taken out */
};

void bp_model_count_calls(struct bp_model *model, uint32_t function, const struct bp_node *node,
                          const struct bp_node_times *times, double tick_s);
void bp_model_finish_calls(struct bp_model *model, uint32_t function);

/* overhead.c: how much more calls cost in the program than was measured; as measured, as it
 * was, that of one in bp_node.passed; what the sum may be off by, of calls and of samples. */
void bp_model_find_cold(struct bp_model_process *process);
struct bp_call_overhead bp_model_measured_overhead(const struct bp_profile *profile, uint32_t func);
struct bp_call_overhead bp_model_call_overhead(const struct bp_model_process *process,
                                               uint32_t func);
/* Calls that were only counted, in ticks: what one of the node's took, what one cost its caller;
 * and their part of the function's errors. */
double bp_model_untimed_mean(const struct bp_model_process *process, const struct bp_node *node);
double bp_model_untimed_overhead(const struct bp_model_process *process, const struct bp_node *node,
                                 double untimed, double sampled);
void bp_model_add_untimed(struct bp_model *model, const struct bp_model_process *process,
                          uint32_t function, const struct bp_node *node);

double bp_model_passed_overhead(const struct bp_model_process *process);
double bp_model_overhead_error(const struct bp_model_process *process, double calls_s,
                               double samples_s);
void bp_model_account_process(struct bp_model *model, uint32_t process);

/* pause.c: brings the threads of a process to its end, as if each had taken notice of all pauses.
 * Before they are accounted. */
void bp_model_settle_pauses(struct bp_model_process *process);
void bp_model_find_pauses(struct bp_model *model);

/* By how much tree.v grew for a thread in pauses. */
uint64_t bp_model_paused_v(const struct bp_header *header, const struct bp_thread *info, bool busy,
                           uint64_t end_v);
uint64_t bp_model_paused_idle(const struct bp_model *model, uint64_t from, uint64_t to);

/* Per node of the thread, how much of its time may be the machine's: a new array. */
double *bp_model_bursts(const struct bp_profile_thread *thread, uint32_t func_count, double tick_s);

/* Per node of the thread: a new array, or NULL. */
struct bp_node_split *bp_model_node_splits(struct bp_model *model,
                                           const struct bp_model_process *process,
                                           const struct bp_profile_thread *thread,
                                           const uint32_t *map);
/* How `time`, a node's self time or its part of the wall, divides. */
struct bp_node_split bp_model_divide(const struct bp_thread_work *work, uint32_t node, double time);
void bp_model_add_devices(struct bp_model *model, const struct bp_model_process *process,
                          const uint32_t *map);
void bp_model_add_exact_lines(struct bp_model *model, const struct bp_model_process *process,
                              const uint32_t *map);
void bp_model_finish_exact_lines(struct bp_model *model);
void bp_model_finish_devices(struct bp_model *model);
/* After the wall is known. */
void bp_model_settle_devices(struct bp_model *model);
void bp_model_add_tasks(struct bp_model *model);

/* site.c */
void bp_model_find_sites(struct bp_model *model);
void bp_model_free_sites(struct bp_model *model);
void bp_model_make_groups(struct bp_model *model);
void bp_model_free_groups(struct bp_model *model);
/* line/sum.c */
void bp_model_free_lines(struct bp_model *model);

/* recursion.c: `self` and `total` per node, as recorded. */
void bp_model_find_recursion(struct bp_thread_work *work, const struct bp_profile_thread *source,
                             const double *self, const double *total);
/* Per node whether it is within another one of its function: functions that share a name may call
 * one another, and the total of all of them is that of the outermost. A new array. */
bool *bp_model_find_nested(const struct bp_thread_work *work,
                           const struct bp_profile_thread *source, uint32_t function_count);
/* `value` per node becomes the sum over the time in which the node's function was open. */
void bp_model_sum_open(const struct bp_thread_work *work, const struct bp_profile_thread *source,
                       double *value);
void bp_model_sum_contexts(struct bp_model *model);

void bp_model_find_trees(struct bp_model *model);
void bp_model_split_wall(struct bp_model *model);
void bp_model_share_idle(struct bp_model *model);
void bp_model_find_all_wait(struct bp_model *model);
/* The part of a node's self time that is known to be wall with no busy thread. */
double bp_model_node_idle(const struct bp_model *model, uint32_t thread, uint32_t node,
                          double self_s);

void bp_model_find_roles(struct bp_model *model);

#endif
