/* SPDX-License-Identifier: MIT */
#include "interpose/process/switch.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "interpose/hook/hook.h"
#include "interpose/hook/object.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/timer.h"
#include "interpose/process/process.h"
#include "interpose/process/variables.h"
#include "interpose/python/python.h"
#include "interpose/unwind/walk.h"
#include "profile/clock.h"
#include "profile/mark.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void libbattprof_start(void);
EXPORT void libbattprof_stop(void);
EXPORT void libbattprof_mark(const char *text);

static struct {
    int function; /* what paused time is counted for is announced */
    int behind;   /* slots could not be switched */
} state;

static struct bp_header *header(void) {
    return bp_process.writer.header;
}

static void put_mark(enum bp_mark_kind kind, uint64_t now, const char *text) {
    if (bp_process.marks)
        bp_mark_put(bp_process.marks, now, bp_process.pid, kind, text);
}

static void stop(void) {
    if (!state.function)
        bp_pause_init(bp_hook_function("paused", BP_FUNC_PAUSED));
    state.function = 1;
    uint64_t now = bp_clock_now(bp_process.clock);
    bp_pause_begin(now);
    put_mark(BP_MARK_STOP, now, "");
    state.behind = !bp_object_switch(1);
}

/* What it takes to start is still of the pause. */
static void start(void) {
    state.behind = !bp_object_switch(0);
    bp_python_switch(0);
    uint64_t now = bp_clock_now(bp_process.clock);
    put_mark(BP_MARK_START, now, "");
    bp_pause_end(now);
}

/* With the lock held. */
static void obey(uint32_t wanted) {
    int paused = wanted & BP_WANTED_PAUSED;
    if (paused != bp_pause_is_on()) {
        if (paused)
            stop();
        else
            start();
        bp_timer_switch_all();
    }
    if (paused)
        bp_python_switch(1);
    __atomic_store_n(&header()->obeyed, wanted, __ATOMIC_RELEASE);
    BP_SYS3(SYS_futex, &header()->obeyed, FUTEX_WAKE, INT_MAX);
}

static uint32_t wanted_now(void) {
    return __atomic_load_n(&header()->wanted, __ATOMIC_ACQUIRE);
}

static void ask(uint32_t paused) {
    uint32_t wanted = wanted_now(), next;
    do
        next = ((wanted & ~BP_WANTED_PAUSED) + BP_WANTED_STEP) | paused;
    while (!__atomic_compare_exchange_n(&header()->wanted, &wanted, next, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
}

static void look(void) {
    uint64_t mask = bp_lock(&bp_pause_lock);
    if (state.behind)
        state.behind = !bp_object_switch(bp_pause_is_on());
    if (wanted_now() != header()->obeyed)
        obey(wanted_now());
    bp_unlock(&bp_pause_lock, mask);
}

static int lacks_curtain(const struct bp_thread *thread) {
    const struct bp_local *local = (const struct bp_local *)thread->local;
    return (bp_pause_is_on() || local->pause_number != bp_pause_number) &&
           !bp_thread_is_curtain(thread, thread->current);
}

/* A stub of the thread that was interrupted may just be about to lift its curtain: not now. */
static void on_tick(uint64_t pc) {
    struct bp_thread *thread = bp_self;
    if (bp_walk_is_ours(pc) || bp_orphaned())
        return;
    if (wanted_now() != header()->obeyed || state.behind)
        look();
    if (thread && thread->state == BP_THREAD_LIVE && lacks_curtain(thread)) {
        uint64_t mask = bp_lock(&bp_pause_lock);
        bp_pause_draw_for(thread);
        bp_unlock(&bp_pause_lock, mask);
    }
    bp_python_tick(pc);
}

static void set(uint32_t paused) {
    int saved = errno;
    if (bp_process.on && !bp_orphaned()) {
        uint64_t mask = bp_lock(&bp_pause_lock);
        ask(paused);
        obey(wanted_now());
        bp_unlock(&bp_pause_lock, mask);
        bp_python_catch_up();
    }
    errno = saved;
}

void libbattprof_start(void) {
    set(0);
}

void libbattprof_stop(void) {
    set(BP_WANTED_PAUSED);
}

void libbattprof_mark(const char *text) {
    if (bp_process.on && !bp_orphaned())
        put_mark(BP_MARK_TEXT, bp_clock_now(bp_process.clock), text ? text : "");
}

int bp_switch_begins_paused(void) {
    const char *given = bp_variable_get(BATTPROF);
    if (header()->tree[0])
        return bp_process_is_run_paused();
    return given && strcmp(given, "paused") == 0;
}

void bp_switch_init(int paused) {
    bp_sampling.tick = on_tick;
    if (!paused)
        return;
    uint64_t mask = bp_lock(&bp_pause_lock);
    ask(BP_WANTED_PAUSED);
    obey(wanted_now());
    bp_unlock(&bp_pause_lock, mask);
}
