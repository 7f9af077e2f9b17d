/* SPDX-License-Identifier: MIT
 *
 * A thread of the Firefox Profiler's format while it is collected, and its columns.
 */
#ifndef BP_TOOLS_EXPORT_FIREFOX_H
#define BP_TOOLS_EXPORT_FIREFOX_H

#include "tools/export/frame.h"
#include "tools/export/slice.h"
#include "tools/export/who.h"

struct bp_firefox_stack {
    uint32_t prefix; /* BP_NO_STACK: it is a root */
    uint32_t frame;  /* of the thread */
    uint32_t category;
    uint64_t weight_ns;
};

struct bp_firefox_thread {
    const struct bp_export *export;
    struct bp_who who;
    uint32_t number;  /* in the model; BP_ALL_THREADS: what is no thread's */
    uint32_t *frames; /* of the run, in the thread's order */
    uint32_t frame_count;
    uint32_t *locals; /* per frame of the run: its number here, + 1 */
    struct bp_firefox_stack *stacks;
    uint32_t stack_count;
    uint32_t *path; /* stacks of the row that is visited and of its callers */
};

/* firefox_thread.c */
void bp_firefox_write_thread(const struct bp_firefox_thread *thread, const struct bp_slices *slices,
                             FILE *out);

#endif
