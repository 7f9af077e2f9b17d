/* SPDX-License-Identifier: MIT
 *
 * What the profile file says about tasks, since format 1.2; part of profile/format.h, which
 * includes it. A task is one call of a function that rules name, or a range that the program
 * announces; so is a phase that the program announces. A phase that rules name by its function has
 * its name there (bp_func.phase), and its time is that of the nodes below the function's; its calls
 * are items too, with the flag PHASE and a function, without details: when they began and ended.
 *
 * Tasks are of the thread that runs them. They are written when they begin, so one that was running
 * when the process was killed is in the file.
 */
#ifndef BP_PROFILE_FORMAT_TASK_H
#define BP_PROFILE_FORMAT_TASK_H

#include <stdint.h>

/* Kept singly per process, tasks and phases each; the rest is folded. */
#define BP_TASKS_KEPT 16384
/* Calls that generate code, kept with what they were given; later ones are not recorded. */
#define BP_INPUTS_KEPT 4096
/* Items of bp_task_node per process: 64 MB. Tasks that find no room have no details. */
#define BP_TASK_NODES_KEPT (4u << 20)
/* Names under which tasks are folded. */
#define BP_TASK_FOLDS_KEPT 1024

#define BP_NO_TASK UINT32_MAX
#define BP_NO_FUNC UINT32_MAX

/* Task flags. */
#define BP_TASK_PHASE 0x1u
#define BP_TASK_FAILED                                                                             \
    0x2u                  /* left by an exception, longjmp, thread exit; or said to have failed    \
                           */
#define BP_TASK_NVTX 0x4u /* an NVTX range */
#define BP_TASK_API 0x8u  /* announced through include/battprof.h */
#define BP_TASK_UNFINISHED 0x10u /* it was running when the process ended or was last seen */
#define BP_TASK_DETAILED                                                                           \
    0x20u /* its nodes are in the file, and `wait`, `io` and `samples` of them */
#define BP_TASK_BASED                                                                              \
    0x80u /* while it runs: the thread's own chunks of task nodes have what it began with */
#define BP_TASK_ELSEWHERE 0x40u /* a range that another thread ended: no details */
/* With PHASE, but none to be shown: a call that generates code, and `id` is what from. */
#define BP_TASK_INPUT 0x100u

struct bp_task {
    uint32_t thread; /* index in BP_THREADS */
    uint32_t life;   /* bp_thread.lives when it began: which thread of the segment */
    uint32_t node;   /* of its call; of a range that of the call in which it began */
    uint32_t func;   /* whose call it is; BP_NO_FUNC for a range */
    uint32_t id;     /* string: the argument that tells tasks apart, or the range's text; 0: none */
    uint32_t name;   /* string: of a range its name; 0 for a call: its function has one */
    uint32_t flags;
    uint32_t parent; /* index of the innermost task or phase around it, BP_NO_TASK without */
    uint64_t start;
    uint64_t end;  /* 0 while it runs */
    uint64_t part; /* of the wall, as bp_thread.v: what its own thread had of it meanwhile */
    uint64_t wait; /* ticks of its own thread in blocking calls, of them on files */
    uint64_t io;
    uint64_t cpu_ns;
    uint64_t samples; /* calls of functions that are a sample, and announced samples */
    /* CUDA calls of its own thread that have met their device records, as in bp_split. */
    uint64_t cuda;
    uint64_t transfer;
    uint64_t kernel_wait;
    uint32_t first_detail; /* bp_task_node, in the order of node */
    uint32_t detail_count;
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct bp_task) == 136, "task");

/* What a node of the task's thread grew by while the task ran: calls that ended, and self time,
 * that of calls which stayed open too. What did not grow is left out. The sum of `self` is end -
 * start. */
struct bp_task_node {
    uint32_t node;
    uint32_t calls;
    uint64_t self;
    uint32_t untimed; /* of the calls: counted only; 0 before format 1.11 */
    uint32_t reserved;
};
_Static_assert(sizeof(struct bp_task_node) == 24, "task node");

/* Tasks that came after the first BP_TASKS_KEPT, by function, name and flags. */
struct bp_task_fold {
    uint32_t func;
    uint32_t name;  /* that of a range; 0 for calls, and for ranges beyond BP_TASK_FOLDS_KEPT */
    uint32_t flags; /* PHASE, NVTX, API */
    uint32_t reserved;
    uint64_t count;
    uint64_t failed;
    uint64_t total; /* ticks */
    uint64_t min;
    uint64_t max;
    uint64_t cpu_ns;
    uint64_t samples;
    uint64_t part;
    uint64_t spare[2];
    uint64_t histogram[96]; /* of durations, as in bp_node; no `last` here */
};
_Static_assert(sizeof(struct bp_task_fold) == 864, "task fold");

/* A variable of the environment that says which part of a larger run the process is (MPI, Slurm,
 * torchrun), and BATTPROF_TASKS, the rules for tasks. */
struct bp_variable {
    uint32_t name; /* strings */
    uint32_t value;
};
_Static_assert(sizeof(struct bp_variable) == 8, "variable");

#endif
