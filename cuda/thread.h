/* SPDX-License-Identifier: MIT
 *
 * A thread that has called CUDA: its open calls, its finished ones until they are attributed, and
 * where its copies are counted. Written by the thread itself.
 */
#ifndef BP_CUDA_THREAD_H
#define BP_CUDA_THREAD_H

#include "cuda/attribute.h"
#include "cuda/copy.h"
#include "interpose/ledger/thread.h"

#define BP_CUDA_NESTING 8
#define BP_CUDA_QUEUE 2048 /* calls: 80 kB a thread, 2 ms of nothing but the shortest calls */

struct bp_queued_call {
    struct bp_call_interval interval; /* marked with its slot */
    uint32_t class;
    uint32_t own; /* ticks of ours before and after it */
};

/* A call that is open. */
struct bp_cuda_call {
    const struct bp_entry *entry;
    uint64_t begin; /* of our own part of it */
    uint64_t start;
    uint32_t node;
    uint32_t slot; /* sequence of its awaited work, 0 if it submits none */
    uint32_t pushed;
    uint32_t class;
    uint32_t content;         /* BP_CONTENT_* of an upload without device records */
    uint32_t asked;           /* as bp_slot.asked */
    struct bp_cuda_copy copy; /* if it is one */
    struct bp_sample *site;   /* where that is counted by its call path, or NULL */
};

/* A copy to the host whose content is there after the next synchronisation. */
struct bp_later {
    struct bp_cuda_copy copy;
    uint32_t slot;
    uint32_t transfer; /* without a slot: its index */
};
#define BP_CUDA_LATER 1024 /* as many as a stream takes at once */

/* Where copies without records of the device are counted. It is their thread's alone, and can be
 * written without the lock, unless the tables are full. */
struct bp_host_sums {
    struct bp_split *split; /* NULL: none */
    uint32_t transfer;      /* its index, or BP_CUDA_NONE */
    uint32_t unused;
};

/* Where a thread's copies of one kind are counted, known from the one before. */
struct bp_host_known {
    uint32_t node;
    uint8_t direction;
    uint8_t flags;
    uint8_t valid;
    uint8_t unused;
    struct bp_host_sums sums;
};
#define BP_HOST_KNOWN 64

/* Where a thread's copies of one kind are counted until their records come. */
struct bp_asked_known {
    uint32_t node;
    uint32_t direction;
    uint32_t asked; /* as bp_slot.asked */
};
#define BP_ASKED_KNOWN 64

/* A thread that has called CUDA. Written by the thread; `sequence` is odd while `open` changes. */
struct bp_cuda_thread {
    struct bp_cuda_thread *next;
    uint64_t sequence;
    uint32_t index; /* in BP_THREADS */
    uint32_t depth;
    struct bp_cuda_call open[BP_CUDA_NESTING];
    struct bp_later later[BP_CUDA_LATER];
    uint32_t later_count;
    uint32_t launch_node; /* of its last launch, for kernel wait without kernel records */
    uint32_t capturing;   /* streams that it records into graphs */
    uint32_t drained;     /* ticks it took to empty the queue, for the next call to count */
    uint32_t head;        /* written by the thread */
    uint32_t tail;        /* by whoever drains, with the lock */
    struct bp_host_known known[BP_HOST_KNOWN];
    struct bp_asked_known asked[BP_ASKED_KNOWN];
    struct bp_queued_call queue[BP_CUDA_QUEUE];
};

#endif
