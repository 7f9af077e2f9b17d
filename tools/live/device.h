/* SPDX-License-Identifier: MIT
 *
 * Copies and devices of a run that goes on: sums over its processes.
 */
#ifndef BP_TOOLS_LIVE_DEVICE_H
#define BP_TOOLS_LIVE_DEVICE_H

#include "tools/live/thread.h"

#define BP_LIVE_DEVICES 16

struct bp_live_copies {
    uint64_t count;
    uint64_t bytes;
};

struct bp_live_devices {
    struct bp_live_copies copies[BP_DIRECTIONS];
    double busy_s[BP_LIVE_DEVICES]; /* by CUDA's ordinal */
    uint32_t count;                 /* the highest ordinal seen, and one */
};

/* Reads the process's file into `devices`, and gives the time of its threads' CUDA calls to what
 * they waited for. */
void bp_live_devices_look(struct bp_live_devices *devices, const struct bp_live_view *view,
                          struct bp_live_thread *threads, uint32_t thread_count);

void bp_live_devices_add(struct bp_live_devices *sum, const struct bp_live_devices *more);

#endif
