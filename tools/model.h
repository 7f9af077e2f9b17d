/* SPDX-License-Identifier: MIT
 *
 * One run, put together from the profiles of its processes: what every report, export and
 * comparison is made of. All times are seconds. Two kinds of them stand side by side and are never
 * added to each other: thread-seconds (self_s, total_s, …_thread_s), and the wall split (wall_s),
 * in which the busy threads of an instant share it.
 */
#ifndef BP_TOOLS_MODEL_H
#define BP_TOOLS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/reader.h"
#include "tools/error.h"
#include "tools/model_device.h"
#include "tools/model_fold.h"
#include "tools/model_group.h"
#include "tools/model_role.h"
#include "tools/model_site.h"
#include "tools/model_task.h"
#include "tools/rules.h"

/* A function, over all threads and processes. Texts are borrowed from the profiles and rules. */
struct bp_function {
    const char *name;
    const char *library; /* file name without directory; the program's for its own code */
    const char *module;
    const char *file;
    const char *group;
    uint32_t line;
    uint32_t kind; /* enum bp_func_kind */
    enum bp_category category;
    uint64_t calls; /* ended ones, aborted included */
    uint64_t aborted;
    uint64_t in_flight;
    double self_s;
    double total_s;
    double wall_s;
    double idle_s;   /* of a wait: wall in which nobody was busy */
    double calls_s;  /* durations of its calls that ended: also those within one another */
    double min_s;    /* of a call, as the next four: estimates where calls are made from it */
    double median_s; /* within its bucket of the histogram */
    double p99_s;
    double max_s;
    double first_s;   /* longest first call of a context; 0 if unknown */
    bool by_pieces;   /* a generator: these five are of making it, not of what it did */
    bool untold;      /* they say nothing: by pieces, or no call returned */
    bool cuda;        /* a CUDA call: its self_s is transfer_s, kernel_wait_s and what CUDA took */
    bool counted;     /* run --count asked for it */
    bool gil;         /* waiting for Python's GIL */
    bool begins_work; /* what called it is not what its time is for */
    double transfer_s;
    double kernel_wait_s;
    uint32_t tasks;      /* in which it appears */
    double task_s;       /* self time in them */
    double cost_s;       /* the profiler's own, taken out of self_s */
    double total_cost_s; /* out of total_s */
    double burst_s;      /* of self_s: at most, in calls so long that they may have lost the CPU */
};

/* A calling context, over all threads: parents come before children, 0 stands above the roots. */
struct bp_context {
    uint32_t parent;
    uint32_t function;
    uint64_t calls;
    uint64_t in_flight;
    double self_s;
    double total_s;
    double wall_s;
    double idle_s;    /* as of a function */
    double blocked_s; /* of self_s: off the CPU, in no call that battprof sees */
};

struct bp_model_process {
    struct bp_profile *profile;
    char *path;
    const char *role;
    int rank;           /* of MPI, Slurm or torchrun; -1 without */
    bool live;          /* still running */
    bool killed;        /* left no end of its own */
    bool end_estimated; /* nobody saw the end */
    uint64_t end;       /* ticks */
    uint64_t end_v;
    int exit_status;      /* -1 unknown */
    int signal;           /* that killed it, 0 */
    bool continues;       /* the program before its exec is here, too */
    bool ended_by_parent; /* which sent the signal */
    uint32_t threads;
    double tick_s;  /* seconds per tick */
    double start_s; /* from the start of the run */
    double lifetime_s;
    double thread_s;
    double sum_s; /* as in bp_model_thread */
    double overhead_s;
    double wall_s;
    double idle_s; /* as of its threads */
    double category_s[BP_CATEGORIES];
    double waiting_s;
};

struct bp_model_thread {
    uint32_t process;
    const struct bp_profile_thread *source;
    double lifetime_s;
    double sum_s; /* self times and overhead: equals the lifetime */
    double overhead_s;
    double category_s[BP_CATEGORIES];
    double waiting_s;
    double io_s;
    double cuda_s; /* in CUDA calls: busy, but perhaps not on a CPU */
    double busy_s; /* not in a wait */
    double cpu_s;
    double runqueue_s; /* busy, but without a CPU: others had it */
    double wall_s;
    double idle_s;     /* wall with no busy thread that it ended */
    double own_idle_s; /* of that, known to be in its waits */
    double all_wait_s; /* of waiting_s, while no thread was busy; -1: only its bounds are known */
    double all_wait_least_s; /* these; -1: nor are they */
    double all_wait_most_s;
    double blocked_s; /* busy by what we saw, blocked by its CPU clock */
    bool has_clocks;  /* false: blocked_s is not known */
};

struct bp_coverage {
    const char *library;
    uint32_t exports;
    uint32_t hooked;
    uint32_t called;
    bool listed;        /* exports: those in the lists of cuda/, the others are left alone */
    const char *reason; /* why some are not hooked, or "" */
};

struct bp_in_flight {
    uint32_t thread; /* index in the model */
    uint32_t function;
    uint32_t depth; /* 0 is the innermost call of its thread */
    double for_s;
};

struct bp_symbols;

struct bp_model {
    const char *path;
    const char *command;
    uint64_t began_ns; /* CLOCK_REALTIME */
    int exit_status;   /* -1 unknown */
    int signal;
    bool live;
    double wall_s;
    double cpu_s;
    double thread_s;
    double overhead_s;      /* thread-seconds */
    double overhead_wall_s; /* its part of the wall */
    double idle_s;          /* wall with no busy thread */
    double
        start_s; /* wall while there was no thread: before the first, during exec, after the last */
    double unsplit_s; /* wall that the parts do not explain; negative: they are too much */
    double category_s[BP_CATEGORIES]; /* wall split; framework with idle_s and start_s */
    double category_thread_s[BP_CATEGORIES];
    double running_s; /* framework, thread-seconds; the five parts sum to it */
    double waiting_s;
    double gil_s; /* of it: for Python's GIL */
    double io_s;
    double cuda_api_s;
    double kernel_wait_s;     /* for kernels launched outside the DSL */
    double dsl_kernel_wait_s; /* for the others: part of the DSL */
    double cuda_api_wall_s;   /* the last three in the wall split */
    double kernel_wait_wall_s;
    double dsl_kernel_wait_wall_s;
    bool sampled;                       /* some process was */
    uint64_t samples;                   /* that divide times */
    bool imported;                      /* from another tool's trace */
    uint32_t threads;                   /* that ever lived */
    struct bp_model_process *processes; /* by start; sessions are apart */
    uint32_t process_count; /* a program that follows another by exec is one of its own here */
    uint32_t pid_count;     /* the same without those */
    struct bp_role *roles;  /* by first process */
    uint32_t role_count;
    struct bp_machine *machines; /* the same */
    uint32_t machine_count;
    struct bp_model_process *sessions;
    uint32_t session_count;
    struct bp_model_thread *thread_list;
    uint32_t thread_count;
    struct bp_function *functions; /* hooked ones; calls or self_s tell the used ones */
    uint32_t function_count;
    struct bp_context *contexts;
    uint32_t context_count;
    struct bp_coverage *coverage;
    uint32_t coverage_count;
    struct bp_in_flight *in_flight;
    uint32_t in_flight_count;
    struct bp_model_device *devices;
    uint32_t device_count;
    double device_wall_s; /* that their times are of: the whole run's, also without its outliers */
    const char *stand_in; /* the simulated device that was used without records, or NULL */
    struct bp_model_transfer *transfers; /* by falling exposed_s */
    uint32_t transfer_count;
    struct bp_copy_site *sites; /* of copies, by falling bytes */
    uint32_t site_count;
    struct bp_model_kernel *kernels; /* by falling device_s */
    uint32_t kernel_count;
    struct bp_group *groups; /* by falling self_s */
    uint32_t group_count;
    struct bp_part *parts; /* what functions took, exact and sampled; by falling self_s */
    uint32_t part_count;
    struct bp_context_part *context_parts; /* by context, then falling */
    uint32_t context_part_count;
    struct bp_stack *stacks; /* that were sampled */
    uint32_t stack_count;
    struct bp_symbols *symbols; /* NULL: no address was looked up */
    struct bp_advice *advice;   /* by falling saves_s */
    uint32_t advice_count;
    struct bp_model_task *tasks; /* by start */
    uint32_t task_count;
    struct bp_task_function *task_functions;
    uint32_t task_function_count;
    struct bp_task_phase *task_phases;
    uint32_t task_phase_count;
    struct bp_model_phase *phases;
    uint32_t phase_count;
    struct bp_task_summary task_summary;
    struct bp_task_wishes task_wishes;
    char **notes;
    uint32_t note_count;
    struct bp_model_work *work; /* while it is built */
};

/* A file, or all *.bp of a directory. NULL with the error set. The rules must outlive the model. */
struct bp_model *bp_model_new(const char *path, const struct bp_rules *rules,
                              struct bp_error *error);
/* The same, with tasks looked at in a way of one's own; `wishes` NULL: the usual one. */
struct bp_model *bp_model_new_with(const char *path, const struct bp_rules *rules,
                                   const struct bp_task_wishes *wishes, struct bp_error *error);
void bp_model_free(struct bp_model *model);

/* all_wait_s of all threads, or what it is at most; -1 if nothing is known. */
double bp_model_all_wait(const struct bp_model *model, bool *exact);

/* The command to be pasted into a shell; "COMMAND" if it is too long or not known so well. */
const char *bp_model_again(const struct bp_model *model);

/* Its files could not grow, and so little is in them that no figure tells anything. */
bool bp_model_is_lost(const struct bp_model *model);

/* The contents of copies were compared. */
bool bp_model_is_hashed(const struct bp_model *model);

/* The part of its self time that it took in tasks, 0 to 1. */
static inline double bp_function_in_tasks(const struct bp_function *function) {
    if (!(function->self_s > 0))
        return 0;
    return function->task_s < function->self_s ? function->task_s / function->self_s : 1;
}

/* What a call costs is measured once, when the program starts; later it was up to a third more or
 * less, on a busy machine. So much of what was taken out may have been the function's. */
static inline double bp_cost_error(double cost_s) {
    return cost_s / 3;
}

/* module.qualname of Python's functions: the name that people search for. Returns `text`. */
const char *bp_function_name(const struct bp_function *function, char *text, size_t size);

/* Of a call that ended; where it calls itself, inner calls are calls, too. */
static inline double bp_function_mean(const struct bp_function *function) {
    return function->calls ? function->calls_s / (double)function->calls : 0;
}

/* What a second of it is of the wall: less where others were busy at the same time. */
static inline double bp_function_wall_rate(const struct bp_function *function) {
    return function->self_s > function->wall_s ? function->wall_s / function->self_s : 1;
}

static inline bool bp_function_used(const struct bp_function *function) {
    return function->calls > 0 || function->in_flight > 0 || function->self_s > 0;
}

#endif
