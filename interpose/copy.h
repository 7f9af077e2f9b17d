/* SPDX-License-Identifier: MIT
 *
 * Copies by calls whose size is in one argument or the product of two, with the direction in
 * another one or in the function's name, which return 0 if all is well. One that is like one
 * before, by the same call path and of about the same size, takes what a call of any function
 * takes, some comparisons before it and some additions after it, in stub_copy.S, but for Python's
 * frames: one sample counts all that are alike (BP_SAMPLE_COPIES). Others are counted here, and
 * told to their source.
 */
#ifndef BP_INTERPOSE_COPY_H
#define BP_INTERPOSE_COPY_H

#include "interpose/sample/python.h"
#include "interpose/sample/trail.h"
#include "interpose/source.h"

/* bp_entry.source of such a call: the address of the bp_copy_known that it is like; else the kind
 * of its stub, the direction (1 to 3) and the bytes. A copy of more bytes than fit takes the slow
 * way. */
#define BP_COPY_SHIFT 32
#define BP_COPY_KINDS 3
#define BP_COPY_BITS 29 /* of the bytes */
_Static_assert(BP_STUB_COPY & 1, "addresses are even");

/* How far below its stack pointer the stub leaves what it has no register for, and registers of the
 * caller, for a trail that begins with them. */
#define BP_COPY_FIRST 32
#define BP_COPY_RBX 40
#define BP_COPY_RBP 48
#define BP_COPY_R8 56
#define BP_COPY_R9 64
#define BP_COPY_ONE 72

/* What stub_copy.S keeps on the stack while such a call is closed in C: the caller's registers and
 * the result. */
struct bp_copy_frame {
    uint64_t rbx, rbp, r12, r13, r14, r15;
    uint64_t rax;
    uint64_t unused;
};
_Static_assert(sizeof(struct bp_copy_frame) % 16 == 0, "keeps the stack aligned");

/* Two words of a trail: the stub compares them at once. */
struct bp_copy_pair {
    _Alignas(16) const uint64_t *at[2];
    uint64_t value[2];
};

/* What tells calls of one function apart: the sum of the stack pointer, the direction if the fourth
 * argument tells it, and above all addresses the size's power of two. A direction that would spill
 * over into the stack pointer is none: such a call fails. */
#define BP_COPY_SIZE_SHIFT 58
_Static_assert(BP_COPY_BITS <= 1 << (64 - BP_COPY_SIZE_SHIFT), "every power has a number");

/* A kind of copies that is known again: what they are and from where, then where they are counted.
 * It stays as long as the thread: a call that was interrupted by this one may have found it. */
struct bp_copy_known {
    uint64_t key;
    uint64_t node;
    uint64_t told;              /* as bp_entry.source, but for the bytes */
    uint32_t generation;        /* of the tables that the walk went by; or BP_COPY_PYTHON */
    uint32_t words_size;        /* in bytes */
    struct bp_copy_known *next; /* of a ring: those at the same place */
    uint64_t bytes;             /* of the call that is open */
    uint64_t min, span;         /* of the transfer's times, or of some */
    struct bp_sample *sample;
    struct bp_transfer *transfer;
    uint64_t waits;                /* as in bp_copy_sums */
    struct bp_copy_known **place;  /* in bp_local.known: the one of the ring that was found last */
    struct bp_copy_python *python; /* NULL: none of its frames is Python's */
    struct bp_copy_pair words[];   /* the trail, innermost first */
};

/* Instead of a generation: bp_copy_find compares the path. */
#define BP_COPY_PYTHON UINT32_MAX

/* What leads to the Python frames of a path. */
struct bp_copy_python {
    uint64_t state; /* of the thread */
    uint64_t *own;  /* where the time that the comparison takes is counted */
    uint32_t generation;
    uint32_t count;
    struct bp_python_step steps[];
};

#define BP_COPY_STEPS 100

/* All of a thread, some 200 bytes each, and 32 for each Python frame. When there is no more room,
 * others take the slow way. */
struct bp_copies {
    uint32_t used; /* of room */
    struct bp_trail trail;
    uint32_t python_count; /* 0: there are no Python frames */
    struct bp_python_step python[BP_COPY_STEPS];
    _Alignas(64) char room[(1u << 20) - 16384];
};

/* A thread begins where another was, whose stack was another. */
static inline void bp_copies_forget(struct bp_local *local) {
    for (unsigned i = 0; i < BP_COPY_PLACES; i++)
        local->known[i] = NULL;
    if (local->copies)
        local->copies->used = 0;
}

/* What is not known yet takes the slow way, now and later. */
static inline void bp_copies_give_up(struct bp_local *local) {
    local->copies_off = 1;
    local->copies = NULL;
}

/* For the stub, by shape: how far from its stack pointer the arguments are that tell the size,
 * which is their product, and the direction. The first shape is plain: its places are never looked
 * up. */
struct bp_copy_places {
    int8_t width, height, kind, unused;
};
#define BP_COPY_SHAPES 16
extern struct bp_copy_places bp_copy_places[BP_COPY_SHAPES] __attribute__((visibility("hidden")));

/* Called by the stub: close the call of a copy that is not like one before, or is rare in another
 * way; as bp_thread_leave. */
int bp_copy_leave(struct bp_entry *entry, uint64_t now, const struct bp_copy_frame *frame);

/* Called by the stub: the call is open, and like `first` but perhaps for its path. Makes the one
 * that it is like, in Python, too, its source, or what it is, and returns that. */
uint64_t bp_copy_find(struct bp_entry *entry, struct bp_copy_known *first, uint64_t bytes);

/* Called by the stub: a copy is closed and counted; it waited for the device. */
void bp_copy_waited(const struct bp_entry *entry, uint64_t time);

/* sample/sites.c: the call path of a copy is counted. With `copies`, what counts those of
 * `transfer` and of that size by the same path, and its trail in `copies`; NULL: there is none. */
struct bp_sample *bp_site_find(struct bp_thread *thread, const struct bp_entry *entry,
                               const struct bp_copy_frame *frame, uint64_t bytes,
                               const struct bp_copy_sums *sums, struct bp_copies *copies);

#endif
