/* SPDX-License-Identifier: MIT
 *
 * The part of profile/format.h, which includes it, that all processes of a run share: the wall page
 * of their tree (BP_TREE) and the marks beside it (BP_MARKS). Under `battprof run` both are
 * in run.bp; with LD_PRELOAD alone the first process has them in its own file.
 */
#ifndef BP_PROFILE_FORMAT_RUN_H
#define BP_PROFILE_FORMAT_RUN_H

#include <stdint.h>

enum bp_mark_kind {
    BP_MARK_NONE = 0, /* not filled in, or not yet */
    BP_MARK_TEXT = 1,
    BP_MARK_START = 2, /* the process is recorded from then on */
    BP_MARK_STOP = 3,
};

/* Something happened. Marks of a run are beside its wall page, with room for so many. Each process
 * and the command write there: whoever counts `bp_chunk.links[1]` up has that place and fills in
 * `kind` last. What the count has beyond the room is lost. */
#define BP_MARKS_KEPT 511
struct bp_run_mark {
    uint64_t ticks;
    int32_t pid; /* 0: of all processes */
    uint32_t kind;
    char text[112];
};
_Static_assert(sizeof(struct bp_run_mark) == 128, "mark");

/* The wall page of a process tree. `v` is the integral of dt/n over the time with n > 0 busy
 * threads. The first 16 bytes are replaced as one by compare-exchange, so that a process killed at
 * any moment leaves them consistent. Units: `time` counts 16 ticks from `start` (48 bits: 17 days
 * at 3 GHz); `v` counts 1/65536 of that. The last time there is stops it: processes may go on when
 * the run is over. */
#define BP_TREE_SLOTS 1016
#define BP_TREE_TICK_SHIFT 4
#define BP_TREE_V_SHIFT 12 /* v >> 12 is in ticks */

struct bp_tree_word {
    uint64_t v;
    uint64_t time_n; /* time << 16 | n */
} __attribute__((aligned(16)));

struct bp_tree_slot {
    int32_t pid;   /* 0: free */
    uint32_t busy; /* its threads that n counts */
};

struct bp_tree {
    struct bp_tree_word word;
    uint64_t start;
    uint64_t first_join; /* ticks when the first thread joined; 0 before */
    uint32_t clock;
    uint32_t processes;   /* that ever joined */
    uint64_t closed;      /* ticks when the run was over; 0 before. Then v stands still */
    uint64_t closed_idle; /* ticks without a busy thread before that */
    struct bp_tree_slot slots[BP_TREE_SLOTS];
};
_Static_assert(sizeof(struct bp_tree) == 64 + 8 * BP_TREE_SLOTS, "tree");

#endif
