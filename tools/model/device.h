/* SPDX-License-Identifier: MIT
 *
 * Devices in a model: what was copied and computed, for whom, and what it cost the host. Part of
 * tools/model.h, which includes it. Times are seconds; exposed_s and wait_s are thread-seconds.
 */
#ifndef BP_TOOLS_MODEL_DEVICE_H
#define BP_TOOLS_MODEL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/format.h"

#define BP_NO_FUNCTION UINT32_MAX

struct bp_model_device {
    uint32_t index;
    const char *name;
    bool simulated;
    uint64_t memory;
    double best[BP_DIRECTIONS];       /* bytes per second, measured; 0 if unknown */
    double latency_s[BP_DIRECTIONS];  /* of the shortest tiny copy; 0 if unknown */
    double pageable_s[BP_DIRECTIONS]; /* the same by memory */
    double pinned_s[BP_DIRECTIONS];
    /* Of the wall. Nobody knows what of several processes was at once: of one device the three are
     * their sum, at most the wall; of several of the same name and number their mean. */
    double busy_s;
    double copy_s;
    double compute_s;
    bool kernels_unknown; /* without their records of busy_s only the copies are known, too */
    uint32_t processes;   /* that used it */
    uint32_t instances; /* as many devices: on each machine, and of the stand-in in each process */
};

/* Copies of one kind, asked for by one function: over all threads and processes. */
struct bp_model_transfer {
    uint32_t direction; /* enum bp_direction */
    uint32_t caller;    /* the innermost function that is no CUDA call, or BP_NO_FUNCTION */
    uint32_t call;      /* the CUDA call, or BP_NO_FUNCTION */
    uint32_t device;    /* index in the model's devices */
    uint32_t source;    /* enum bp_memory */
    uint32_t target;
    uint32_t flags;    /* BP_TRANSFER_… */
    uint32_t reserved; /* no padding: all up to here is a key */
    uint64_t count;
    uint64_t bytes;
    uint64_t untimed; /* of count: whose records did not come */
    uint64_t untimed_bytes;
    uint64_t small_count;
    uint64_t small_bytes;
    uint64_t duplicates;
    uint64_t duplicate_bytes;
    uint64_t round_trips;
    uint64_t round_trip_bytes;
    double device_s;
    double exposed_s;
    double hidden_s;
    double faulted_s; /* as hidden, but host code waited: it had touched managed memory */
    double min_s;
    double max_s;
    double small_s;
    double duplicate_s;
    double round_trip_s;
    uint64_t sizes[BP_SIZE_BUCKETS];
};

/* Adds counts, bytes, times and sizes; what copies are found to repeat is told of each alone. */
void bp_transfer_add(struct bp_model_transfer *sum, const struct bp_model_transfer *transfer);

struct bp_model_kernel {
    char *name;      /* ours: demangled */
    uint32_t caller; /* the function that launched it, or BP_NO_FUNCTION */
    uint32_t device;
    bool dsl; /* launched under a DSL function */
    uint64_t count;
    double device_s;
    double wait_s;
    double min_s;
    double max_s;
};

/* What to change first. Texts are the model's. */
struct bp_advice {
    const char *level; /* "high", "medium", "low": by the share of the wall */
    char *what;
    char *why;
    double saves_s;  /* an estimate, of the wall */
    double in_tasks; /* the part of it that more tasks would save more of, 0 to 1 */
    uint64_t bytes;
    uint32_t function; /* that causes it, or BP_NO_FUNCTION */
    bool of_devices;   /* it belongs on the page of transfers, too */
};

#endif
