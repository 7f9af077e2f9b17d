/* SPDX-License-Identifier: MIT
 *
 * Places where a test stops a thread while another forks (tests/core): the steps in which what a
 * child could find is half done. Nothing of this is in the library but in a test's build of it.
 */
#ifndef BP_PROFILE_STOP_H
#define BP_PROFILE_STOP_H

#include <stdint.h>

/* name; whether the thread holds the process lock there, so that no other can fork meanwhile */
#define BP_STOPS(X)                                                                                \
    X(SEGMENT_ITEM, 1)    /* a thread's item is filled in, not counted */                          \
    X(SEGMENT_COUNTED, 0) /* counted; it has no nodes */                                           \
    X(SEGMENT_ROOT, 0)    /* all is there; it is not alive */                                      \
    X(SEGMENT_ENDED, 0)   /* dead, not in the list of the dead */                                  \
    X(NODE_CHUNK, 0)      /* a chunk of nodes is not linked */                                     \
    X(NODE_FILLED, 0)     /* a node is not counted */                                              \
    X(ENTRIES_GROWN, 1)   /* half of the new entries are free */                                   \
    X(ENTRY_TAKEN, 0)     /* the free list leads to an entry in use */                             \
    X(FILE_RESERVED, 1)   /* the file has grown, and is not mapped */                              \
    X(CHUNK_FILLED, 1)    /* a chunk is filled in, not part of the file */                         \
    X(FUNCTION_FILLED, 1) /* a function is filled in, not counted */                               \
    X(CHILD, 1)           /* a forked child has not moved out */

enum bp_stop_point {
#define X(name, locked) BP_STOP_##name,
    BP_STOPS(X)
#undef X
        BP_STOP_POINTS_COUNT
};

/* In memory that parent and children share; the test library's battprof_stops points to two: the
 * second is for CHILD. */
struct bp_stops {
    uint32_t point; /* enum bp_stop_point + 1; 0: none */
    int32_t thread; /* the only one that is not to stop there */
    uint32_t reached;
    uint32_t go;
};

#ifdef BP_STOP_BUILD
void bp_stop_at(enum bp_stop_point point);
void bp_stop_unless_zero(const void *memory, uint64_t size); /* ends the process */
#    define BP_STOP(name) bp_stop_at(BP_STOP_##name)
#    define BP_STOP_UNLESS_ZERO(memory, size) bp_stop_unless_zero(memory, size)
#else
#    define BP_STOP(name) ((void)0)
#    define BP_STOP_UNLESS_ZERO(memory, size) ((void)0)
#endif

#endif
