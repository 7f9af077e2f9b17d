/* SPDX-License-Identifier: MIT
 *
 * The steps in which a model is built, one file each, in this order:
 *
 *     model_load.c      which files belong to the run
 *     model_process.c   clock rates, ends of processes, exit status
 *     model_function.c  functions by name, coverage
 *     model_thread.c    node times to functions and contexts; open calls; own cost
 *     model_call.c      what a call took: mean and quantiles
 *     model_burst.c     calls that lost the CPU
 *     model_device.c    transfers, kernels, and what a CUDA call's time was
 *     model_wall.c      the wall split and its check
 *     model_idle.c      the wall in which nobody was busy
 *     model_task.c      tasks and phases; the list is in model_task_internal.h
 *     model_group.c     what the time was for and whose it was, with model_pool.c (time to be
 *                       divided), model_sample.c, model_path.c, model_stack.c (by what) and
 *                       model_part.c (into what)
 *     model_role.c      what processes were for; machines
 *     advise.c          what to change first: a table of rules
 *     model_note.c      what the user should know
 */
#ifndef BP_TOOLS_MODEL_INTERNAL_H
#define BP_TOOLS_MODEL_INTERNAL_H

#include "tools/model.h"
#include "tools/table.h"

/* What a function's quantiles are made of; ticks are those of the model's tick_s. */
struct bp_function_work {
    uint64_t histogram[BP_BUCKETS];
    uint64_t returned;
    double inside_s;    /* own cost within its calls, summed over them */
    double recorded_s;  /* time in which it was open, without that cost */
    double total_s;     /* the same without any own cost */
    double durations_s; /* of all calls that ended, without `inside` */
    double firsts_s;    /* first calls of its contexts, summed */
    uint32_t coverage;  /* index + 1 of its library */
};

/* Own cost of one call in ticks: within its time, and outside, in its caller's. */
struct bp_call_cost {
    double inside;
    double outside;
};

/* Parts of a CUDA call's self time; the rest is what CUDA took. */
struct bp_node_split {
    double transfer_s;
    double wait_s[BP_CATEGORIES]; /* by the category that launched the kernel */
};

struct bp_thread_work {
    struct bp_node_split *split; /* per node; NULL if none of its nodes has one */
    double *self_s;              /* per node, own cost subtracted */
    double *task_self_s;         /* per node: what all tasks would have of it; NULL without any */
    uint32_t *function;          /* per node */
    uint32_t *context;           /* per node */
    double idle_rate;            /* of its waits' time that was wall with no busy thread */
    double part_s;               /* of the wall, as recorded */
};

/* A wall page and the stretch of time that it divides. */
struct bp_wall_tree {
    const struct bp_model_process *owner;
    uint64_t start;
    uint64_t end;
    bool has_session;
};

struct bp_model_work {
    const struct bp_rules *rules;
    struct bp_table function_table;
    struct bp_table context_table;
    struct bp_table coverage_table;
    struct bp_table transfer_table;
    struct bp_table kernel_table;
    struct bp_function_work *functions;
    struct bp_thread_work *threads;
    struct bp_wall_tree *trees;
    uint32_t tree_count;
    double tick_s; /* of histograms */
    char *key;
    size_t key_size;
};

void bp_model_note(struct bp_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

int bp_model_load(struct bp_model *model, struct bp_error *error);
void bp_model_settle_processes(struct bp_model *model);

/* Function numbers of a process's functions: a new array. */
uint32_t *bp_model_map_functions(struct bp_model *model, const struct bp_model_process *process);
/* The number of a function, which is made if it is new. Its texts must outlive the model. */
uint32_t bp_model_put_function(struct bp_model *model, const struct bp_function *described,
                               uint32_t flags);
void bp_model_finish_functions(struct bp_model *model);

/* Of a node, in ticks. */
struct bp_node_times {
    double inside;   /* own cost of one call within its time */
    double recorded; /* in which its function was open */
    double total;    /* the same, own cost taken out */
};

void bp_model_count_calls(struct bp_model *model, uint32_t function, const struct bp_node *node,
                          const struct bp_node_times *times, double tick_s);
void bp_model_finish_calls(struct bp_model *model, uint32_t function);

struct bp_call_cost bp_model_call_cost(const struct bp_profile *profile, uint32_t func);
void bp_model_account_process(struct bp_model *model, uint32_t process);

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
void bp_model_finish_devices(struct bp_model *model);
/* After the wall is known. */
void bp_model_settle_devices(struct bp_model *model);
void bp_model_advise(struct bp_model *model);
void bp_model_add_tasks(struct bp_model *model);

/* model_site.c */
void bp_model_find_sites(struct bp_model *model);
void bp_model_free_sites(struct bp_model *model);
void bp_model_make_groups(struct bp_model *model);
void bp_model_free_groups(struct bp_model *model);

void bp_model_find_trees(struct bp_model *model);
void bp_model_split_wall(struct bp_model *model);
void bp_model_share_idle(struct bp_model *model);
void bp_model_find_all_wait(struct bp_model *model);
/* Of a node's self time, what was wall with no busy thread and is known to be. */
double bp_model_node_idle(const struct bp_model *model, uint32_t thread, uint32_t node,
                          double self_s);

void bp_model_find_roles(struct bp_model *model);

void bp_model_note_lost(struct bp_model *model);
void bp_model_note_patterns(struct bp_model *model);

/* The value of a variable that a process of the run was given; "" without. */
const char *bp_model_variable(const struct bp_model *model, const char *name);

void bp_model_note_all(struct bp_model *model);
void bp_model_note_end(struct bp_model *model, const struct bp_model_process *process);
void bp_model_note_untimed(struct bp_model *model, const struct bp_model_process *process);
void bp_model_note_samples(struct bp_model *model);
/* Returns true if it is a Python program, and said that it has no DSL. */
bool bp_model_note_python(struct bp_model *model);

#endif
