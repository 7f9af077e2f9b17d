/* SPDX-License-Identifier: MIT
 *
 * The state of the process is one of two records, of which the other is written; curtains are drawn
 * by who stops or starts; what a thread missed it takes out of its calls itself. pause.h tells how
 * these go together, docs/internals/pause.md why.
 */
#include "interpose/ledger/pause.h"

#include "interpose/ledger/call.h"
#include "interpose/ledger/light.h"
#include "profile/tree.h"

/* How often it is looked whether a curtain stays: a stub on another CPU needs some 20 ns to the
 * store that may remove it. */
#define DRAWS 100
#define DEEPEST 1000000 /* open calls of a thread that are looked at */

struct pause {
    uint64_t since;   /* ticks; 0: the process is recorded */
    uint64_t total;   /* ticks of the pauses that are over */
    uint64_t v;       /* by which tree.v grew in them */
    uint64_t since_v; /* tree.v at `since` */
};

/* The state of number n is in n % 2: whoever changes it writes the other one. */
static struct pause states[2];
static struct bp_stub paused = {.kind = BP_STUB_CALL};

uint32_t bp_pause_number;
struct bp_lock bp_pause_lock;

void bp_pause_init(uint32_t function) {
    paused.func = function;
}

static struct pause read_state(uint32_t *number) {
    struct pause pause;
    do {
        *number = __atomic_load_n(&bp_pause_number, __ATOMIC_ACQUIRE);
        const struct pause *from = &states[*number & 1];
        pause.since = __atomic_load_n(&from->since, __ATOMIC_RELAXED);
        pause.total = __atomic_load_n(&from->total, __ATOMIC_RELAXED);
        pause.v = __atomic_load_n(&from->v, __ATOMIC_RELAXED);
        pause.since_v = __atomic_load_n(&from->since_v, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&bp_pause_number, __ATOMIC_RELAXED) != *number);
    return pause;
}

static void publish(const struct pause *pause) {
    struct bp_header *header = bp_process.writer.header;
    struct pause *place = &states[(bp_pause_number + 1) & 1];
    __atomic_store_n(&place->since, pause->since, __ATOMIC_RELAXED);
    __atomic_store_n(&place->total, pause->total, __ATOMIC_RELAXED);
    __atomic_store_n(&place->v, pause->v, __ATOMIC_RELAXED);
    __atomic_store_n(&place->since_v, pause->since_v, __ATOMIC_RELAXED);
    __atomic_store_n(&bp_pause_number, bp_pause_number + 1, __ATOMIC_SEQ_CST);
    header->paused = pause->total;
    header->paused_v = pause->v;
    header->paused_since_v = pause->since_v;
    __atomic_store_n(&header->paused_since, pause->since, __ATOMIC_RELEASE);
}

/* A curtain before the call `entry`: it has its node, for who asks where the thread is. */
static void hang(struct bp_entry *curtain, uint64_t entry) {
    curtain->node = ((const struct bp_entry *)entry)->node;
    curtain->parent = entry;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void bp_pause_draw(struct bp_thread *thread) {
    if (bp_thread_is_curtain(thread, thread->current))
        return;
    hang(&thread->curtain[0], thread->current);
    __atomic_store_n(&thread->current, (uint64_t)&thread->curtain[0], __ATOMIC_RELEASE);
}

/* The second curtain changes only while it is not drawn, and none but us draws it: whoever finds it
 * drawn may follow it. */
void bp_pause_draw_for(struct bp_thread *thread) {
    for (int i = 0; i < DRAWS; i++) {
        uint64_t current = __atomic_load_n(&thread->current, __ATOMIC_ACQUIRE);
        if (bp_thread_is_curtain(thread, current))
            continue;
        hang(&thread->curtain[1], current);
        __atomic_compare_exchange_n(&thread->current, &current, (uint64_t)&thread->curtain[1], 0,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
}

/* The thread after `thread` that lives, with the process lock held; the first behind NULL. */
static struct bp_thread *next_live(struct bp_chunk **chunk, struct bp_thread *thread) {
    for (; *chunk; *chunk = (struct bp_chunk *)(*chunk)->links[0], thread = NULL) {
        struct bp_thread *threads = bp_chunk_items(*chunk);
        thread = thread ? thread + 1 : threads;
        for (; (*chunk)->kind == BP_THREADS && thread < threads + (*chunk)->count; thread++)
            if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == BP_THREAD_LIVE)
                return thread;
    }
    return NULL;
}

static void draw_all(void) {
    bp_lock_inner(&bp_process.lock);
    struct bp_chunk *chunk = bp_process.writer.chunks;
    for (struct bp_thread *t = NULL; (t = next_live(&chunk, t)) != NULL;)
        bp_pause_draw_for(t);
    bp_unlock_inner(&bp_process.lock);
}

/* Where a thread is that is not stopped: entries are never given back to the kernel, so what is
 * read may be old, and is bounded. */
static int has_open(const struct bp_thread *thread, int (*is)(uint32_t func, const void *argument),
                    const void *argument) {
    const struct bp_entry *entry = bp_thread_innermost(thread);
    for (uint32_t i = 0; i < DEEPEST && entry != &thread->root; i++) {
        if (is(((const struct bp_node *)entry->node)->func, argument))
            return 1;
        entry = (const struct bp_entry *)entry->parent;
    }
    return 0;
}

int bp_pause_has_open(int (*is)(uint32_t func, const void *argument), const void *argument) {
    int found = 0;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk = bp_process.writer.chunks;
    for (struct bp_thread *t = NULL; !found && (t = next_live(&chunk, t)) != NULL;)
        found = has_open(t, is, argument);
    bp_unlock(&bp_process.lock, mask);
    return found;
}

/* The wall page, brought to `now`. */
static struct bp_tree_step look_at_page(uint64_t now) {
    struct bp_tree_step none = {0, 0};
    if (!bp_process.tree || !bp_process.slot || bp_process.tree_off)
        return none;
    return bp_tree_advance(bp_process.tree, now, 0);
}

void bp_pause_begin(uint64_t now) {
    uint32_t number;
    struct pause pause = read_state(&number);
    struct bp_tree_step page = look_at_page(now);
    pause.since = now;
    pause.since_v = page.v;
    if (bp_self)
        bp_self->idle += page.idle;
    bp_process.writer.header->pauses++;
    publish(&pause);
    draw_all();
}

void bp_pause_end(uint64_t now) {
    uint32_t number;
    struct pause pause = read_state(&number);
    struct bp_tree_step page = look_at_page(now);
    uint64_t before = bp_pause_idle(page.idle, now);
    if (bp_self)
        bp_self->idle += before;
    pause.total += now > pause.since ? now - pause.since : 0;
    pause.v += page.v > pause.since_v ? page.v - pause.since_v : 0;
    pause.since = pause.since_v = 0;
    publish(&pause);
    draw_all();
}

void bp_pause_after_fork(uint64_t now) {
    struct bp_header *header = bp_process.writer.header;
    struct pause pause = {.since = bp_pause_is_on() ? now : 0};
    if (pause.since)
        pause.since_v = look_at_page(now).v;
    states[bp_pause_number & 1] = pause;
    header->paused = header->paused_v = header->paused_idle = 0;
    header->paused_since_v = pause.since_v;
    header->paused_since = pause.since;
    header->pauses = pause.since != 0;
}

/* For so long the thread was in none of its calls: its root has the time as that of a child. */
static void take_out(struct bp_thread *thread, uint64_t ticks) {
    struct bp_node *node = ticks ? bp_node_get(thread, thread->root.node, &paused) : NULL;
    if (!node)
        return;
    for (struct bp_entry *e = bp_thread_innermost(thread); e != &thread->root;
         e = (struct bp_entry *)e->parent)
        e->start += bp_light_is_untimed(e) ? 0 : ticks;
    thread->root.child += ticks;
    node->self += ticks;
    node->total += ticks;
}

/* The last instant that the thread's entries know of. */
static uint64_t last_trace(const struct bp_thread *thread) {
    const struct bp_entry *entry = bp_thread_innermost(thread);
    uint64_t child = entry->child;
    for (; bp_light_is_untimed(entry); child += entry->child)
        entry = (const struct bp_entry *)entry->parent;
    return entry->start + child;
}

/* What the thread missed of pauses that are over. What it did meanwhile, before it took notice, is
 * counted and stays. */
static void catch_up(struct bp_thread *thread, const struct pause *pause) {
    uint64_t until = pause->since ? pause->since : bp_process_now(), trace = last_trace(thread);
    uint64_t room = until > trace ? until - trace : 0;
    uint64_t missed = pause->total > thread->paused_seen ? pause->total - thread->paused_seen : 0;
    take_out(thread, missed < room ? missed : room);
    thread->paused_seen = pause->total;
    trace = last_trace(thread);
    if (pause->since && trace > pause->since)
        thread->paused_seen += trace - pause->since;
}

uint64_t bp_pause_settle(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint32_t number;
    struct pause pause = read_state(&number);
    if (local->pause_number != number)
        catch_up(thread, &pause);
    local->pause_number = number;
    return pause.since ? pause.since + (thread->paused_seen - pause.total) : 0;
}

void bp_pause_thread_begin(struct bp_thread *thread, uint64_t now) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint32_t number;
    struct pause pause = read_state(&number);
    thread->paused_seen = pause.total;
    if (pause.since && now > pause.since)
        thread->paused_seen += now - pause.since;
    local->pause_number = number;
    bp_pause_leave(thread);
}

void bp_pause_thread_end(struct bp_thread *thread, uint64_t now) {
    uint64_t stopped = bp_pause_settle(thread), trace = last_trace(thread);
    if (stopped && stopped < trace)
        stopped = trace;
    if (stopped && now > stopped)
        take_out(thread, now - stopped);
}

static uint64_t paused_v(const struct pause *pause, uint64_t v) {
    return pause->v + (pause->since && v > pause->since_v ? v - pause->since_v : 0);
}

void bp_pause_busy(struct bp_thread *thread, uint64_t v, int ends) {
    uint32_t number = __atomic_load_n(&bp_pause_number, __ATOMIC_RELAXED);
    if (!number)
        return;
    struct pause pause = read_state(&number);
    uint64_t seen = paused_v(&pause, v);
    if (ends && seen > thread->paused_seen_v)
        thread->paused_v += seen - thread->paused_seen_v;
    thread->paused_seen_v = seen;
}

uint64_t bp_pause_idle(uint64_t idle, uint64_t now) {
    uint32_t number;
    if (!bp_pause_is_on())
        return idle;
    struct pause pause = read_state(&number);
    uint64_t in_it = pause.since && now > pause.since ? now - pause.since : 0;
    uint64_t taken = idle < in_it ? idle : in_it;
    __atomic_fetch_add(&bp_process.writer.header->paused_idle, taken, __ATOMIC_RELAXED);
    return idle - taken;
}
