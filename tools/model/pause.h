/* SPDX-License-Identifier: MIT
 *
 * Pauses of the recording, and marks: part of tools/model/model.h, which includes it.
 */
#ifndef BP_TOOLS_MODEL_PAUSE_H
#define BP_TOOLS_MODEL_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/format.h"

struct bp_model_mark {
    double at_s; /* from the start of the run */
    int32_t pid; /* 0: of the whole run */
    enum bp_mark_kind kind;
    const char *text;
};

struct bp_pauses {
    double wall_s;   /* of the wall split */
    double thread_s; /* thread-seconds */
    uint64_t count;
    uint32_t paused;             /* processes that are paused, or ended so */
    uint32_t recorded;           /* processes of which something was recorded */
    uint32_t processes;          /* that were paused at some time */
    struct bp_model_mark *marks; /* by time */
    uint32_t mark_count;
    uint64_t marks_lost;
};

#endif
