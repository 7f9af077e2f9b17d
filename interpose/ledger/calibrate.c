/* SPDX-License-Identifier: MIT
 *
 * What one intercepted call costs here: an empty function is called through a stub on a ledger
 * that is in no file. The part between the two clock readings lands in the callee's time, the rest
 * in the caller's; reports subtract both. And what the constructor itself cost.
 */
#include "interpose/ledger/calibrate.h"

#include <string.h>

#include "interpose/ledger/light.h"
#include "profile/clock.h"

/* 15 us in all; three times as many calls gave the same figures within a tick or two. */
#define BATCHES 5
#define FAST_CALLS 64
#define SLOW_CALLS 16
#define SAMPLED_CALLS 128
#define SAMPLED_DISTANCE 8

static void nothing(void) {
    __asm__ volatile("");
}

struct cost {
    uint32_t inside, outside; /* 1/256 ticks a call */
};

/* Another target than that. */
static void nothing_else(void) {
    __asm__ volatile("" : : "r"(0));
}

static uint64_t run(void (*volatile function)(void), unsigned calls) {
    uint64_t start = bp_clock_now(bp_process.clock);
    for (unsigned i = 0; i < calls; i++)
        function();
    return bp_clock_now(bp_process.clock) - start;
}

static uint64_t smallest(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The least disturbed of several batches; zeros without memory. */
static struct cost measure(struct bp_thread *thread, struct bp_stub *stub, const char *code,
                           unsigned calls) {
    uint64_t bare = UINT64_MAX, whole = UINT64_MAX, within = UINT64_MAX;
    void (*through)(void) = (void (*)(void))(code + (stub - bp_stubs) * BP_STUB_CODE_SIZE);
    struct bp_thread *self = bp_self;
    for (int i = 0; i < BATCHES; i++) {
        struct bp_node *node = bp_node_get(thread, thread->root.node, stub);
        if (!node)
            return (struct cost){0, 0};
        uint64_t before = node->total;
        bp_self = thread;
        whole = smallest(whole, run(through, calls));
        bp_self = self;
        within = smallest(within, node->total - before);
        bare = smallest(bare, run(nothing, calls));
    }
    struct cost cost = {0, 0};
    if (within > bare)
        cost.inside = (uint32_t)((within - bare) * 256 / calls);
    if (whole > within)
        cost.outside = (uint32_t)((whole - within) * 256 / calls);
    return cost;
}

/* A call that is only counted, as the edge is: what it costs. */
static uint32_t measure_counted(struct bp_thread *thread, struct bp_edge *edge,
                                void (*through)(void)) {
    uint64_t bare = UINT64_MAX, whole = UINT64_MAX;
    struct bp_thread *self = bp_self;
    for (int i = 0; i < BATCHES; i++) {
        edge->left = INT32_MAX;
        bp_self = thread;
        whole = smallest(whole, run(through, FAST_CALLS));
        bp_self = self;
        bare = smallest(bare, run(nothing, FAST_CALLS));
    }
    return whole > bare ? (uint32_t)((whole - bare) * 256 / FAST_CALLS) : 0;
}

/* What a sample costs, among calls that are only counted. */
static struct cost measure_sampled(struct bp_thread *thread, struct bp_edge *edge,
                                   void (*through)(void), uint32_t counted) {
    uint64_t bare = UINT64_MAX, within = UINT64_MAX, outside = UINT64_MAX; /* 1/256 ticks a call */
    const struct bp_node *node = (const struct bp_node *)edge->node;
    struct bp_thread *self = bp_self;
    for (int i = 0; i < BATCHES; i++) {
        uint64_t calls = node->sampled, time = node->sampled_self;
        uint64_t weight = node->sampled_weight;
        if (!bp_light_begin(thread, edge, SAMPLED_DISTANCE))
            return (struct cost){0, 0};
        bp_self = thread;
        uint64_t whole = run(through, SAMPLED_CALLS) * 256;
        bp_self = self;
        bare = smallest(bare, run(nothing, SAMPLED_CALLS) * 256 / SAMPLED_CALLS);
        calls = node->sampled - calls;
        if (!calls)
            continue;
        time = (node->sampled_self - time) * 256 / ((node->sampled_weight - weight) / calls);
        uint64_t others = (SAMPLED_CALLS - calls) * (bare + counted) + time;
        within = smallest(within, time / calls);
        outside = smallest(outside, whole > others ? (whole - others) / calls : 0);
    }
    if (within == UINT64_MAX)
        return (struct cost){0, 0};
    return (struct cost){within > bare ? (uint32_t)(within - bare) : 0, (uint32_t)outside};
}

static uint64_t total_of(struct bp_edge *const edges[2]) {
    return ((const struct bp_node *)edges[0]->node)->total +
           ((const struct bp_node *)edges[1]->node)->total;
}

/* All calls are samples, of one target, or of two by chance: what that takes more for a call with
 * another target than the call before, which are half of them. */
static uint32_t measure_other(struct bp_thread *thread, struct bp_edge *const edges[2]) {
    uint64_t within[2] = {UINT64_MAX, UINT64_MAX};
    struct bp_thread *self = bp_self;
    uint32_t chance = 1;
    for (int i = 0; i < 2 * BATCHES; i++) {
        uint64_t before = total_of(edges);
        if (!bp_light_begin(thread, edges[0], 1) || !bp_light_begin(thread, edges[1], 1))
            return 0;
        bp_self = thread;
        for (unsigned n = 0; n < FAST_CALLS; n++) {
            chance = chance >> 1 ^ (chance & 1 ? 0xb4bcd35cu : 0); /* Galois */
            const struct bp_stub *stub = (const struct bp_stub *)edges[i & chance & 1]->stub;
            ((void (*)(void))(bp_stubs_fast + (stub - bp_stubs) * BP_STUB_CODE_SIZE))();
        }
        bp_self = self;
        within[i & 1] = smallest(within[i & 1], total_of(edges) - before);
    }
    uint64_t more = within[1] > within[0] ? within[1] - within[0] : 0;
    return (uint32_t)(more * 256 / (FAST_CALLS / 2));
}

static void measure_adaptive(struct bp_thread *thread, struct bp_stub *stubs) {
    struct bp_header *header = bp_process.writer.header;
    struct bp_edge *const edges[] = {bp_edge_get(thread, thread->root.node, &stubs[0]),
                                     bp_edge_get(thread, thread->root.node, &stubs[1])};
    void (*through)(void) =
        (void (*)(void))(bp_stubs_fast + (stubs - bp_stubs) * BP_STUB_CODE_SIZE);
    if (!edges[0] || !edges[1] || !bp_light_begin(thread, edges[0], SAMPLED_DISTANCE))
        return;
    header->untimed = measure_counted(thread, edges[0], through);
    edges[0]->counted = BP_EDGE_JUMPED;
    header->jumped = measure_counted(thread, edges[0], through);
    edges[0]->counted = BP_EDGE_COUNTED;
    struct cost sampled = measure_sampled(thread, edges[0], through, header->untimed);
    header->sampled_inside = sampled.inside;
    header->sampled_outside = sampled.outside;
    header->sampled_other = measure_other(thread, edges);
}

/* Less than this without a CPU is not worth asking for. */
#define QUEUED_NS 500000

static struct {
    uint64_t ticks;
    uint64_t cpu_ns;
} moments[BP_STARTUP_MOMENTS];

static uint64_t off_cpu_ns(enum bp_startup from, enum bp_startup to) {
    uint64_t ns = bp_ticks_to_ns(moments[to].ticks - moments[from].ticks);
    uint64_t cpu = moments[to].cpu_ns - moments[from].cpu_ns;
    return ns > cpu ? ns - cpu : 0;
}

/* Where the constructor was off its CPU it may have waited for a disk, which is its cost, or for a
 * CPU, which the program would have had to wait for a moment later. */
static void note_startup(struct bp_header *header) {
    uint64_t before = off_cpu_ns(BP_STARTUP_BEGIN, BP_STARTUP_THREAD);
    uint64_t after = off_cpu_ns(BP_STARTUP_THREAD, BP_STARTUP_END);
    uint64_t queued = before + after > QUEUED_NS ? bp_thread_queued_ns() : 0;
    uint64_t per_us = header->ticks_per_s / 1000000;
    after = smallest(after, queued);
    before = smallest(before, queued - after);
    header->startup = moments[BP_STARTUP_END].ticks - header->start;
    header->startup_queued[0] = before / 1000 * per_us;
    header->startup_queued[1] = after / 1000 * per_us;
}

/* The CPU clock first: to read it is where the thread may lose its CPU. */
void bp_startup_mark(enum bp_startup moment) {
    moments[moment].cpu_ns = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    moments[moment].ticks = bp_clock_now(bp_process.clock);
    if (moment == BP_STARTUP_END)
        note_startup(bp_process.writer.header);
}

static void measure_all(void) {
    uint64_t mask = bp_signals_block();
    struct bp_thread *thread = bp_thread_scratch();
    if (thread) {
        struct bp_header *header = bp_process.writer.header;
        struct bp_stub *stubs = &bp_stubs[BP_STUBS - BP_CALIBRATION_STUBS];
        stubs[0] = (struct bp_stub){(uint64_t)nothing, BP_FUNCTIONS - 1, BP_STUB_CALL};
        stubs[1] = (struct bp_stub){(uint64_t)nothing, BP_FUNCTIONS - 2, BP_STUB_WAIT};
        stubs[2] = (struct bp_stub){(uint64_t)nothing, BP_FUNCTIONS - 3, BP_STUB_CALL};
        stubs[3] = (struct bp_stub){(uint64_t)nothing_else, BP_FUNCTIONS - 4, BP_STUB_CALL};
        struct cost slow = measure(thread, &stubs[1], bp_stubs_slow, SLOW_CALLS);
        struct cost fast = bp_process.clock == BP_CLOCK_TSC
                               ? measure(thread, &stubs[0], bp_stubs_fast, FAST_CALLS)
                               : slow;
        header->inside = fast.inside;
        header->outside = fast.outside;
        header->slow_inside = slow.inside;
        header->slow_outside = slow.outside;
        if (bp_light_on && bp_process.clock == BP_CLOCK_TSC)
            measure_adaptive(thread, &stubs[2]);
        bp_thread_scratch_free(thread);
    }
    bp_signals_restore(mask);
}

/* `inside` comes last and is looked at first: whoever finds it finds the others. Two processes that
 * measure at once may leave some of each. */
static void copy_costs(struct bp_header *to, const struct bp_header *from) {
    to->outside = from->outside;
    to->slow_inside = from->slow_inside;
    to->slow_outside = from->slow_outside;
    to->untimed = from->untimed;
    to->jumped = from->jumped;
    to->sampled_inside = from->sampled_inside;
    to->sampled_outside = from->sampled_outside;
    to->sampled_other = from->sampled_other;
    __atomic_store_n(&to->inside, from->inside, __ATOMIC_RELEASE);
}

/* By a library that is the same and does the same: a tree has one clock. */
static int has_costs(const struct bp_header *tree) {
    return __atomic_load_n(&tree->inside, __ATOMIC_ACQUIRE) &&
           memcmp(tree->version, BP_VERSION, sizeof BP_VERSION) == 0 &&
           (tree->untimed != 0) == (bp_light_on && bp_process.clock == BP_CLOCK_TSC);
}

void bp_calibrate(struct bp_header *tree) {
    struct bp_header *header = bp_process.writer.header;
    if (tree && has_costs(tree)) {
        copy_costs(header, tree);
        return;
    }
    measure_all();
    if (tree && !tree->inside)
        copy_costs(tree, header);
}
