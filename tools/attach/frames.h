/* SPDX-License-Identifier: MIT
 *
 * The frames of a stopped thread of another process, by the call frame information of its files
 * (libdw). Where that ends so does the walk: a frame is never guessed.
 */
#ifndef BP_TOOLS_ATTACH_FRAMES_H
#define BP_TOOLS_ATTACH_FRAMES_H

#include "tools/attach/arch.h"
#include "tools/attach/objects.h"

#define BP_MOST_FRAMES 512

struct bp_attach_frame {
    uint64_t pc;
    bool exact;                            /* the instruction itself, not where a call returns to */
    bool trampoline;                       /* by which a signal handler returns */
    const struct bp_attach_object *object; /* NULL: in no file */
};

struct bp_frames {
    struct bp_attach_frame rows[BP_MOST_FRAMES];
    uint32_t count;
    bool whole; /* the last one is where the thread began */
};

/* Reads all call frame information that may be needed, before the thread is stopped. */
void bp_frames_prepare(const struct bp_objects *objects);
void bp_frames_forget(const struct bp_objects *objects);

void bp_frames_walk(struct bp_frames *frames, const struct bp_objects *objects,
                    const struct user_regs_struct *registers);

#endif
