/* SPDX-License-Identifier: MIT
 *
 * Work that is submitted but not done: one list in the order of submission, which is an order that
 * streams and events allow. Whoever must wait for a piece does what was submitted up to it and ends
 * no later: nothing that ends later can come before it.
 *
 * A host function waits for its time, since the program sees when it runs. If nobody waits for it,
 * a thread does, as one of the driver's: programs wait for what the function does. It ends when
 * there was none for a while, or it would keep a process alive whose other threads have ended, and
 * waits by functions of libc, where a profiler sees it.
 */
#include <emmintrin.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/sim/internal.h"

/* As many launches a device queues before the next one blocks. */
#define DEPTH 1024
#define BIG ((size_t)4 << 20)
#define POLL_NS 100000    /* how often is looked whether another thread's host function is over */
#define IDLE_NS 100000000 /* as long the thread stays for another one */

static struct {
    int working; /* held while work is done, so that it is done in order; not by host functions */
    struct bp_sim_work *first, **last;
    unsigned count;
} state = {.last = &state.first};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    bool there, wanted;
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    case BP_SIM_WORK_RELEASE:
        work->host.function(work->host.data);
        break;
    }
}

static void unlink_at(struct bp_sim_work **at) {
    struct bp_sim_work *work = *at;
    *at = work->next;
    if (state.last == &work->next)
        state.last = at;
    state.count--;
}

/* The next piece, off the list; a host function stays on it while it runs, since what comes behind
 * must wait. *due: when to look again for more, 0 if there is no more. */
static struct bp_sim_work *take(uint64_t sequence, uint64_t end, uint64_t *due) {
    struct bp_sim_work **at = &state.first, *work = NULL;
    *due = 0;
    bp_sim_lock(&bp_sim_model.lock);
    for (; *at && (*at)->sequence <= sequence; at = &(*at)->next) {
        if ((*at)->end > end)
            continue;
        work = *at;
        if (work->kind != BP_SIM_WORK_HOST || (work->end <= bp_sim_now() && !work->host.runs))
            break;
        *due = work->host.runs ? bp_sim_now() + POLL_NS : work->end;
        end = work->end - 1;
        work = NULL;
    }
    if (work && work->kind == BP_SIM_WORK_HOST)
        work->host.runs = true;
    else if (work)
        unlink_at(at);
    bp_sim_unlock(&bp_sim_model.lock);
    return work;
}

static void run_host_function(struct bp_sim_work *work) {
    struct bp_sim_work **at = &state.first;
    do_work(work);
    bp_sim_lock(&bp_sim_model.lock);
    while (*at != work)
        at = &(*at)->next;
    unlink_at(at);
    bp_sim_unlock(&bp_sim_model.lock);
}

uint64_t bp_sim_queue_run(uint64_t sequence, uint64_t end) {
    struct bp_sim_work *work;
    uint64_t due;
    bp_sim_lock(&state.working);
    while ((work = take(sequence, end, &due))) {
        if (work->kind == BP_SIM_WORK_HOST) {
            bp_sim_unlock(&state.working);
            run_host_function(work);
            bp_sim_lock(&state.working);
        } else {
            do_work(work);
        }
        free(work);
    }
    bp_sim_unlock(&state.working);
    return due;
}

void bp_sim_queue_finish(uint64_t sequence, uint64_t end) {
    uint64_t due;
    while ((due = bp_sim_queue_run(sequence, end)))
        bp_sim_wait_until(due);
}

static bool find_host_function(uint64_t *sequence, uint64_t *end) {
    bp_sim_lock(&bp_sim_model.lock);
    const struct bp_sim_work *work = state.first;
    while (work && (work->kind != BP_SIM_WORK_HOST || work->host.runs))
        work = work->next;
    if (work) {
        *sequence = work->sequence;
        *end = work->end;
    }
    bp_sim_unlock(&bp_sim_model.lock);
    return work;
}

static struct timespec as_timespec(uint64_t time) {
    return (struct timespec){(time_t)(time / 1000000000), (long)(time % 1000000000)};
}

static void sleep_until(uint64_t time) {
    const struct timespec wake = as_timespec(time);
    while (bp_sim_now() < time)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
}

/* False: there was no host function for a while, and the thread is no longer there. */
static bool is_wanted(void) {
    const struct timespec until = as_timespec(bp_sim_now() + IDLE_NS);
    int error = 0;
    pthread_mutex_lock(&helper.lock);
    while (!helper.wanted && !error)
        error = pthread_cond_timedwait(&helper.more, &helper.lock, &until);
    bool wanted = helper.there = helper.wanted;
    helper.wanted = false;
    pthread_mutex_unlock(&helper.lock);
    return wanted;
}

static void *help(void *unused) {
    uint64_t sequence, end;
    while (is_wanted())
        while (find_host_function(&sequence, &end)) {
            sleep_until(end);
            sleep_until(bp_sim_queue_run(sequence, end));
        }
    return unused;
}

/* Made again for each thread: whoever waited before is gone. (pthread_cond_clockwait needs glibc
 * 2.30.) */
static void init_more(void) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&helper.more, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Without a signal of the program's. */
static bool make_helper(void) {
    pthread_t thread;
    sigset_t all, before;
    init_more();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = !pthread_create(&thread, NULL, help, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(thread);
    return made;
}

void bp_sim_queue_watch(void) {
    pthread_mutex_lock(&helper.lock);
    helper.there = helper.there || make_helper();
    helper.wanted = true;
    pthread_cond_signal(&helper.more);
    pthread_mutex_unlock(&helper.lock);
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
    bp_sim_queue_finish(sequence, end);
    record.end = bp_sim_now();
    bp_sim_emit(&record);
}
