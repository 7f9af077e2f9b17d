/* SPDX-License-Identifier: MIT
 *
 * Copies by calls (target, source, bytes, ...) with the direction in the fourth argument or in the
 * function's name, which return 0 if all is well. One whose direction, context and call path are
 * those of one before takes no more than a call of any function and some additions: the stub keeps
 * what the arguments tell in the entry, and here it is counted where its source says. All others
 * take the slow way, and are told to their source.
 */
#ifndef BP_INTERPOSE_COPY_H
#define BP_INTERPOSE_COPY_H

#include "interpose/sample/trail.h"
#include "interpose/source.h"

/* bp_entry.source of such a call: the kind of its stub, the direction (1 to 3) and the bytes. A
 * copy of more bytes than fit takes the slow way. */
#define BP_COPY_SHIFT 32
#define BP_COPY_KINDS 3
#define BP_COPY_BITS 29 /* of the bytes */

/* What stub.S keeps on the stack while such a call is closed: the caller's registers and the
 * result. It ends where the caller's stack pointer is, so it is in one place whenever that is. */
struct bp_copy_frame {
    uint64_t rbx, rbp, r12, r13, r14, r15;
    uint64_t rax;
    uint64_t unused;
};
_Static_assert(sizeof(struct bp_copy_frame) % 16 == 0, "keeps the stack aligned");

/* A copy that is known again: what it is and from where, then where it is counted. The context says
 * which function it is. One cache line. */
struct bp_copy_known {
    uint64_t frame; /* address of its bp_copy_frame; 0: none */
    uint64_t node;
    uint64_t ret;
    uint32_t generation; /* of the tables that the walk went by */
    uint16_t kind;
    uint16_t waits; /* as in bp_copy_sums */
    struct bp_trail *trail;
    struct bp_transfer *transfer;
    struct bp_split *split;
    struct bp_sample *sample;
};
_Static_assert(sizeof(struct bp_copy_known) == 64, "copy");

#define BP_COPIES 64 /* direct-mapped */
struct bp_copies {
    struct bp_copy_known known[BP_COPIES];
    struct bp_trail trails[BP_COPIES];
};

/* A thread begins where another was: its stack is not the other's. */
static inline void bp_copies_forget(struct bp_copies *copies) {
    for (unsigned i = 0; copies && i < BP_COPIES; i++)
        copies->known[i].frame = 0;
}

/* Called by the stub: the copy whose entry that is has succeeded, in so many ticks. */
void bp_copy_count(struct bp_entry *entry, uint64_t time, const struct bp_copy_frame *frame);

/* The same for one that the stub cannot close, or that failed; as bp_thread_leave. */
int bp_copy_leave(struct bp_entry *entry, uint64_t now, const struct bp_copy_frame *frame);

/* sample/sites.c: the call path of a copy, counted; leaves a trail. NULL: it cannot be known
 * again. */
struct bp_sample *bp_site_find(struct bp_thread *thread, const struct bp_entry *entry,
                               const struct bp_copy_frame *frame, uint64_t bytes,
                               struct bp_trail *trail);

#endif
