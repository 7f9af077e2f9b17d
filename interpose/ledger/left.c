/* SPDX-License-Identifier: MIT
 *
 * Calls that end otherwise than by returning where they were made: left by exceptions and jumps, in
 * coroutines that are switched away from, on other threads, in forked children.
 */
#include "interpose/ledger/left.h"

#include "interpose/ledger/call.h"
#include "interpose/ledger/entry.h"
#include "interpose/ledger/jump.h"
#include "interpose/ledger/light.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/timer.h"

#define SAME_STACK (1 << 20) /* foreign stacks: two places this near are on one stack */

static int on_own_stack(const struct bp_thread *thread, uint64_t sp) {
    const struct bp_local *local = bp_thread_local(thread);
    return sp >= local->stack_low && sp < local->stack_high;
}

static void close_counted(const struct bp_entry *entry) {
    uint32_t *open = (uint32_t *)bp_light_edge(entry)->open;
    *open -= *open > 0;
}

/* A call with the entry of its edge, or a sample, was left. `gone`: its stub does not return. */
static void leave_light(struct bp_thread *thread, struct bp_entry *entry, int gone) {
    struct bp_edge *edge = bp_light_edge(entry);
    if (!bp_light_is(entry)) {
        entry->source = 0;
        bp_light_missed(thread, edge);
        if (gone)
            bp_entry_give(thread, entry);
        return;
    }
    if (edge->kept)
        return; /* opened before fork: the alias was closed */
    if (gone) {
        bp_light_rest(entry);
        bp_light_aborted(edge);
    } else {
        bp_light_keep(edge);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    close_counted(entry);
}

/* The innermost call was left without returning. Its stub may yet return, if its frame was only
 * moved: then it was no loss, and it is its entry's last use. */
static void leave_open(struct bp_thread *thread, uint64_t now, int gone) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    if (bp_jump_is(entry)) {
        bp_jump_close(thread, entry, now, gone);
        return;
    }
    /* Before the next one is uncovered, which may take over the alias. */
    struct bp_entry *own = entry == &thread->alias ? bp_thread_local(thread)->inherited : entry;
    if (bp_call_is_told(entry))
        bp_call_tell_left(thread, entry, now, NULL);
    uint64_t duration = bp_call_settle(thread, entry, now);
    if (!(entry->sp & BP_ENTRY_INHERITED))
        bp_call_node(entry)->aborted++;
    bp_thread_uncover(thread, bp_call_parent(entry));
    gone = gone && !bp_process.copies_stacks;
    if (!gone) {
        own->child = duration;
        own->sp |= BP_ENTRY_SUSPENDED;
    }
    if (bp_light_edge(own))
        leave_light(thread, own, gone);
    else if (gone)
        bp_entry_give(thread, own);
}

void bp_thread_abandon(struct bp_thread *thread, uint64_t now) {
    leave_open(thread, now, 1);
}

/* The innermost call is not where the thread is: its frame was left unnoticed, or belongs to a
 * coroutine that is not running. That cannot be known, so its entry is not used again until it
 * returns. What runs after a coroutine is resumed belongs to whoever resumed it. */
static void drop(struct bp_thread *thread, uint64_t now) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    if (entry->sp & BP_ENTRY_CLOSED) { /* returned on another thread, and counted there */
        bp_call_settle(thread, entry, now);
        if (bp_light_is(entry))
            leave_light(thread, entry, 0);
        bp_thread_uncover(thread, bp_call_parent(entry));
    } else {
        leave_open(thread, now, 0);
    }
}

/* A tail call from a hooked function to another: the slot holds the return address of a stub. */
static int is_tail_call(const struct bp_entry *entry, uint64_t sp) {
    const char *ret = *(const char *const *)sp;
    return entry->sp == sp && bp_arch_is_stub_return((uint64_t)ret);
}

struct bp_entry *bp_left_settle_at(struct bp_thread *thread, uint64_t sp, uint64_t now) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    while (entry != &thread->root && !is_tail_call(entry, sp) &&
           !(entry->sp > sp && !(entry->sp & BP_ENTRY_CLOSED))) {
        if (on_own_stack(thread, entry->sp) && !on_own_stack(thread, sp) &&
            !(entry->sp & BP_ENTRY_CLOSED))
            break; /* a handler on its own stack, or a coroutine that this call resumed */
        drop(thread, now);
        entry = bp_thread_innermost(thread);
    }
    return entry;
}

void bp_left_inherited(struct bp_thread *thread, struct bp_entry *entry, uint64_t now) {
    const struct bp_local *local = bp_thread_local(thread);
    while (bp_thread_innermost(thread) != &thread->root &&
           (bp_thread_innermost(thread) != &thread->alias || local->inherited != entry))
        drop(thread, now);
    if (bp_thread_innermost(thread) == &thread->root)
        return;
    bp_call_settle(thread, &thread->alias, now);
    bp_thread_uncover(thread, bp_call_parent(entry));
}

static int is_open(const struct bp_thread *thread, const struct bp_entry *entry) {
    const struct bp_entry *open = bp_thread_innermost(thread);
    while (open != entry && open != &thread->root)
        open = bp_call_parent(open);
    return open == entry;
}

int bp_left_elsewhere(struct bp_thread *thread, struct bp_entry *entry, uint64_t now, int counted) {
    if (is_open(thread, entry)) {
        while (bp_thread_innermost(thread) != entry)
            drop(thread, now);
        return 1;
    }
    /* Opened by another thread, whose coroutine moved here: that thread owns the entry. */
    bp_process.calls_moved = 1;
    uint64_t *calls = bp_light_is(entry)
                          ? &bp_call_node(entry)->untimed
                          : &bp_call_node(entry)->histogram[bp_bucket(now - entry->start)];
    if (counted)
        __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&entry->sp, BP_ENTRY_CLOSED, __ATOMIC_RELAXED);
    return 0;
}

/* Whether what was interrupted at `at` will not go on: the stack is unwound to `sp`. */
static int is_left(const struct bp_thread *thread, uint64_t at, uint64_t sp) {
    if (on_own_stack(thread, at))
        return on_own_stack(thread, sp) && at <= sp;
    return at && (on_own_stack(thread, sp) || (at <= sp && sp - at <= SAME_STACK));
}

/* Whether its frame is gone when the stack is unwound to `sp`. */
static int is_below(const struct bp_thread *thread, const struct bp_entry *entry, uint64_t sp) {
    uint64_t place = bp_jump_place(entry);
    int own = on_own_stack(thread, sp);
    return entry != &thread->root && place <= sp && own == on_own_stack(thread, place) &&
           (own || sp - place <= SAME_STACK);
}

void bp_thread_unwinds(uint64_t to) {
    struct bp_thread *thread = bp_thread_self();
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    if (!thread)
        return;
    if (bp_jump_may_run(thread, sp))
        bp_jump_settle_unwinding(thread, sp, to);
    else
        bp_jump_unwind(thread, BP_JUMP_UNWOUND);
}

void bp_thread_exits(void) {
    struct bp_thread *thread = bp_thread_self();
    bp_thread_unwinds(UINT64_MAX);
    if (!thread || !bp_jump_is(bp_thread_innermost(thread)))
        return;
    uint64_t stopped = bp_pause_enter(thread), now = stopped ? stopped : bp_process_now();
    while (bp_jump_is(bp_thread_innermost(thread)))
        bp_thread_abandon(thread, now);
    bp_pause_leave(thread);
}

/* A call that was jumped to since the unwinding began, as by a destructor or handler. */
static int has_returned(const struct bp_entry *entry) {
    return bp_jump_is(entry) && !(entry->ret & BP_JUMP_UNWOUND);
}

/* The clock is read where it is needed alone: prctl(PR_SET_TSC) may have forbidden it. */
void bp_thread_unwound(uint64_t sp) {
    struct bp_thread *thread = bp_thread_self();
    if (!thread)
        return;
    struct bp_sampled *sampled = bp_thread_local(thread)->sampled;
    if (sampled && is_left(thread, sampled->busy, sp))
        sampled->busy = BP_SAMPLED_LEFT;
    if (is_below(thread, bp_thread_innermost(thread), sp)) {
        uint64_t stopped = bp_pause_enter(thread), now = stopped ? stopped : bp_process_now();
        while (has_returned(bp_thread_innermost(thread)) &&
               is_below(thread, bp_thread_innermost(thread), sp))
            bp_jump_close(thread, bp_thread_innermost(thread), now, 0);
        while (is_below(thread, bp_thread_innermost(thread), sp))
            bp_thread_abandon(thread, now);
        bp_pause_leave(thread);
    }
    bp_jump_unwind(thread, 0);
}
