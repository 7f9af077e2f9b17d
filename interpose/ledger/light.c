/* SPDX-License-Identifier: MIT
 *
 * Which contexts are timed by samples, and what samples say. A handler may run between any two
 * statements, and change the same edge: `left` is written last, and whoever turns an edge back says
 * so in `turned` before.
 */
#include "interpose/ledger/light.h"

#include "interpose/ledger/pause.h"
#include "interpose/ledger/timer.h"

/* Mean distance of samples. 64 leaves a quarter of a nanosecond of a timed call to each. */
#define DISTANCE 64
#define EAGER_DISTANCE 4
/* Timed calls that a context is judged by. */
#define JUDGED_SHIFT 11
#define MOST_SHIFT 28
/* Calls that take less on average are counted only. At 1 us two clock readings are 2 %. */
#define SHORT_NS 1000
/* A call that takes so long turns its context back: a few of them would be missed. */
#define LONG_NS 16000
/* Samples without a long one after which one long call is forgiven. */
#define FORGIVEN 4096

enum bp_light bp_light_on;

static uint64_t ticks_of(uint64_t ns) {
    return bp_process.writer.header->ticks_per_s / 1000 * ns / 1000000;
}

/* Before the rate is known, in calibration, nothing is. */
static int is_long(uint64_t duration) {
    uint64_t least = ticks_of(LONG_NS);
    return least && duration >= least;
}

static uint32_t draw(const struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint32_t x = local->light_random ? local->light_random : 0x9e3779b9u ^ (uint32_t)thread->start;
    x |= x == 0;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    local->light_random = x;
    uint32_t distance = bp_light_on == BP_LIGHT_EAGER ? EAGER_DISTANCE : DISTANCE;
    return 1 + (uint32_t)((uint64_t)x * (2 * distance - 1) >> 32);
}

static void set_left(struct bp_edge *edge, int32_t left) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&edge->left, left, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* All calls are timed until so many have been judged. */
static void time_all(struct bp_edge *edge) {
    int shift = bp_light_on == BP_LIGHT_EAGER ? 0 : JUDGED_SHIFT + edge->patience;
    set_left(edge, INT32_MIN + (1 << shift));
}

static void next_sample(const struct bp_thread *thread, struct bp_edge *edge) {
    set_left(edge, (int32_t)draw(thread));
    if (edge->turned)
        time_all(edge);
}

/* The entry stays the edge's; `busy` has one that never returns. */
static void turn_back(struct bp_edge *edge) {
    if (!edge->turned) {
        edge->turned = 1;
        __atomic_fetch_add(&edge->busy, 1, __ATOMIC_RELAXED);
    }
    edge->patience += JUDGED_SHIFT + edge->patience < MOST_SHIFT;
    edge->good = 0;
    time_all(edge);
}

int bp_light_begin(struct bp_thread *thread, struct bp_edge *edge) {
    if (!edge->entry) {
        struct bp_entry *entry = bp_thread_take(thread);
        if (!entry)
            return 0;
        *entry = (struct bp_entry){.node = edge->node, .source = (uint64_t)edge};
        edge->entry = (uint64_t)entry;
        edge->turned = 1; /* `busy` is 0 */
    }
    set_left(edge, (int32_t)draw(thread));
    if (edge->turned) {
        edge->turned = 0;
        __atomic_fetch_sub(&edge->busy, 1, __ATOMIC_RELAXED);
    }
    return 1;
}

/* Calls that took at least `ticks`; with 0 all that returned. */
static uint64_t count_from(const struct bp_node *node, uint64_t ticks) {
    uint64_t calls = 0;
    for (unsigned b = ticks ? bp_bucket(ticks) : 1; b < BP_BUCKETS; b++)
        calls += node->histogram[b];
    return calls;
}

/* Only the outermost call of its function, by its stub, on a thread that ticks come to. */
static int may_count(const struct bp_thread *thread, const struct bp_edge *edge) {
    const struct bp_stub *stub = (const struct bp_stub *)edge->stub;
    const struct bp_node *node = (const struct bp_node *)edge->node;
    const struct bp_sampled *sampled = ((const struct bp_local *)thread->local)->sampled;
    return bp_light_on && bp_process.clock == BP_CLOCK_TSC && bp_sampling.signal &&
           bp_sampling.period && sampled && sampled->timer && stub->kind == BP_STUB_CALL &&
           stub >= bp_stubs && stub < bp_stubs + BP_STUBS &&
           node->parent == ((const struct bp_node *)edge->parent)->index && !bp_pause_is_on();
}

/* By the calls since the last judgement. */
static void judge(struct bp_thread *thread, struct bp_edge *edge) {
    const struct bp_node *node = (const struct bp_node *)edge->node;
    uint64_t calls = count_from(node, 0), time = node->total + node->inner;
    uint64_t longer = count_from(node, ticks_of(LONG_NS));
    uint64_t new_calls = calls - edge->calls, new_time = time - edge->time;
    int is_short = bp_light_on == BP_LIGHT_EAGER;
    is_short |= new_calls >= 1u << (JUDGED_SHIFT - 1) && longer == edge->longer &&
                node->aborted == edge->aborted &&
                new_time / (new_calls | !new_calls) < ticks_of(SHORT_NS);
    edge->calls = calls;
    edge->time = time;
    edge->longer = (uint32_t)longer;
    edge->aborted = (uint32_t)node->aborted;
    if (!is_short || !may_count(thread, edge) || !bp_light_begin(thread, edge))
        time_all(edge);
}

void bp_light_opened(struct bp_thread *thread, struct bp_edge *edge, struct bp_entry *entry) {
    int32_t left = __atomic_load_n(&edge->left, __ATOMIC_RELAXED);
    if (left == INT32_MIN || (left > 0 && (!edge->entry || edge->turned)))
        judge(thread, edge);
    else if (left == 0 && edge->entry)
        entry->source = (uint64_t)edge;
}

void bp_light_sampled(struct bp_thread *thread, struct bp_edge *edge, uint64_t duration,
                      uint64_t self) {
    struct bp_node *node = (struct bp_node *)edge->node;
    if (is_long(duration)) { /* it has its own time; others are not estimated by it */
        turn_back(edge);
        return;
    }
    node->sampled_self += self;
    node->sampled_squares += self * self;
    node->sampled++;
    if (++edge->good == FORGIVEN) {
        edge->patience -= edge->patience > 0;
        edge->good = 0;
    }
    next_sample(thread, edge);
}

void bp_light_missed(struct bp_thread *thread, struct bp_edge *edge) {
    next_sample(thread, edge);
}

void bp_light_late(struct bp_edge *edge, uint64_t duration) {
    if (is_long(duration))
        turn_back(edge);
}

void bp_light_aborted(struct bp_edge *edge) {
    turn_back(edge);
}

void bp_light_tick(struct bp_thread *thread, uint64_t now) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    for (; entry != &thread->root; entry = (struct bp_entry *)entry->parent) {
        if (!bp_light_is_untimed(entry))
            return;
        now = bp_light_start(entry, now);
        __atomic_store_n(&entry->start, now, __ATOMIC_RELAXED);
    }
}
