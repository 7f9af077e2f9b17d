/* SPDX-License-Identifier: MIT
 *
 * Devices in a model: what was copied and computed, for whom, and what it cost the host. Part of
 * tools/model/model.h, which includes it. Times are seconds; exposed_s and wait_s are
 * thread-seconds.
 */
#ifndef BP_TOOLS_MODEL_DEVICE_H
#define BP_TOOLS_MODEL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/format.h"
#include "tools/model/site.h"

/* By enum bp_direction, and "unknown" behind them. */
extern const char *const bp_direction_names[BP_DIRECTIONS + 1];

struct bp_model_device {
    uint32_t index;
    const char *name;
    bool simulated;
    uint64_t memory;
    double best[BP_DIRECTIONS];       /* bytes per second, measured; 0 if unknown */
    double latency_s[BP_DIRECTIONS];  /* of the shortest tiny copy; 0 if unknown */
    double pageable_s[BP_DIRECTIONS]; /* the same by memory */
    double pinned_s[BP_DIRECTIONS];
    /* Parts of the wall. How the work of several processes overlapped is unknown: for one device
     * the three are their sum, at most the wall; for several of one name and number their mean. */
    double busy_s;
    double copy_s;
    double compute_s;
    bool kernels_unknown; /* without their records of busy_s only the copies are known, too */
    uint32_t processes;   /* that used it */
    uint32_t instances;   /* as many devices: on each machine, and simulated, in each process */
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
    /* Host time in the calls that asked for these copies, and of it while bytes moved and while a
     * kernel was waited for; the rest is the calls' own. */
    double call_s; /* 0: unknown */
    double call_moving_s;
    double call_wait_s;
    double call_whole_s; /* part of call_s whose composition is unknown */
    double faulted_s;    /* as hidden, but host code waited: it had touched managed memory */
    double min_s;
    double max_s;
    double small_s;
    double duplicate_s;
    double round_trip_s;
    uint64_t sizes[BP_SIZE_BUCKETS];
};

/* Adds counts, bytes, times and sizes; what copies repeat is not summed. */
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

struct bp_model_cuda {
    struct bp_model_device *devices;
    uint32_t device_count;
    double wall_s;         /* that their times are of: the whole run's, also without its outliers */
    const char *simulated; /* the simulated device that was used without records, or NULL */
    struct bp_model_transfer *transfers; /* by falling exposed_s */
    uint32_t transfer_count;
    struct bp_copy_site *sites; /* of copies, by falling bytes */
    uint32_t site_count;
    struct bp_site_counts site_counts;
    struct bp_model_kernel *kernels; /* by falling device_s */
    uint32_t kernel_count;
};

struct bp_model;

/* Some process called CUDA. */
bool bp_model_used_cuda(const struct bp_model *model);

/* The contents of copies were compared. */
bool bp_model_is_hashed(const struct bp_model *model);

#endif
