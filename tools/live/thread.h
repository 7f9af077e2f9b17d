/* SPDX-License-Identifier: MIT
 *
 * One thread of a run that goes on: what its nodes have grown by since the last look, and the calls
 * that are open. A thread does not stop for a look. What is read while it moves on is checked by
 * the one sum that always holds, self times = lifetime, and read again if that is off.
 */
#ifndef BP_TOOLS_LIVE_THREAD_H
#define BP_TOOLS_LIVE_THREAD_H

#include "tools/live/function.h"

#define BP_LIVE_CALLS 16 /* open calls of a thread that are kept for showing */

struct bp_live_call {
    uint32_t function; /* row */
    double age_s;
};

/* A calling context as it was last seen. */
struct bp_live_node {
    uint64_t self; /* ticks */
    uint64_t untimed;
    uint64_t calls;
    uint32_t function; /* row */
    uint32_t parent;
};

struct bp_live_times {
    double category_s[BP_CATEGORIES]; /* busy time */
    double waiting_s;
    double wall_s;   /* its part of the wall */
    double paused_s; /* another part of it, while recording was paused */
};

struct bp_live_thread {
    uint32_t slot;
    int32_t tid;
    bool alive;
    char name[16];
    struct bp_live_node *nodes;
    uint32_t node_count;
    struct bp_live_times ended;               /* of calls that have ended */
    struct bp_live_times now;                 /* with the open ones */
    struct bp_live_times before;              /* in the look before */
    struct bp_live_call calls[BP_LIVE_CALLS]; /* innermost first, without the root */
    uint32_t call_count;
    uint32_t depth; /* of open calls, also of those not kept */
    double cpu_s;   /* between the last two readings of its clocks; < 0: unknown */
    double ready_s; /* likewise: ready to run, without a CPU */
    uint64_t clocks[2];
    uint64_t clocks_ns; /* when they were read; 0: never */
};

/* What the look of a process knows, for its threads. */
struct bp_live_view {
    const struct bp_live_file *file;
    struct bp_live_functions *functions;
    const uint32_t *map; /* the file's functions to rows */
    uint32_t map_count;
    uint32_t clock;
    uint64_t end; /* ticks when it ended; 0: it runs, and the clock says */
    bool stopped; /* when it ended is unknown: open calls have no more time */
    double tick_s;
    const struct bp_tree *tree; /* NULL: unknown */
};

void bp_live_thread_look(struct bp_live_thread *thread, const struct bp_live_view *view,
                         const struct bp_thread *source);

/* Time of the wall, s, in which the process was paused and nobody was busy. */
double bp_live_paused_idle(const struct bp_live_view *view);

/* What it did between the last two looks. */
struct bp_live_times bp_live_thread_interval(const struct bp_live_thread *thread);
double bp_live_times_busy(const struct bp_live_times *times);

/* Ticks of its process's clock, now or at its end. */
uint64_t bp_live_view_now(const struct bp_live_view *view);

#endif
