/* SPDX-License-Identifier: MIT
 *
 * What the profile file says about devices, since format 1.1; part of profile/format.h, which
 * includes it. All of it is sums by calling context: nothing here grows with the number of CUDA
 * calls. Times are ticks of the file's clock, those measured by the device too: whoever writes them
 * converts them from nanoseconds.
 *
 * A calling context is named by (thread, node): the index in BP_THREADS and the node among that
 * thread's. The node is that of the CUDA call itself; its ancestors say who called it.
 * (BP_NO_THREAD, BP_NO_NODE) stands for an unknown one, as that of a page fault on managed memory.
 */
#ifndef BP_PROFILE_FORMAT_DEVICE_H
#define BP_PROFILE_FORMAT_DEVICE_H

#include <stdint.h>

enum bp_direction {
    BP_H2D = 0,
    BP_D2H = 1,
    BP_D2D = 2, /* within one device */
    BP_P2P = 3, /* between two; through the host too, where there is no peer access */
    BP_MEMSET = 4,
    BP_DIRECTIONS = 5
};

enum bp_memory {
    BP_MEMORY_UNKNOWN = 0,
    BP_MEMORY_PAGEABLE = 1,
    BP_MEMORY_PINNED = 2,
    BP_MEMORY_DEVICE = 3,
    BP_MEMORY_ARRAY = 4,
    BP_MEMORY_MANAGED = 5,
    BP_MEMORIES = 6
};

/* Device flags. */
#define BP_DEVICE_SIMULATED 0x1u /* cuda/sim; reports say so */

struct bp_device {
    uint32_t index; /* CUDA's ordinal */
    uint32_t name;  /* string: "Tesla T4" */
    uint32_t flags;
    uint32_t reserved;
    uint64_t memory;              /* bytes; 0 if unknown */
    uint64_t best[BP_DIRECTIONS]; /* bytes per second of its fastest copy of BP_LARGE_COPY or more
                                     (of any size while there was none); 0 without copies */
    /* Shortest copy of at most BP_TINY_COPY bytes, ticks; 0 without one. */
    uint64_t latency_pageable[BP_DIRECTIONS];
    uint64_t latency_pinned[BP_DIRECTIONS];
    /* Ticks in which the device did anything, copied, or computed. */
    uint64_t busy;
    uint64_t busy_copy;
    uint64_t busy_compute;
    uint64_t spare[4];
};
_Static_assert(sizeof(struct bp_device) == 200, "device");

#define BP_LARGE_COPY (1u << 20)
#define BP_TINY_COPY 4096u
/* Below this a copy costs its latency: at 12 GB/s and 8 us, half of the time is latency at 96 kB.
 */
#define BP_SMALL_COPY (64u << 10)

/* Sizes of copies: bucket b has those from 2^b bytes, bucket 0 those below 2 and the last all from
 * 2^39 (512 GB) on. */
#define BP_SIZE_BUCKETS 40

static inline unsigned bp_size_bucket(uint64_t bytes) {
    unsigned power = 63u - (unsigned)__builtin_clzll(bytes | 1);
    return power < BP_SIZE_BUCKETS ? power : BP_SIZE_BUCKETS - 1;
}

/* Transfer flags. */
#define BP_TRANSFER_ASYNC 0x1u     /* asked for by an asynchronous call */
#define BP_TRANSFER_HOST_ONLY 0x2u /* without device records: device_time is the calls' time */
#define BP_TRANSFER_FAULT 0x4u     /* pages that came because host code touched them, and waited */

/* Flags of BP_ASKED, which are items like transfers: what calls that succeeded asked for, counted
 * by their own threads, and with MET what came of it, counted as the device's records come. The
 * difference has no records yet, or never will: the process was killed. A reader adds it to the
 * transfers, as UNTIMED and HOST_ONLY copies. */
#define BP_TRANSFER_UNTIMED 0x8u
#define BP_TRANSFER_MET 0x10u

/* Copies of one kind by one calling context: all fields up to `flags` make the key. */
struct bp_transfer {
    uint32_t thread;
    uint32_t node;
    uint32_t device;
    uint8_t direction; /* enum bp_direction */
    uint8_t source;    /* enum bp_memory */
    uint8_t target;
    uint8_t flags;
    uint64_t count;
    uint64_t bytes;
    uint64_t device_time; /* sum of durations on the device */
    uint64_t exposed;     /* |A and X|: thread time in CUDA calls while such a copy ran */
    uint64_t hidden;      /* of X, while no thread was in a CUDA call */
    uint64_t min;         /* shortest, longest */
    uint64_t max;
    uint64_t small_count; /* below BP_SMALL_COPY bytes */
    uint64_t small_bytes;
    uint64_t small_time;
    /* With contents hashed: the same content uploaded again, and bytes that came back unchanged. */
    uint64_t duplicates;
    uint64_t duplicate_bytes;
    uint64_t duplicate_time;
    uint64_t round_trips;
    uint64_t round_trip_bytes;
    uint64_t round_trip_time;
    uint64_t spare[2];
    uint64_t sizes[BP_SIZE_BUCKETS];
    /* Host time in the calls that asked for these copies, and what it was: while any copy between
     * host and device ran, while none did but a kernel; the rest is the calls' own. 0 where it is
     * not known: no device records, or a file before 1.8. */
    uint64_t call_time;
    uint64_t call_moving;
    uint64_t call_wait;
};
_Static_assert(sizeof(struct bp_transfer) == 504, "transfer");

/* One more copy. */
static inline void bp_transfer_copy(struct bp_transfer *transfer, uint64_t bytes, uint64_t time) {
    if (transfer->count == 0 || time < transfer->min)
        transfer->min = time;
    if (time > transfer->max)
        transfer->max = time;
    transfer->count++;
    transfer->bytes += bytes;
    transfer->device_time += time;
    transfer->sizes[bp_size_bucket(bytes)]++;
    if (bytes < BP_SMALL_COPY) {
        transfer->small_count++;
        transfer->small_bytes += bytes;
        transfer->small_time += time;
    }
}

/* One kernel, launched by one calling context on one device. */
struct bp_kernel {
    uint32_t name;   /* string */
    uint32_t thread; /* the launching call */
    uint32_t node;
    uint32_t device;
    uint64_t count;
    uint64_t device_time;
    uint64_t wait; /* |(A \ X) and K|: thread time in CUDA calls that waited for it */
    uint64_t min;
    uint64_t max;
    uint64_t spare;
};
_Static_assert(sizeof(struct bp_kernel) == 64, "kernel");

/* How the self time of a CUDA call's node divides, as far as its calls have met their device
 * records: overhead is time - transfer - wait. What is in the node and not in `time` is not split
 * yet, or its records were lost. */
struct bp_split {
    uint32_t thread;
    uint32_t node;
    uint64_t calls;
    uint64_t time;
    uint64_t transfer;
    uint64_t wait;
    uint64_t own; /* what the collector took before and after these calls, in their caller's time */
};
_Static_assert(sizeof(struct bp_split) == 48, "split");

/* `wait` of a split, by the context that launched the kernel. */
struct bp_wait {
    uint32_t thread; /* the call that waited */
    uint32_t node;
    uint32_t launch_thread;
    uint32_t launch_node;
    uint64_t time;
    uint64_t spare;
};
_Static_assert(sizeof(struct bp_wait) == 32, "wait");

enum bp_collector_state {
    BP_COLLECTOR_OFF = 0,     /* not asked for, or no CUDA in the process */
    BP_COLLECTOR_WAITING = 1, /* CUDA was not initialised yet */
    BP_COLLECTOR_HOST = 2,    /* host calls only; `reason` says why */
    BP_COLLECTOR_ACTIVE = 3,  /* device records arrive */
    BP_COLLECTOR_STOPPED = 4, /* they did, until something went wrong; `reason` */
    BP_COLLECTOR_IMPORTED = 5 /* the file was made by `battprof import` from another tool's */
};

enum bp_collector_mode {
    BP_CUDA_OFF = 0,
    BP_CUDA_WRAPPERS = 1,
    BP_CUDA_TRANSFERS = 2, /* no kernel records: kernel wait is what no copy explains */
    BP_CUDA_FULL = 3
};

/* Collector flags. */
#define BP_COLLECTOR_CUPTI 0x1u  /* libcupti was found */
#define BP_COLLECTOR_STOLEN 0x2u /* another tool took the activity callbacks */
#define BP_COLLECTOR_HASHED 0x4u /* contents were hashed: duplicates and round trips are known */
#define BP_COLLECTOR_FULL 0x8u   /* a table was full: contexts were folded into unknown ones */
#define BP_COLLECTOR_SIMULATED 0x10u /* the libraries are those of cuda/sim */
#define BP_COLLECTOR_FORKED 0x20u    /* a child of a process with CUDA: copies are not counted */
#define BP_COLLECTOR_UNREAD 0x40u    /* contents were to be hashed, and could not be read */

/* Once per process. */
struct bp_collector {
    uint32_t state; /* enum bp_collector_state */
    uint32_t mode;  /* enum bp_collector_mode */
    uint32_t flags;
    uint32_t cupti_version;
    uint32_t driver_version; /* 12040 for 12.4, 0 if unknown */
    uint32_t runtime_version;
    uint64_t records;       /* that arrived */
    uint64_t dropped;       /* that CUPTI says it dropped, or gave no times */
    uint64_t unmatched;     /* whose call is unknown */
    uint64_t late;          /* that came after their time was folded, in part or whole */
    uint64_t late_time;     /* ticks of them without attribution */
    uint64_t lost_calls;    /* calls that found no room and were not split */
    uint64_t flushed;       /* ticks up to which device records are complete */
    uint64_t period;        /* ticks between flushes */
    uint64_t own_time;      /* ticks of our own work: folding and reading records */
    uint64_t untold_copies; /* without device records: whose arguments tell no size or direction */
    /* What CUPTI's overhead records sum to, in ticks, on any thread: */
    uint64_t cupti_time;   /* its own work */
    uint64_t loading_time; /* compiling and loading device code */
    uint64_t full_time;    /* calls that waited because a queue of the device was full */
    char library[256];     /* libcupti's path, or the imported file */
    char reason[192];      /* why it is not ACTIVE, or what went wrong first; "" if nothing did */
};
_Static_assert(sizeof(struct bp_collector) == 576, "collector");

#endif
