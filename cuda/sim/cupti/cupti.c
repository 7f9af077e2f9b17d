/* SPDX-License-Identifier: MIT
 *
 * The exported functions of the simulated libcupti: the activity API, and of the callback API as
 * much as says whether somebody subscribed.
 */
#include "cuda/sim/cupti/cupti.h"

#include <pthread.h>
#include <time.h>

#define API BP_SIM_EXPORT
#define VERSION (BP_SIM_CUDA == 13 ? 130001 : BP_SIM_CUDA == 12 ? 22 : 18)
#define EXTERNAL_KINDS 8
#define DEPTH 64
#define STOLEN_AFTER 40 /* calls */

static struct {
    uint64_t wanted; /* bit of each kind */
    uint32_t thread_id_type;
    uint32_t calls;
    int subscribed;
    uint32_t counters[BP_CUPTI_COUNTERS]; /* of managed memory: bit of each device */
} state;

static __thread struct {
    uint64_t id[EXTERNAL_KINDS][DEPTH];
    unsigned depth[EXTERNAL_KINDS];
} external;

bool bp_cupti_wants(uint32_t kind) {
    return __atomic_load_n(&state.wanted, __ATOMIC_RELAXED) >> kind & 1;
}

uint32_t bp_cupti_thread(const struct bp_sim_record *record) {
    return state.thread_id_type ? record->tid : (uint32_t)(uintptr_t)pthread_self();
}

/* Before the record of a call, so after that of work that is over by then. */
static void write_external(const struct bp_sim_record *from) {
    if (!bp_cupti_wants(BP_CUPTI_EXTERNAL_CORRELATION))
        return;
    for (unsigned kind = 0; kind < EXTERNAL_KINDS; kind++) {
        unsigned depth = external.depth[kind];
        union bp_cupti_record record = {0};
        if (!depth || depth > DEPTH)
            continue;
        record.external =
            (struct bp_cupti_external){BP_CUPTI_EXTERNAL_CORRELATION, kind,
                                       external.id[kind][depth - 1], from->correlation, 0};
        bp_cupti_write(&record, from->end);
    }
}

/* Nobody reads it, so it may be given out more than once; what the first tool gave is not ours to
 * free. */
static uint8_t foreign_buffer[1 << 16] __attribute__((aligned(8)));

static void foreign_request(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = foreign_buffer;
    *size = sizeof foreign_buffer;
    *max_records = 0;
}

static void foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                             size_t valid) {
    (void)context, (void)stream, (void)buffer, (void)size, (void)valid;
}

/* Another tool comes along and registers its own callbacks. */
static void maybe_steal(void) {
    if (bp_sim_fault() == BP_SIM_FAULT_STOLEN_CALLBACK &&
        __atomic_add_fetch(&state.calls, 1, __ATOMIC_RELAXED) == STOLEN_AFTER)
        bp_cupti_set_callbacks(foreign_request, foreign_complete);
}

static void take_record(const struct bp_sim_record *from) {
    union bp_cupti_record record;
    if (bp_cupti_format(&record, from)) {
        if (from->kind == BP_SIM_RECORD_CALL)
            write_external(from);
        bp_cupti_write(&record, from->end);
    }
    if (from->kind == BP_SIM_RECORD_CALL && !from->nested)
        maybe_steal();
}

static void in_child(void) {
    bp_sim_set_sink(NULL);
}

API int cuptiActivityRegisterCallbacks(bp_cupti_request request, bp_cupti_complete complete) {
    if (!request || !complete)
        return BP_CUPTI_INVALID_PARAMETER;
    bp_cupti_set_callbacks(request, complete);
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityEnable(uint32_t kind) {
    static int prepared;
    if (bp_sim_fault() == BP_SIM_FAULT_NO_DRIVER)
        return BP_CUPTI_UNKNOWN;
    if (bp_sim_fault() == BP_SIM_FAULT_NO_PRIVILEGES)
        return BP_CUPTI_INSUFFICIENT_PRIVILEGES;
    if (!kind || kind >= BP_CUPTI_KINDS)
        return BP_CUPTI_INVALID_KIND;
    __atomic_fetch_or(&state.wanted, UINT64_C(1) << kind, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&prepared, 1, __ATOMIC_RELAXED))
        pthread_atfork(NULL, NULL, in_child);
    bp_sim_set_sink(take_record);
    return BP_CUPTI_SUCCESS;
}

bool bp_cupti_counts(uint32_t counter, uint32_t device) {
    return state.counters[counter] >> device & 1;
}

struct counter_config {
    uint32_t scope; /* 1: one device, 2: all */
    uint32_t counter, device, enable;
};

static int configure(const struct counter_config *config) {
    if (config->counter >= BP_CUPTI_COUNTERS || config->scope < 1 || config->scope > 2 ||
        (config->scope == 2 && bp_sim_fault() == BP_SIM_FAULT_SINGLE_DEVICE) ||
        (config->scope == 1 && !bp_sim_properties((int)config->device)))
        return BP_CUPTI_INVALID_PARAMETER;
    uint32_t devices = config->scope == 2 ? UINT32_MAX : UINT32_C(1) << config->device;
    if (config->enable)
        state.counters[config->counter] |= devices;
    else
        state.counters[config->counter] &= ~devices;
    return BP_CUPTI_SUCCESS;
}

/* "The API should be called after CUDA driver initialization." */
API int cuptiActivityConfigureUnifiedMemoryCounter(const struct counter_config *configs,
                                                   uint32_t count) {
    int error = configs ? BP_CUPTI_SUCCESS : BP_CUPTI_INVALID_PARAMETER;
    if (!bp_sim_started())
        return BP_CUPTI_NOT_INITIALIZED;
    if (bp_sim_fault() == BP_SIM_FAULT_NO_MIGRATIONS)
        return BP_CUPTI_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE;
    for (uint32_t i = 0; i < count && !error; i++)
        error = configure(&configs[i]);
    return error;
}

API int cuptiActivityDisable(uint32_t kind) {
    if (!kind || kind >= BP_CUPTI_KINDS)
        return BP_CUPTI_INVALID_KIND;
    uint64_t bit = UINT64_C(1) << kind;
    if (!(__atomic_and_fetch(&state.wanted, ~bit, __ATOMIC_RELAXED)))
        bp_sim_set_sink(NULL);
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityEnableContext(void *context, uint32_t kind) {
    (void)context;
    return cuptiActivityEnable(kind);
}

API int cuptiActivityDisableContext(void *context, uint32_t kind) {
    (void)context;
    return cuptiActivityDisable(kind);
}

API int cuptiActivityFlushAll(uint32_t flag) {
    (void)flag;
    if (bp_sim_fault() == BP_SIM_FAULT_HANG_FLUSH)
        for (;;)
            nanosleep(&(struct timespec){3600, 0}, NULL);
    bp_cupti_flush();
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityFlush(void *context, uint32_t stream, uint32_t flag) {
    (void)context, (void)stream;
    return cuptiActivityFlushAll(flag);
}

API int cuptiActivityFlushPeriod(uint32_t ms) {
    bp_cupti_flush_every(ms);
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, union bp_cupti_record **record) {
    uint8_t *next = buffer;
    if (!buffer || !record)
        return BP_CUPTI_INVALID_PARAMETER;
    if (*record)
        next = (uint8_t *)*record + bp_cupti_size((*record)->kind);
    if (next >= buffer + valid)
        return BP_CUPTI_MAX_LIMIT_REACHED;
    size_t size = bp_cupti_size(((union bp_cupti_record *)next)->kind);
    if (!size || next + size > buffer + valid)
        return size ? BP_CUPTI_MAX_LIMIT_REACHED : BP_CUPTI_INVALID_KIND;
    *record = (union bp_cupti_record *)next;
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    *dropped = bp_cupti_take_dropped();
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
    if (kind >= EXTERNAL_KINDS)
        return BP_CUPTI_INVALID_PARAMETER;
    unsigned depth = external.depth[kind]++;
    if (depth < DEPTH)
        external.id[kind][depth] = id;
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last) {
    if (kind >= EXTERNAL_KINDS)
        return BP_CUPTI_INVALID_PARAMETER;
    if (!external.depth[kind])
        return BP_CUPTI_QUEUE_EMPTY;
    unsigned depth = --external.depth[kind];
    if (last)
        *last = depth < DEPTH ? external.id[kind][depth] : 0;
    return BP_CUPTI_SUCCESS;
}

API int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value) {
    (void)attribute;
    return size && value ? BP_CUPTI_SUCCESS : BP_CUPTI_INVALID_PARAMETER;
}

API int cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value) {
    (void)attribute;
    if (!size || !value || *size < sizeof(size_t))
        return BP_CUPTI_INVALID_PARAMETER;
    *(size_t *)value = 8 << 20;
    return BP_CUPTI_SUCCESS;
}

API int cuptiSetThreadIdType(uint32_t type) {
    state.thread_id_type = type;
    return type <= 1 ? BP_CUPTI_SUCCESS : BP_CUPTI_INVALID_PARAMETER;
}

API int cuptiGetThreadIdType(uint32_t *type) {
    *type = state.thread_id_type;
    return BP_CUPTI_SUCCESS;
}

API int cuptiGetTimestamp(uint64_t *time) {
    *time = bp_sim_realtime(bp_sim_now());
    return BP_CUPTI_SUCCESS;
}

API int cuptiGetVersion(uint32_t *version) {
    *version = VERSION;
    return BP_CUPTI_SUCCESS;
}

API int cuptiGetResultString(int result, const char **text) {
    static const struct {
        int result;
        const char *text;
    } known[] = {
        {BP_CUPTI_SUCCESS, "CUPTI_SUCCESS"},
        {BP_CUPTI_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
        {BP_CUPTI_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
        {BP_CUPTI_QUEUE_EMPTY, "CUPTI_ERROR_QUEUE_EMPTY"},
        {BP_CUPTI_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
        {BP_CUPTI_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        {BP_CUPTI_MULTIPLE_SUBSCRIBERS, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
        {BP_CUPTI_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].result == result) {
            *text = known[i].text;
            return BP_CUPTI_SUCCESS;
        }
    return BP_CUPTI_INVALID_PARAMETER;
}

API int cuptiSubscribe(void **subscriber, void *callback, void *data) {
    (void)callback, (void)data;
    if (__atomic_exchange_n(&state.subscribed, 1, __ATOMIC_RELAXED))
        return BP_CUPTI_MULTIPLE_SUBSCRIBERS;
    *subscriber = &state;
    return BP_CUPTI_SUCCESS;
}

API int cuptiUnsubscribe(void *subscriber) {
    (void)subscriber;
    state.subscribed = 0;
    return BP_CUPTI_SUCCESS;
}

API int cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain) {
    (void)enable, (void)subscriber, (void)domain;
    return BP_CUPTI_SUCCESS;
}

API int cuptiSupportedDomains(size_t *count, const uint32_t **domains) {
    static const uint32_t known[] = {1, 2}; /* driver, runtime */
    *count = 2;
    *domains = known;
    return BP_CUPTI_SUCCESS;
}

API int cuptiFinalize(void) {
    bp_sim_set_sink(NULL);
    bp_cupti_flush_every(0);
    state.wanted = 0;
    return BP_CUPTI_SUCCESS;
}
