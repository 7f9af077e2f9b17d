/* SPDX-License-Identifier: MIT
 *
 * The command line of `battprof run`, as it was given.
 */
#ifndef BP_TOOLS_RUN_SETTINGS_H
#define BP_TOOLS_RUN_SETTINGS_H

#include <stdbool.h>

#include "tools/base/options.h"

struct bp_run_settings {
    const char *html; /* file of a page; NULL: none */
    const char *output;
    struct bp_words dsl;
    struct bp_words hooks;
    bool no_wait;
    bool paused; /* record nothing before `battprof start` */
    struct bp_words python;
    bool python_all;
    struct bp_words count;
    struct bp_words lines;
    struct bp_words tasks;
    struct bp_words phases;
    struct bp_words samples;
    struct bp_words generators;
    bool progress;
    unsigned rate;
    bool no_sampling;
    bool exact;
    const char *device;
    const char *cuda;
    bool check_transfers;
    const char *rules;
    bool brief;
    bool quiet;
    bool keep_going; /* unprofiled, if profiling is impossible */
    unsigned repeat; /* 0: once, and no series */
};

#endif
