/* SPDX-License-Identifier: MIT
 *
 * Around every call: correlation ids, the thread's last error, and records on their way to the
 * truth file and to libcupti.
 *
 * A call of the runtime is done by one of the driver's, and CUPTI tells of both. They have one
 * correlation id; with BATTPROF_SIM_CORRELATION=own each has its own, and work has the driver's and
 * names the runtime's beside it, as CUPTI's documentation of its copies has it.
 */
#include "cuda/sim/internal.h"

/* The driver's copies: the first one's number, and how far the next direction is. */
#define FIRST_COPY 276u
#define LAST_UP 277u
#define DIRECTION 2u

static void (*sink)(const struct bp_sim_record *record);
static uint32_t last_correlation;
static __thread struct {
    int last_error;
    uint32_t correlation; /* of the call that the thread is in; the driver's, if that has its own */
    uint32_t runtime;
    enum bp_sim_copy_kind copy; /* the last that the call submitted */
    uint64_t start;
} own;

void bp_sim_set_sink(void (*function)(const struct bp_sim_record *record)) {
    __atomic_store_n(&sink, function, __ATOMIC_RELEASE);
}

uint64_t bp_sim_call_start(void) {
    return own.start;
}

void bp_sim_emit(struct bp_sim_record *record) {
    void (*function)(const struct bp_sim_record *) = __atomic_load_n(&sink, __ATOMIC_ACQUIRE);
    record->tid = bp_sim_tid();
    if (record->kind == BP_SIM_RECORD_COPY)
        own.copy = record->copy;
    if (!record->correlation) {
        record->correlation = own.correlation;
        record->runtime_correlation = own.runtime;
    }
    if (function)
        function(record);
    if (!record->nested)
        bp_sim_truth_write(record);
}

static uint32_t next_correlation(void) {
    return __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
}

void bp_sim_enter(struct bp_sim_call *call, const char *name, unsigned cbid, unsigned driver) {
    *call =
        (struct bp_sim_call){.name = name, .cbid = cbid, .driver = driver, .start = bp_sim_now()};
    bp_sim_fault(); /* reads the environment */
    own.runtime = own.correlation = call->correlation = next_correlation();
    if (driver && bp_sim_has_own_ids())
        own.correlation = next_correlation();
    own.start = call->start;
    own.copy = BP_SIM_HTOD;
    call->driver_start = driver ? bp_sim_now() : 0;
}

static unsigned by_direction(unsigned driver) {
    unsigned steps = own.copy == BP_SIM_DTOH ? 1 : own.copy == BP_SIM_DTOD ? 2 : 0;
    return driver >= FIRST_COPY && driver <= LAST_UP ? driver + DIRECTION * steps : driver;
}

static void tell_driver_call(const struct bp_sim_call *call, int error) {
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_CALL,
        .start = call->driver_start,
        .end = bp_sim_now(),
        .cbid = by_direction(call->driver) | BP_SIM_DRIVER_CALL,
        .result = (unsigned)error,
        .nested = true,
    };
    bp_sim_emit(&record);
}

int bp_sim_leave(const struct bp_sim_call *call, int error) {
    if (call->driver && sink)
        tell_driver_call(call, error);
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_CALL,
        .start = call->start,
        .end = bp_sim_now(),
        .correlation = call->correlation,
        .runtime_correlation = call->correlation,
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

const struct bp_sim_error *bp_sim_error(int value) {
    static const struct bp_sim_error errors[] = {
#define X(value, name, text) {value, #name, text},
#include "cuda/sim/errors.def"
#undef X
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == value)
            return &errors[i];
    return NULL;
}
