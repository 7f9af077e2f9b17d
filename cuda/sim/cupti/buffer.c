/* SPDX-License-Identifier: MIT
 *
 * Records into the tool's buffers, buffers back to the tool: full ones from a thread of libcupti,
 * as the real one does, the rest by a flush or the flush period. Records of work that is not over
 * yet wait in a list, and come in the order in which it ends. Faults that live here: buffers that
 * get lost, records that come late, all of them or those of calls.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/sim/cupti/cupti.h"

#define LATE_NS 400000000
#define FULL 64 /* buffers that wait for the thread; with more the writer delivers */

struct waiting {
    struct waiting *next, *before;
    uint64_t due;
    union bp_cupti_record record;
};

struct buffer {
    uint8_t *memory;
    size_t size, used, max_records, records;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bp_cupti_request request;
    bp_cupti_complete complete;
    struct buffer current, full[FULL];
    unsigned full_count, delivered;
    struct waiting *first, *last; /* in the order in which they are due */
    size_t dropped;
    uint32_t period_ms;
    bool thread;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

void bp_cupti_set_callbacks(bp_cupti_request request, bp_cupti_complete complete) {
    pthread_mutex_lock(&state.mutex);
    state.request = request;
    state.complete = complete;
    pthread_mutex_unlock(&state.mutex);
}

/* A buffer goes back without what is in it. */
static void lose(struct buffer *buffer) {
    if (bp_sim_fault() == BP_SIM_FAULT_DROP_BUFFERS && state.delivered++ % 2 == 0) {
        state.dropped += buffer->records;
        buffer->used = 0;
    }
}

static void deliver(struct buffer *buffers, unsigned count, bp_cupti_complete complete) {
    for (unsigned i = 0; i < count && complete; i++)
        complete(NULL, 0, buffers[i].memory, buffers[i].size, buffers[i].used);
}

/* What the tool does with its buffers is CUPTI's overhead; told with the next ones. */
static void tell_flush(uint64_t start) {
    struct bp_sim_record record = {.kind = BP_SIM_RECORD_OVERHEAD,
                                   .start = start,
                                   .end = bp_sim_now(),
                                   .tid = bp_sim_tid(),
                                   .value = BP_SIM_BUFFER_FLUSH};
    union bp_cupti_record formatted;
    if (bp_cupti_format(&formatted, &record))
        bp_cupti_write(&formatted, record.end);
}

/* The tool may call us back: no lock. */
static void deliver_all(bool current) {
    struct buffer taken[FULL + 1];
    pthread_mutex_lock(&state.mutex);
    unsigned count = state.full_count;
    memcpy(taken, state.full, count * sizeof taken[0]);
    state.full_count = 0;
    if (current && state.current.used) {
        taken[count++] = state.current;
        state.current = (struct buffer){0};
    }
    for (unsigned i = 0; i < count; i++)
        lose(&taken[i]);
    bp_cupti_complete complete = state.complete;
    pthread_mutex_unlock(&state.mutex);
    uint64_t start = bp_sim_now();
    deliver(taken, count, complete);
    if (count)
        tell_flush(start);
}

static void put(const union bp_cupti_record *record) {
    size_t size = bp_cupti_size(record->kind);
    struct buffer *b = &state.current;
    if (b->memory &&
        (b->used + size > b->size || (b->max_records && b->records == b->max_records))) {
        if (state.full_count < FULL) {
            state.full[state.full_count++] = *b;
            *b = (struct buffer){0};
            pthread_cond_signal(&state.wake);
        } else {
            state.dropped++;
            return;
        }
    }
    if (!b->memory && state.request) {
        state.request(&b->memory, &b->size, &b->max_records);
        b->used = b->records = 0;
    }
    if (!b->memory || b->size < size) {
        state.dropped++;
        return;
    }
    memcpy(b->memory + b->used, record, size);
    b->used += size;
    b->records++;
}

/* Puts what is over by now. */
static void mature(uint64_t now) {
    while (state.first && state.first->due <= now) {
        struct waiting *waiting = state.first;
        put(&waiting->record);
        state.first = waiting->next;
        if (state.first)
            state.first->before = NULL;
        else
            state.last = NULL;
        free(waiting);
    }
}

/* From the back, where most of them belong. */
static void keep(struct waiting *waiting) {
    struct waiting *before = state.last;
    while (before && before->due > waiting->due)
        before = before->before;
    waiting->before = before;
    waiting->next = before ? before->next : state.first;
    *(before ? &before->next : &state.first) = waiting;
    *(waiting->next ? &waiting->next->before : &state.last) = waiting;
}

static void sleep_until_work(void) {
    struct timespec until;
    if (!state.period_ms) {
        pthread_cond_wait(&state.wake, &state.mutex);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(state.period_ms % 1000) * 1000000;
    until.tv_sec += (time_t)(state.period_ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&state.wake, &state.mutex, &until);
}

static void *work(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&state.mutex);
        if (!state.full_count)
            sleep_until_work();
        mature(bp_sim_now());
        bool periodic = state.period_ms != 0;
        pthread_mutex_unlock(&state.mutex);
        deliver_all(periodic);
    }
    return NULL;
}

static void start_thread(void) {
    pthread_t thread;
    if (!state.thread && !pthread_create(&thread, NULL, work, NULL)) {
        state.thread = true;
        pthread_detach(thread);
    }
}

static bool is_late(uint32_t kind) {
    enum bp_sim_fault fault = bp_sim_fault();
    return fault == BP_SIM_FAULT_LATE_RECORDS ||
           (fault == BP_SIM_FAULT_LATE_CALLS &&
            (kind == BP_CUPTI_RUNTIME || kind == BP_CUPTI_DRIVER ||
             kind == BP_CUPTI_EXTERNAL_CORRELATION));
}

void bp_cupti_write(const union bp_cupti_record *record, uint64_t end) {
    uint64_t now = bp_sim_now(), due = end + (is_late(record->kind) ? LATE_NS : 0);
    struct waiting *waiting = due > now ? malloc(sizeof *waiting) : NULL;
    pthread_mutex_lock(&state.mutex);
    if (state.request)
        start_thread();
    mature(now);
    if (waiting) {
        waiting->due = due;
        waiting->record = *record;
        keep(waiting);
    } else {
        put(record);
    }
    pthread_mutex_unlock(&state.mutex);
}

void bp_cupti_flush(void) {
    pthread_mutex_lock(&state.mutex);
    mature(bp_sim_now());
    pthread_mutex_unlock(&state.mutex);
    deliver_all(true);
}

void bp_cupti_flush_every(uint32_t ms) {
    pthread_mutex_lock(&state.mutex);
    state.period_ms = ms;
    pthread_cond_signal(&state.wake);
    pthread_mutex_unlock(&state.mutex);
}

size_t bp_cupti_take_dropped(void) {
    pthread_mutex_lock(&state.mutex);
    size_t dropped = state.dropped;
    state.dropped = 0;
    pthread_mutex_unlock(&state.mutex);
    return dropped;
}
