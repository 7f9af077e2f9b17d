/* SPDX-License-Identifier: MIT
 *
 * Around every call: correlation ids, the thread's last error, and records on their way to the
 * truth file and to libcupti.
 */
#include "cuda/sim/internal.h"

static void (*sink)(const struct bp_sim_record *record);
static __thread struct {
    int last_error;
    uint32_t correlation; /* of the call that the thread is in */
    uint64_t start;
} own;

void bp_sim_set_sink(void (*function)(const struct bp_sim_record *record)) {
    __atomic_store_n(&sink, function, __ATOMIC_RELEASE);
}

uint32_t bp_sim_correlation(void) {
    return own.correlation;
}

uint64_t bp_sim_call_start(void) {
    return own.start;
}

void bp_sim_emit(struct bp_sim_record *record) {
    void (*function)(const struct bp_sim_record *) = __atomic_load_n(&sink, __ATOMIC_ACQUIRE);
    record->tid = bp_sim_tid();
    if (!record->correlation)
        record->correlation = own.correlation;
    if (function)
        function(record);
    if (record->kind != BP_SIM_RECORD_ENTER)
        bp_sim_truth_write(record);
}

void bp_sim_enter(struct bp_sim_call *call, const char *name, unsigned cbid) {
    static uint32_t last;
    *call = (struct bp_sim_call){name, cbid, 0, bp_sim_now()};
    bp_sim_fault(); /* reads the environment */
    call->correlation = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    own.correlation = call->correlation;
    own.start = call->start;
    struct bp_sim_record record = {.kind = BP_SIM_RECORD_ENTER, .name = name, .cbid = cbid};
    bp_sim_emit(&record);
}

int bp_sim_leave(const struct bp_sim_call *call, int error) {
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_CALL,
        .start = call->start,
        .end = bp_sim_now(),
        .correlation = call->correlation,
        .name = call->name,
        .cbid = call->cbid,
        .result = (unsigned)error,
    };
    if (error && error != cudaErrorNotReady)
        own.last_error = error;
    bp_sim_emit(&record); /* its last act is the truth's end of the call */
    return error;
}

int bp_sim_last_error(bool clear) {
    int error = own.last_error;
    if (clear)
        own.last_error = 0;
    return error;
}
