/* SPDX-License-Identifier: MIT
 *
 * Work that is submitted but not done: one list in the order of submission, which is an order that
 * streams and events allow. Whoever must wait for a piece does all up to it.
 */
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

/* As many launches a device queues before the next one blocks. */
#define DEPTH 1024
#define BIG ((size_t)4 << 20)

static struct {
    int working; /* held while work is done, so that it is done in order */
    struct bp_sim_work *first, **last;
    unsigned count;
} state = {.last = &state.first};

struct bp_sim_work *bp_sim_work_new(enum bp_sim_work_kind kind, size_t extra) {
    size_t size = sizeof(struct bp_sim_work) + extra;
    struct bp_sim_work *work = calloc(1, size);
    if (work) {
        work->kind = kind;
        work->size = size;
    }
    return work;
}

/* Without a detour through the caches, which memmove takes here up to many MiB: 18 instead of 9
 * GB/s on an EPYC, and a PCIe link has 12 to 25. */
static void copy_bytes(char *target, const char *source, size_t size) {
    size_t head = -(uintptr_t)target & 15, apart = (size_t)(target - source);
    if (size < BIG || apart < size || -apart < size) {
        memmove(target, source, size);
        return;
    }
    memcpy(target, source, head);
    size_t done = head;
    for (; done + 64 <= size; done += 64) {
        const __m128i *from = (const __m128i *)(source + done);
        __m128i *to = (__m128i *)(target + done);
        __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
        __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
    _mm_sfence();
    memcpy(target + done, source + done, size - done);
}

static void do_copy(const struct bp_sim_copy *copy) {
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            copy_bytes(copy->target + z * copy->target_slice + y * copy->target_pitch,
                       copy->source + z * copy->source_slice + y * copy->source_pitch, copy->width);
}

static void do_set(const struct bp_sim_set *set) {
    size_t element = set->element > 1 ? set->element : 1;
    for (size_t y = 0; y < set->height; y++) {
        char *row = set->target + y * set->pitch;
        memset(row, (int)set->value, set->width);
        for (size_t x = 0; element > 1 && x + element <= set->width; x += element)
            memcpy(row + x, &set->value, element);
    }
}

static void do_work(struct bp_sim_work *work) {
    switch (work->kind) {
    case BP_SIM_WORK_COPY:
        do_copy(&work->copy);
        break;
    case BP_SIM_WORK_SET:
        do_set(&work->set);
        break;
    case BP_SIM_WORK_KERNEL:
        if (work->kernel.run)
            work->kernel.run(work->kernel.launch.grid, work->kernel.launch.block,
                             work->kernel.launch.args);
        break;
    case BP_SIM_WORK_HOST:
        work->host.function(work->host.data);
        break;
    }
}

static struct bp_sim_work *take(uint64_t sequence) {
    bp_sim_lock(&bp_sim_model.lock);
    struct bp_sim_work *work = state.first;
    if (work && work->sequence <= sequence) {
        state.first = work->next;
        state.count--;
        if (!state.first)
            state.last = &state.first;
    } else {
        work = NULL;
    }
    bp_sim_unlock(&bp_sim_model.lock);
    return work;
}

void bp_sim_queue_run(uint64_t sequence) {
    struct bp_sim_work *work;
    bp_sim_lock(&state.working);
    while ((work = take(sequence))) {
        do_work(work);
        free(work);
    }
    bp_sim_unlock(&state.working);
}

void bp_sim_queue_add(struct bp_sim_work *work, struct bp_sim_stream *stream) {
    work->sequence = stream->sequence = ++bp_sim_model.sequence;
    work->end = stream->end;
    work->next = NULL;
    *state.last = work;
    state.last = &work->next;
    state.count++;
}

void bp_sim_queue_throttle(void) {
    uint64_t end = 0, sequence = 0;
    bp_sim_lock(&bp_sim_model.lock);
    if (state.count > DEPTH) {
        end = state.first->end;
        sequence = state.first->sequence;
    }
    bp_sim_unlock(&bp_sim_model.lock);
    if (!end)
        return;
    struct bp_sim_record record = {
        .kind = BP_SIM_RECORD_OVERHEAD, .start = bp_sim_now(), .value = BP_SIM_QUEUE_FULL};
    bp_sim_wait_until(end);
    bp_sim_queue_run(sequence);
    record.end = bp_sim_now();
    bp_sim_emit(&record);
}
