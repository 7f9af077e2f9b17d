/* SPDX-License-Identifier: MIT
 *
 * What run it was and how much of it could be read: part of tools/model/model.h, which includes it.
 */
#ifndef BP_TOOLS_MODEL_RUN_H
#define BP_TOOLS_MODEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/format.h"

/* A file of the run that could not be read. */
struct bp_left_out {
    char *name;
    char *reason;
};

struct bp_run {
    const char *path;
    const char *command;
    uint64_t began_ns; /* CLOCK_REALTIME */
    int exit_status;   /* -1 unknown */
    int signal;
    bool live;
    bool imported;      /* from another tool's trace */
    bool clock_assumed; /* the rate of the clock was not recorded */
    double tick_s;      /* seconds per tick of what is summed over processes, such as histograms */
    struct bp_left_out *left_out;
    uint32_t left_out_count;
};

struct bp_model;

/* The command to be pasted into a shell; "COMMAND" if it is too long or not known so well. */
const char *bp_model_again(const struct bp_model *model);
/* The command however long it is, for a line of its own. */
const char *bp_model_whole_command(const struct bp_model *model);

/* NULL; or a process whose file could not grow, where so little of the run is known that no figure
 * tells anything. */
const struct bp_header *bp_model_lost(const struct bp_model *model);

/* The value of a variable that a process of the run was given; "" without. */
const char *bp_model_variable(const struct bp_model *model, const char *name);

#endif
