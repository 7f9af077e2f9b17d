/* SPDX-License-Identifier: MIT
 *
 * Functions, their calling contexts and the libraries that they are of: part of
 * tools/model/model.h, which includes it.
 */
#ifndef BP_TOOLS_MODEL_FUNCTION_H
#define BP_TOOLS_MODEL_FUNCTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/model/owner/owner.h"
#include "tools/rules/rules.h"

#define BP_NO_FUNCTION UINT32_MAX

/* A function, over all threads and processes. Texts are borrowed from the profiles and rules. */
struct bp_function {
    const char *name;      /* of C++ with its arguments */
    const char *full_name; /* module.qualname of Python's, C++ without arguments: what people
                              search for */
    const char *label;     /* the same, with the place of a lambda; "own code of run_batt" */
    const char *library;   /* file name without directory; the program's for its own code */
    const char *path;      /* of the library; "" if unknown */
    const char *module;
    const char *file;
    const char *group;
    uint32_t line;
    uint32_t kind; /* enum bp_func_kind */
    enum bp_category category;
    enum bp_owner owner;
    uint64_t calls; /* ended ones, aborted included */
    uint64_t aborted;
    uint64_t in_flight;
    double self_s;
    double total_s;
    double wall_s;
    double cpu_s;    /* of self_s, as samples found it; -1: unknown */
    double idle_s;   /* of a wait: wall in which nobody was busy */
    double calls_s;  /* durations of its calls that ended: also those within one another */
    double min_s;    /* of a call, as the next four: estimates where calls are made from it */
    double median_s; /* within its bucket of the histogram */
    double p99_s;
    double max_s;
    double firsts_s;  /* first calls of its contexts, summed */
    double first_s;   /* longest first call of a context; 0 if unknown */
    bool by_pieces;   /* a generator: these five are of making it, not of what it did */
    bool untold;      /* they say nothing: by pieces, or no call returned */
    bool cuda;        /* a CUDA call: its self_s is transfer_s, kernel_wait_s and what CUDA took */
    bool counted;     /* run --count asked for it */
    bool lines;       /* run --lines did */
    bool gil;         /* waiting for Python's GIL */
    bool on_stacks;   /* a sampled stack has it */
    bool begins_work; /* what called it is not what its time is for */
    bool script;      /* of the program's own script, or of a notebook's cell */
    double transfer_s;
    double kernel_wait_s;
    uint32_t tasks;          /* in which it appears */
    double task_s;           /* self time in them */
    double overhead_s;       /* taken out of self_s */
    double total_overhead_s; /* taken out of total_s */
    uint64_t untimed;        /* of its calls: counted only, what they took is an estimate */
    uint64_t sampled;        /* calls that were timed for them */
    double untimed_inside_s; /* overhead in those, as much as if all had been timed */
    double untimed_variance; /* of the estimate, by chance; s squared */
    double untimed_skew;     /* sum over its contexts: variance times one of the longest calls */
    double burst_s; /* of self_s: at most, in calls so long that they may have lost the CPU */
};

/* A calling context, over all threads: parents come before children, 0 stands above the roots. */
struct bp_context {
    uint32_t parent;
    uint32_t function;
    uint64_t calls;
    uint64_t in_flight;
    double self_s;
    double total_s; /* with all contexts below it: inner calls of a recursion are in the outer's */
    double wall_s;
    double idle_s;    /* as of a function */
    double blocked_s; /* of self_s: off the CPU, in no call that battprof sees */
};

struct bp_coverage {
    const char *library;
    uint32_t exports;
    uint32_t hooked;
    uint32_t called;
    bool listed;        /* exports: those in the lists of cuda/, the others are left alone */
    const char *reason; /* why some are not hooked, or "" */
};

/* The part of its self time that it took in tasks, 0 to 1. */
static inline double bp_function_in_tasks(const struct bp_function *function) {
    if (!(function->self_s > 0))
        return 0;
    return function->task_s < function->self_s ? function->task_s / function->self_s : 1;
}

/* What a call costs is measured once, when the program starts; later it was up to a third more or
 * less, on a busy machine. So much of what was taken out may have been the function's. */
static inline double bp_overhead_error(double overhead_s) {
    return overhead_s / 3;
}

/* What calls that were only counted took may be off by so much, in 95 of 100 cases. Where a few
 * long calls have much of the time, too few of them were timed more often than too many: three
 * more, as what was not met in n samples is less than 3 / n of all calls. */
#define BP_LONGEST_MORE 3.0

static inline double bp_function_untimed_error(const struct bp_function *function) {
    double variance = function->untimed_variance;
    return variance > 0
               ? 1.96 * sqrt(variance) + BP_LONGEST_MORE * function->untimed_skew / variance
               : 0;
}

/* By how much self_s may be off, in 95 of 100 cases: by the overhead, and by chance where calls
 * were not timed. */
static inline double bp_function_self_error(const struct bp_function *function) {
    return hypot(bp_overhead_error(function->overhead_s + function->untimed_inside_s),
                 bp_function_untimed_error(function));
}

/* By how much total_s may be. */
static inline double bp_function_total_error(const struct bp_function *function) {
    return hypot(bp_overhead_error(function->total_overhead_s + function->untimed_inside_s),
                 bp_function_untimed_error(function));
}

/* For sentences and comparisons: "own code of run_batt", or the full name. */
static inline const char *bp_function_label(const struct bp_function *function) {
    return function->kind == BP_FUNC_ROOT ? function->label : function->full_name;
}

/* Where one program is meant: "own code". */
static inline const char *bp_function_part_label(const struct bp_function *function) {
    return function->kind == BP_FUNC_ROOT ? "own code" : function->label;
}

/* As a frame of a stack, where a program's own code is its outermost caller: "run_batt". */
static inline const char *bp_function_frame(const struct bp_function *function) {
    return function->kind == BP_FUNC_ROOT ? function->library : function->label;
}

/* Mean time of a call that ended; where it calls itself, inner calls are calls, too. */
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
