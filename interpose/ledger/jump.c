/* SPDX-License-Identifier: MIT
 *
 * First when stubs jump, then looking for a call by a walk of the stack, then entries that are
 * given and taken late: by calls from within, before the stack is unwound, after fork, and by
 * ticks.
 */
#include "interpose/ledger/jump.h"

#include "interpose/ledger/call.h"
#include "interpose/ledger/pause.h"

/* Walks of the stack for an edge in vain, after which its calls have entries: 1 to 2 us each. */
#define MOST_ALARMS 16
/* Walks that found a late entry's call running, after which its return address says so. */
#define ENOUGH_FOUND 16
/* Open calls that it is noted in that the stack is unwound, or when they were seen: catches are
 * mostly near. */
#define MOST_SEEN 64
/* Bytes of stack for the walk below a stub, and for the vector registers that are kept there. */
#define ROOM (16u << 10)

static struct bp_node *node_of(const struct bp_edge *edge) {
    return (struct bp_node *)edge->node;
}

/* Whether the caller is on a stack that stays, with so many bytes left. The stack of a coroutine
 * may be gone when the stub looks at it, one for signal handlers may be small, and of a thread that
 * was met late the bounds are guessed. */
static int has_stack(const struct bp_thread *thread, uint64_t room) {
    const struct bp_local *local = bp_thread_local(thread);
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return !thread->late && here >= local->stack_low + room && here < local->stack_high;
}

/* Whether it is in a part of the thread's own stack that was used: that stays. */
static int is_own(const struct bp_thread *thread, uint64_t place) {
    const struct bp_local *local = bp_thread_local(thread);
    return !thread->late && place >= local->stack_low && place < local->stack_high;
}

void bp_jump_begin(struct bp_edge *edge) {
    struct bp_node *node = node_of(edge);
    if (!bp_process.look || node->edges || node->jumping || edge->alarms >= MOST_ALARMS ||
        bp_process.copies_stacks || bp_light_on == BP_LIGHT_EAGER ||
        !has_stack((const struct bp_thread *)edge->thread, 0))
        return;
    node->jumped -= node->untimed;
    node->jumping = 1;
    edge->counted = BP_EDGE_JUMPED;
}

void bp_jump_end(struct bp_edge *edge) {
    struct bp_node *node = node_of(edge);
    if (edge->counted != BP_EDGE_JUMPED)
        return;
    edge->counted = BP_EDGE_COUNTED;
    node->jumping = 0;
    node->jumped += node->untimed;
}

/* The call of the edge whose return address is at `slot`. */
static void watch(struct bp_thread *thread, const struct bp_edge *edge, uint64_t slot) {
    bp_thread_local(thread)->watch =
        (struct bp_watch){.slot = slot, .start = edge->target, .entry = edge->entry};
}

/* What a walk has found of it, and that nothing is looked for any more. Where a handler runs it is
 * unknown, and beyond the end of a walk there may be one. But what is to be unwound up to `to`, and
 * the call with it, does not go on. */
enum found { RETURNED, RUNNING, UNKNOWN };

static enum found unwatch(struct bp_thread *thread, uint64_t to) {
    struct bp_watch *watched = &bp_thread_local(thread)->watch;
    enum found found = watched->met ? RUNNING : RETURNED;
    int left = watched->met && watched->slot < to;
    if (!left && (watched->handler || (watched->met && !watched->whole)))
        found = UNKNOWN;
    *watched = (struct bp_watch){.slot = 0};
    return found;
}

/* Looks from here on outwards. */
static enum found look(struct bp_thread *thread, const struct bp_edge *edge, uint64_t slot,
                       uint64_t to) {
    if (!has_stack(thread, ROOM))
        return UNKNOWN;
    watch(thread, edge, slot);
    bp_arch_before_preserving();
    bp_call_preserving(bp_process.look, thread);
    return unwatch(thread, to);
}

/* The function is open only where a sample of it, the first that makes a call, has come back to
 * it: then the entry is not free, and what is called from here is its caller's. */
static void open_jumped(struct bp_thread *thread, struct bp_edge *edge, uint64_t slot) {
    struct bp_entry *entry = (struct bp_entry *)edge->entry;
    uint32_t *open = (uint32_t *)edge->open;
    if (*open || edge->kept)
        return;
    *open = 1;
    bp_thread_local(thread)->late =
        (struct bp_late){.entry = entry, .ret = is_own(thread, slot) ? *(uint64_t *)slot : 0};
    *entry = (struct bp_entry){.ret = slot,
                               .start = BP_ENTRY_UNTIMED,
                               .parent = (uint64_t)bp_thread_innermost(thread),
                               .node = edge->node,
                               .source = (uint64_t)edge};
    bp_thread_uncover(thread, entry);
}

void bp_jump_close(struct bp_thread *thread, struct bp_entry *entry, uint64_t now, int aborted) {
    struct bp_edge *edge = bp_light_edge(entry);
    uint64_t start = entry->start, seen = entry->rbx;
    bp_call_settle(thread, entry, seen);
    node_of(edge)->untimed -= (uint64_t)aborted;
    node_of(edge)->aborted += (uint64_t)aborted;
    bp_thread_uncover(thread, bp_call_parent(entry));
    bp_light_rest(entry);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(uint32_t *)edge->open = 0;
    if (aborted)
        bp_light_aborted(edge);
    else if (seen && now > start)
        bp_light_late(edge, now - start);
}

/* The edge's function makes calls after all. */
static void found_running(struct bp_thread *thread, struct bp_edge *edge, uint64_t slot) {
    bp_jump_end(edge);
    open_jumped(thread, edge, slot);
}

/* The edge's calls have entries from now on, if nothing can be said from this stack. */
static void found_nothing(struct bp_edge *edge, enum found found) {
    edge->alarms = found == UNKNOWN ? MOST_ALARMS : (uint8_t)(edge->alarms + 1);
    if (edge->alarms >= MOST_ALARMS)
        bp_jump_end(edge);
}

void bp_jump_unwind(struct bp_thread *thread, uint64_t flag) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    for (unsigned i = 0; i < MOST_SEEN && entry != &thread->root; i++) {
        if (bp_jump_is(entry))
            entry->ret = bp_jump_place(entry) | flag;
        entry = bp_call_parent(entry);
    }
}

/* A call that was jumped to last, and is not open. */
static void settle_last(struct bp_thread *thread, uint64_t sp, uint64_t to) {
    struct bp_edge *edge = (struct bp_edge *)thread->jumped_edge;
    uint64_t slot = thread->jumped;
    if (slot <= sp || edge->parent != bp_thread_innermost(thread)->node)
        return;
    enum found found = look(thread, edge, slot, to);
    if (found == RUNNING)
        found_running(thread, edge, slot);
    else
        found_nothing(edge, found);
}

/* A call that makes many others needs no walk for each. */
static int goes_on(struct bp_thread *thread, const struct bp_entry *entry, uint64_t sp) {
    const struct bp_late *late = &bp_thread_local(thread)->late;
    uint64_t slot = bp_jump_place(entry);
    return bp_jump_is(entry) && late->entry == entry && late->found >= ENOUGH_FOUND && slot > sp &&
           late->ret && *(uint64_t *)slot == late->ret;
}

static enum found look_again(struct bp_thread *thread, struct bp_entry *entry, uint64_t to) {
    struct bp_late *late = &bp_thread_local(thread)->late;
    enum found found = look(thread, bp_light_edge(entry), bp_jump_place(entry), to);
    late->found += late->entry == entry && found == RUNNING;
    return found;
}

/* Those that are open, from the innermost on, until one runs. */
static void settle_open(struct bp_thread *thread, uint64_t now, uint64_t to) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    while (bp_jump_is(entry) && look_again(thread, entry, to) == RETURNED) {
        bp_jump_close(thread, entry, now, (int)(entry->ret & BP_JUMP_UNWOUND));
        entry = bp_thread_innermost(thread);
    }
}

/* The clock is read before signals are blocked: prctl(PR_SET_TSC) may have forbidden it, and the
 * fault must reach its handler. */
static void settle(struct bp_thread *thread, uint64_t sp, uint64_t flag, uint64_t to) {
    uint64_t now = bp_jump_is(bp_thread_innermost(thread)) ? bp_process_now() : 0;
    uint64_t mask = bp_signals_block();
    if (bp_jump_is(bp_thread_innermost(thread)))
        settle_open(thread, now, to);
    else
        settle_last(thread, sp, to);
    thread->jumped = 0;
    if (flag)
        bp_jump_unwind(thread, flag);
    bp_signals_restore(mask);
}

void bp_jump_settle(struct bp_thread *thread, uint64_t sp) {
    if (!goes_on(thread, bp_thread_innermost(thread), sp))
        settle(thread, sp, 0, 0);
}

/* No handler comes between, whose calls would be taken for open ones. */
void bp_jump_settle_unwinding(struct bp_thread *thread, uint64_t sp, uint64_t to) {
    settle(thread, sp, BP_JUMP_UNWOUND, to);
}

struct bp_entry *bp_jump_forget(struct bp_entry *entry) {
    while (bp_jump_is(entry)) {
        *(uint32_t *)bp_light_edge(entry)->open = 0;
        bp_light_rest(entry);
        entry = bp_call_parent(entry);
    }
    return entry;
}

void bp_jump_watch(struct bp_thread *thread) {
    const struct bp_entry *entry = bp_thread_innermost(thread);
    const struct bp_edge *edge = (const struct bp_edge *)thread->jumped_edge;
    unwatch(thread, 0);
    if (bp_jump_is(entry))
        watch(thread, bp_light_edge(entry), bp_jump_place(entry));
    else if (thread->jumped && edge->parent == entry->node && !*(const uint32_t *)edge->open)
        watch(thread, edge, thread->jumped);
}

int bp_jump_met(struct bp_thread *thread) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    enum found found = unwatch(thread, 0);
    int closed = bp_jump_is(entry) && found == RETURNED;
    if (closed)
        bp_jump_close(thread, entry, entry->rbx, 0);
    else if (!bp_jump_is(entry) && found == RUNNING)
        open_jumped(thread, (struct bp_edge *)thread->jumped_edge, thread->jumped);
    if (found != UNKNOWN)
        thread->jumped = 0;
    bp_thread_local(thread)->watch.met = found == RUNNING;
    return !closed || !bp_jump_is(bp_thread_innermost(thread));
}

/* Calls that have open ones within run, too. */
void bp_jump_tick_over(struct bp_thread *thread) {
    struct bp_entry *innermost = bp_thread_innermost(thread), *entry = innermost;
    uint64_t now = bp_process_now();
    int met = bp_thread_local(thread)->watch.met;
    bp_thread_local(thread)->watch.met = 0;
    for (unsigned i = 0; i < MOST_SEEN && entry != &thread->root; i++) {
        if (bp_jump_is(entry) && (met || entry != innermost)) {
            entry->start = entry->rbx ? entry->start : now;
            entry->rbx = now;
        }
        entry = bp_call_parent(entry);
    }
}
