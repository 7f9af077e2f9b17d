/* SPDX-License-Identifier: MIT */
#include "interpose/ledger/jump.h"

#include "interpose/ledger/call.h"
#include "interpose/ledger/pause.h"

/* Walks of the stack for an edge in vain, after which its calls have entries: 1 to 2 us each. */
#define MOST_ALARMS 16
/* Open calls that it is noted in that the stack is unwound: catches are mostly near. */
#define MOST_UNWOUND 64
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
    bp_thread_local(thread)->watch = (struct bp_watch){slot, edge->target, edge->entry, 0};
}

/* Nothing any more; whether it was met. */
static int unwatch(struct bp_thread *thread) {
    struct bp_watch *watched = &bp_thread_local(thread)->watch;
    int met = watched->met != 0;
    *watched = (struct bp_watch){.slot = 0};
    return met;
}

/* Looks from here on outwards. */
static int is_running(struct bp_thread *thread, const struct bp_edge *edge, uint64_t slot) {
    if (!has_stack(thread, ROOM))
        return 0;
    watch(thread, edge, slot);
    bp_arch_before_preserving();
    bp_call_preserving(bp_process.look, thread);
    return unwatch(thread);
}

/* The function is open only where a sample of it, the first that makes a call, has come back to
 * it: then the entry is not free, and what is called from here is its caller's. */
static void open_jumped(struct bp_thread *thread, struct bp_edge *edge, uint64_t slot) {
    struct bp_entry *entry = (struct bp_entry *)edge->entry;
    uint32_t *open = (uint32_t *)edge->open;
    if (*open || edge->kept)
        return;
    *open = 1;
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

/* Or it cannot be seen from this stack: then its calls have entries from now on. */
static void found_nothing(const struct bp_thread *thread, struct bp_edge *edge) {
    edge->alarms = has_stack(thread, ROOM) ? (uint8_t)(edge->alarms + 1) : MOST_ALARMS;
    if (edge->alarms >= MOST_ALARMS)
        bp_jump_end(edge);
}

void bp_jump_unwind(struct bp_thread *thread, uint64_t flag) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    for (unsigned i = 0; i < MOST_UNWOUND && entry != &thread->root; i++) {
        if (bp_jump_is(entry))
            entry->ret = bp_jump_place(entry) | flag;
        entry = bp_call_parent(entry);
    }
}

/* The clock is read before signals are blocked: prctl(PR_SET_TSC) may have forbidden it, and the
 * fault must reach its handler. */
static struct bp_entry *settle(struct bp_thread *thread, uint64_t sp, uint64_t flag) {
    uint64_t now = bp_jump_is(bp_thread_innermost(thread)) ? bp_process_now() : 0;
    uint64_t mask = bp_signals_block(), slot = thread->jumped;
    struct bp_entry *entry = bp_thread_innermost(thread);
    struct bp_edge *edge = (struct bp_edge *)thread->jumped_edge;
    thread->jumped = 0;
    if (slot > sp && edge->parent == entry->node) {
        if (is_running(thread, edge, slot))
            found_running(thread, edge, slot);
        else
            found_nothing(thread, edge);
    }
    while (bp_jump_is(entry) && (bp_jump_place(entry) <= sp ||
                                 !is_running(thread, bp_light_edge(entry), bp_jump_place(entry)))) {
        bp_jump_close(thread, entry, now, (int)(entry->ret & BP_JUMP_UNWOUND));
        entry = bp_thread_innermost(thread);
    }
    entry = bp_thread_innermost(thread);
    if (flag)
        bp_jump_unwind(thread, flag);
    bp_signals_restore(mask);
    return entry;
}

struct bp_entry *bp_jump_settle(struct bp_thread *thread, uint64_t sp) {
    return settle(thread, sp, 0);
}

/* No handler comes between, whose calls would be taken for open ones. */
void bp_jump_settle_unwinding(struct bp_thread *thread, uint64_t sp) {
    settle(thread, sp, BP_JUMP_UNWOUND);
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
    unwatch(thread);
    if (bp_jump_is(entry))
        watch(thread, bp_light_edge(entry), bp_jump_place(entry));
    else if (thread->jumped && edge->parent == entry->node && !*(const uint32_t *)edge->open)
        watch(thread, edge, thread->jumped);
}

int bp_jump_met(struct bp_thread *thread) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    int met = unwatch(thread);
    int closed = bp_jump_is(entry) && !met;
    if (closed)
        bp_jump_close(thread, entry, entry->rbx, 0);
    else if (!bp_jump_is(entry) && met)
        open_jumped(thread, (struct bp_edge *)thread->jumped_edge, thread->jumped);
    thread->jumped = 0;
    return !closed || !bp_jump_is(bp_thread_innermost(thread));
}

void bp_jump_tick_over(struct bp_thread *thread) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    uint64_t now = bp_process_now();
    if (!bp_jump_is(entry))
        return;
    if (!entry->rbx)
        entry->start = now;
    entry->rbx = now;
}
