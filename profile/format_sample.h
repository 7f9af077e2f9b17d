/* SPDX-License-Identifier: MIT
 *
 * What the profile file says about sampled stacks, since format 1.2; part of profile/format.h,
 * which includes it. Samples divide the self time of ledger nodes among functions that are not
 * intercepted; the ledger itself does not depend on them.
 *
 * Frames and samples belong to a thread (bp_chunk.thread), which alone writes them. A frame is one
 * place on a stack below a certain caller: the frames of a thread are a forest with the outermost
 * caller at the root, and a stack is named by its innermost frame, the leaf. Both are bounded;
 * what finds no room is counted in bp_sampler.
 */
#ifndef BP_PROFILE_FORMAT_SAMPLE_H
#define BP_PROFILE_FORMAT_SAMPLE_H

#include <stdint.h>

#define BP_NO_FRAME UINT32_MAX

enum bp_frame_kind {
    BP_FRAME_NATIVE = 0,   /* `address` */
    BP_FRAME_PYTHON = 1,   /* `func` and `line`; stands in the place of the interpreter's frames */
    BP_FRAME_LEDGER = 2,   /* a stub: what is further in was called by the intercepted call of node
                              `func`, an index among the thread's nodes */
    BP_FRAME_TRUNCATED = 3 /* a root: what is further out is unknown; `func` says why */
};

/* Frame flags. EXACT: `address` is that of the instruction itself: the leaf, or a frame that a
 * signal interrupted; otherwise it is a return address, and the call is the instruction before.
 * SIGNAL: the kernel called a signal handler of the program from here. FUNCTION: `address` is the
 * beginning of the function; where in it is not kept. */
#define BP_FRAME_EXACT 0x1u
#define BP_FRAME_SIGNAL 0x2u
#define BP_FRAME_FUNCTION 0x4u

/* Why a stack is truncated. */
enum bp_truncation {
    BP_TRUNCATED_DEPTH = 0, /* deeper than the limit: the innermost frames are kept */
    BP_TRUNCATED_WALK = 1,  /* the unwinder could not go on */
    BP_TRUNCATED_STACK = 2, /* too little stack was left to walk */
    BP_TRUNCATIONS = 3
};

struct bp_frame {
    uint32_t parent; /* the caller, an index among the thread's frames; BP_NO_FRAME for a root */
    uint16_t kind;   /* enum bp_frame_kind */
    uint16_t flags;
    uint64_t address;
    uint32_t func; /* PYTHON: in BP_FUNCS. LEDGER: node. TRUNCATED: enum bp_truncation */
    uint32_t line; /* PYTHON: the line that was executed, 0 if unknown */
};
_Static_assert(sizeof(struct bp_frame) == 24, "frame");

enum bp_sample_kind {
    BP_SAMPLE_CPU = 0,  /* the thread was running; `weight` is nanoseconds of its CPU time */
    BP_SAMPLE_COPY = 1, /* a CUDA copy was called from here; `weight` is bytes */
    BP_SAMPLE_KINDS = 2 /* formats 1.4 and 1.5 had one more, copies that no transfer counts: a
                           reader takes them for damage */
};

/* How often the thread was seen with this stack while `node` was its innermost intercepted call.
 * All fields up to `count` make the key. */
struct bp_sample {
    uint32_t node;     /* index among the thread's nodes; of a copy: that of the CUDA call */
    uint32_t frame;    /* the leaf */
    uint16_t kind;     /* enum bp_sample_kind */
    uint8_t direction; /* COPY, since format 1.5: 1 + enum bp_direction; 0 if unknown */
    uint8_t unused[5];
    uint64_t count;
    uint64_t weight;
    uint64_t own; /* CPU: ticks of the profiler taking these samples, a part of the node's self
                     time; 0 for a COPY: they are in bp_split.own */
};
_Static_assert(sizeof(struct bp_sample) == 40, "sample");

enum bp_sampler_state {
    BP_SAMPLER_OFF = 0,    /* not asked for, or not possible; `reason` */
    BP_SAMPLER_ON = 1,     /* threads are sampled */
    BP_SAMPLER_STOPPED = 2 /* they were, until the program needed the signal; `reason` */
};

/* Sampler flags. */
#define BP_SAMPLER_NATIVE 0x1u /* native stacks are walked */
#define BP_SAMPLER_PYTHON 0x2u /* Python frames are read */

/* Once per process. taken = sum of the counts of CPU samples + dropped_full + dropped_busy. */
struct bp_sampler {
    uint32_t state; /* enum bp_sampler_state */
    uint32_t flags;
    uint32_t rate;   /* samples asked for per second of a thread's CPU time */
    uint32_t signal; /* its number */
    uint64_t taken;
    uint64_t dropped_full; /* the thread had no room for one more stack */
    uint64_t dropped_busy; /* the thread was in the middle of being sampled, started or ended */
    uint64_t truncated[BP_TRUNCATIONS]; /* samples by the reason why their stack is not whole */
    uint64_t spare_reason;
    uint64_t python_lost;    /* samples without Python frames: these made no sense */
    uint64_t threads_failed; /* threads that got no timer; `timer_errno` of the first */
    uint32_t timer_errno;
    uint32_t spare_number;
    uint64_t own_time; /* ticks in the handler: the sum of the samples' `own`, and the dropped */
    uint64_t latest;   /* tick of the last one: a thread that computes leaves no other trace */
    /* Samples that found their thread within our own code: what the program's calls cost with the
     * caches as the program leaves them. 0 in older files, as is `weight`. */
    uint64_t within_count;
    uint64_t within_weight; /* ns of CPU time that they stand for */
    uint64_t weight;        /* the same of all samples */
    uint64_t spare[32];
    char reason[192]; /* why it is not ON, or what went wrong first; "" if nothing did */
};
_Static_assert(sizeof(struct bp_sampler) == 584, "sampler");

#endif
