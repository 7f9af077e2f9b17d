/* SPDX-License-Identifier: MIT
 *
 * Processes: part of tools/model/model.h, which includes it. A program that follows another by exec
 * is one of its own.
 */
#ifndef BP_TOOLS_MODEL_PROCESS_H
#define BP_TOOLS_MODEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/reader.h"
#include "tools/rules/rules.h"

/* Overhead in the program beside what was measured at its start. */
struct bp_cold {
    double native; /* of native calls: times as much */
    double python; /* of Python calls */
    double sample; /* of samples */
    double error;  /* of a cost, relative */
    double rest;   /* seconds of other own work */
};

struct bp_model_process {
    struct bp_profile *profile;
    char *path;
    uint32_t *functions; /* per function of the profile: its number in the model */
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
    double overhead_error_s;
    struct bp_cold cold;
    double wall_s;
    double idle_s; /* as of its threads */
    double category_s[BP_CATEGORIES];
    double waiting_s;
    double cpu_s; /* -1: of some thread it is unknown */
};

#endif
