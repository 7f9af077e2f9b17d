/* SPDX-License-Identifier: MIT
 *
 * Which contexts are timed by samples, and what samples say. A handler may run between any two
 * statements, and change the same edge: `left` is written last, and whoever turns an edge back
 * clears `counted` before.
 */
#include "interpose/ledger/light.h"

#include "interpose/ledger/jump.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/timer.h"

/* Mean distances of samples: at first, and at most. At 64 a quarter of a nanosecond of a timed call
 * falls to each. */
#define FIRST_DISTANCE 4
#define MOST_DISTANCE 64
/* Samples at one distance before it is set anew; and in all, for each of the distance, before it
 * grows: long calls that are rare have to be met first. */
#define SAMPLES_SHIFT 5
#define SAMPLES_EACH 16
/* What a call takes beyond so many times the mean is mostly an interrupt: it is in the estimate and
 * its error, but no reason to time more calls. Not so if it is more than 1/64 of all time. */
#define OUTLIER 16
#define INTERRUPTS_SHIFT 6
/* Samples after which older ones count half; those before the context was turned back count, too.
 */
#define RECENT_SHIFT 13
/* Counted calls after which all are timed, if more than a quarter of them had to be. */
#define WIDE_CALLS (1 << 12)
/* The error of a context's time, as standard deviation, is to be less than 2^-8 of it, or of a
 * hundredth of the thread's time: 0.8 % in 95 of 100 cases. It may be 2^-4 of what timing costs: a
 * third of that is in doubt however many calls are timed. */
#define ERROR_SHIFT 8
#define SMALL_PART 100
#define DOUBT_SHIFT 4
/* Timed calls that a context is judged by. */
#define JUDGED_SHIFT 10
#define MOST_SHIFT 17
/* Calls that take less on average are counted only. At 1 us two clock readings are 2 %. */
#define SHORT_NS 1000
/* A call that takes so long turns its context back: a few of them would be missed. It is
 * BP_LONGEST_UNTIMED_S. */
#define LONG_NS 16000
/* A long call says something of others like it that were counted, unless these would have taken so
 * long: a tick had found one of them before, as the distance of ticks is 5 ms. */
#define FOUND_NS 5000000
/* Time of calls without a long one after which one long call is forgiven. A tick finds one for 5 ms
 * of such calls: they are less than a tenth of the context's time then. */
#define FORGIVEN_MS 50
#define GOOD_SHIFT 6 /* of ticks in bp_edge.good */

enum bp_light bp_light_on;

static uint64_t ticks_of(uint64_t ns) {
    return bp_process.writer.header->ticks_per_s / 1000 * ns / 1000000;
}

/* Before the rate is known, in calibration, nothing is. */
static int is_long(uint64_t duration) {
    uint64_t least = ticks_of(LONG_NS);
    return least && duration >= least;
}

/* Evenly from 1 to twice the mean distance: no period of the program is met. */
static uint32_t draw(const struct bp_thread *thread, uint32_t distance) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint32_t x = local->light_random ? local->light_random : 0x9e3779b9u ^ (uint32_t)thread->start;
    x |= x == 0;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    local->light_random = x;
    return 1 + (uint32_t)((uint64_t)x * (2 * distance - 1) >> 32);
}

static void set_left(struct bp_edge *edge, int32_t left) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&edge->left, left, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* All calls are timed until so many have been judged. */
static void time_all(struct bp_edge *edge) {
    int shift = bp_light_on >= BP_LIGHT_EAGER ? 0 : JUDGED_SHIFT + edge->patience;
    set_left(edge, INT32_MIN + (1 << shift));
}

static void next_sample(const struct bp_thread *thread, struct bp_edge *edge) {
    set_left(edge, (int32_t)draw(thread, edge->distance));
    if (!edge->counted)
        time_all(edge);
}

/* The entry stays the edge's. */
static void turn_back(struct bp_edge *edge) {
    bp_jump_end(edge);
    edge->counted = 0;
    edge->patience += JUDGED_SHIFT + edge->patience < MOST_SHIFT;
    edge->good = 0;
    time_all(edge);
}

int bp_light_begin(struct bp_thread *thread, struct bp_edge *edge, uint32_t distance) {
    if (edge->kept)
        return 0;
    if (!edge->entry) {
        struct bp_entry *entry = bp_thread_take(thread);
        if (!entry)
            return 0;
        *entry = (struct bp_entry){
            .node = edge->node, .source = (uint64_t)edge, .start = BP_ENTRY_UNTIMED};
        edge->entry = (uint64_t)entry;
    }
    edge->distance = (uint8_t)distance;
    edge->since = 0;
    set_left(edge, (int32_t)draw(thread, distance));
    edge->counted = BP_EDGE_COUNTED;
    return 1;
}

/* Calls that took at least `ticks`; with 0 all that returned. */
static uint64_t count_from(const struct bp_node *node, uint64_t ticks) {
    uint64_t calls = 0;
    for (unsigned b = ticks ? bp_bucket(ticks) : 1; b < BP_BUCKETS; b++)
        calls += node->histogram[b];
    return calls;
}

/* A call that is reported to no guest; its kind may have flags of the profile beside. */
static int is_plain(const struct bp_stub *stub) {
    return BP_STUB_KIND(stub->kind) == BP_STUB_CALL && !BP_STUB_SOURCE_OF(stub->kind);
}

/* Only the outermost call of its function, by its stub, on a thread that ticks come to. */
static int may_count(const struct bp_thread *thread, const struct bp_edge *edge) {
    const struct bp_stub *stub = (const struct bp_stub *)edge->stub;
    const struct bp_node *node = (const struct bp_node *)edge->node;
    const struct bp_sampled *sampled = ((const struct bp_local *)thread->local)->sampled;
    return bp_light_on && bp_process.clock == BP_CLOCK_TSC && bp_sampling.signal &&
           bp_sampling.period && sampled && sampled->timer && is_plain(stub) && stub >= bp_stubs &&
           stub < bp_stubs + BP_STUBS &&
           node->parent == ((const struct bp_node *)edge->parent)->index && !bp_pause_is_on();
}

static uint32_t mean_of(uint64_t time, uint64_t calls) {
    uint64_t mean = time / (calls | !calls) + 1;
    return mean < UINT32_MAX ? (uint32_t)mean : UINT32_MAX;
}

/* By the calls since the last judgement, with signals blocked: a handler may judge the same edge.
 */
static void judge(struct bp_thread *thread, struct bp_edge *edge) {
    const struct bp_node *node = (const struct bp_node *)edge->node;
    uint64_t calls = count_from(node, 0), time = node->total + node->inner;
    uint64_t longer = count_from(node, ticks_of(LONG_NS));
    uint16_t aborted = (uint16_t)node->aborted, ticked = node->ticked;
    int counts_anew = calls < edge->calls || time < edge->time; /* a forked child */
    uint64_t new_calls = counts_anew ? 0 : calls - edge->calls;
    uint64_t new_time = counts_anew ? 0 : time - edge->time;
    int is_short = bp_light_on >= BP_LIGHT_EAGER;
    is_short |= new_calls >= 1u << (JUDGED_SHIFT - 1) && aborted == edge->aborted &&
                (uint32_t)longer - edge->longer <= (uint16_t)(ticked - edge->ticked) &&
                new_time / (new_calls | !new_calls) < ticks_of(SHORT_NS);
    edge->calls = calls;
    edge->time = time;
    edge->usual = mean_of(new_time, new_calls);
    edge->longer = (uint32_t)longer;
    edge->aborted = aborted;
    edge->ticked = ticked;
    if (is_short && may_count(thread, edge) && bp_light_begin(thread, edge, FIRST_DISTANCE))
        bp_jump_begin(edge);
    else
        time_all(edge);
}

void bp_light_opened(struct bp_thread *thread, struct bp_edge *edge, struct bp_entry *entry) {
    int32_t left = __atomic_load_n(&edge->left, __ATOMIC_RELAXED);
    if (left == INT32_MIN || (left > 0 && !edge->counted)) {
        uint64_t mask = bp_signals_block();
        judge(thread, edge);
        bp_signals_restore(mask);
    } else if (left == 0 && edge->entry)
        entry->source = (uint64_t)edge;
}

/* How far apart samples may be for the error to be small enough. With n calls, each standing for d,
 * the variance of their time is that of one call times n times d. */
static uint64_t wanted_distance(const struct bp_thread *thread, const struct bp_edge *edge,
                                uint64_t now) {
    const struct bp_node *node = (const struct bp_node *)edge->node;
    uint64_t mean = edge->sum / edge->samples, calls = node->untimed + node->sampled;
    uint64_t variance = edge->squares / edge->samples - mean * mean;
    uint64_t time = mean * node->untimed + node->self, small = (now - thread->start) / SMALL_PART;
    uint64_t error = (time > small ? time : small) >> ERROR_SHIFT;
    uint64_t doubt = calls * bp_process.writer.header->inside >> (8 + DOUBT_SHIFT);
    error = error > doubt ? error : doubt;
    if (error >> 31)
        error = (UINT64_C(1) << 31) - 1;
    return error * error / (variance + 1) / (calls + 1);
}

/* From time to time, by at most a factor of two. */
static void set_distance(struct bp_thread *thread, struct bp_edge *edge, uint64_t now) {
    const struct bp_node *node = (const struct bp_node *)edge->node;
    if (++edge->since >> SAMPLES_SHIFT == 0 || bp_light_on >= BP_LIGHT_EAGER)
        return;
    edge->since = 0;
    uint64_t wanted = wanted_distance(thread, edge, now), distance = edge->distance;
    if (wanted >= 2 * distance && distance < MOST_DISTANCE)
        edge->distance <<= edge->samples >= SAMPLES_EACH * distance;
    else if (wanted < distance && distance > FIRST_DISTANCE)
        edge->distance /= 2;
    else if (wanted < distance && node->untimed > WIDE_CALLS)
        turn_back(edge);
}

/* The part of a sample's time that says how far apart samples may be. */
static uint64_t usual_part(struct bp_edge *edge, uint64_t self) {
    uint64_t most = (uint64_t)OUTLIER * edge->usual;
    if (self <= most)
        return self;
    edge->excess += (uint32_t)(self - most);
    return (uint64_t)edge->excess << INTERRUPTS_SHIFT > edge->sum ? self : most;
}

/* After hours in one context, before the sums of squares overflow: older samples count half. */
#define FULL_SHIFT 62

/* Samples stand for the calls before them that were counted only. */
static void add_to_node(struct bp_node *node, uint64_t weight, uint64_t self, uint64_t other) {
    uint64_t part = weight * self, half = node->sampled_squares >> FULL_SHIFT != 0;
    node->sampled++;
    node->sampled_weight = (node->sampled_weight >> half) + weight;
    node->sampled_weight_squares = (node->sampled_weight_squares >> half) + weight * weight;
    node->sampled_self = (node->sampled_self >> half) + part;
    node->sampled_self_twice = (node->sampled_self_twice >> half) + weight * part;
    node->sampled_squares = (node->sampled_squares >> half) + part * part;
    node->sampled_other = (node->sampled_other >> half) + weight * other;
    if (part > node->sampled_most)
        node->sampled_most = part;
}

/* The stub's jump to the target goes where the last sample's went, unless the processor knows
 * better: if that is wrong it takes longer, within what is timed. */
static uint64_t is_other_target(const struct bp_thread *thread, const struct bp_edge *edge) {
    struct bp_local *local = (struct bp_local *)thread->local;
    uint64_t last = local->light_last;
    local->light_last = ((const struct bp_stub *)edge->stub)->target;
    return last != local->light_last;
}

static void add_sample(struct bp_edge *edge, uint64_t self) {
    uint64_t usual = usual_part(edge, self);
    if (++edge->samples >> RECENT_SHIFT) { /* what is older counts half */
        edge->samples /= 2;
        edge->sum /= 2;
        edge->squares /= 2;
        edge->excess /= 2;
    }
    edge->sum += usual;
    edge->squares += usual * usual;
}

void bp_light_sampled(struct bp_thread *thread, struct bp_edge *edge, uint64_t now,
                      uint64_t duration, uint64_t self) {
    uint64_t weight = edge->distance - 1, other = is_other_target(thread, edge);
    if (!is_long(duration) || weight * duration < ticks_of(FOUND_NS))
        add_to_node((struct bp_node *)edge->node, weight, self, other);
    if (is_long(duration)) {
        turn_back(edge);
        return;
    }
    add_sample(edge, self);
    if (((const struct bp_node *)edge->node)->edges)
        bp_jump_end(edge);
    edge->good += (uint32_t)(duration * edge->distance >> GOOD_SHIFT);
    if (edge->good > ticks_of(FORGIVEN_MS * UINT64_C(1000000)) >> GOOD_SHIFT) {
        edge->patience -= edge->patience > 0;
        edge->good = 0;
    }
    set_distance(thread, edge, now);
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

void bp_light_keep(struct bp_edge *edge) {
    edge->kept = 1;
    turn_back(edge);
}

/* The handler's time is in all open calls: those that it makes long are not long for that. */
static void excuse(const struct bp_thread *thread, uint64_t now) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    for (; entry != &thread->root && (bp_light_is_untimed(entry) || !is_long(now - entry->start));
         entry = (struct bp_entry *)entry->parent)
        ((struct bp_node *)entry->node)->ticked++;
}

void bp_light_tick(struct bp_thread *thread, uint64_t now) {
    struct bp_entry *entry = bp_thread_innermost(thread);
    struct bp_edge *edge = bp_light_edge(entry);
    if (edge && !bp_light_is(entry)) { /* a sample: now the handler's time is in it */
        entry->source = 0;
        bp_light_missed(thread, edge);
    }
    excuse(thread, now);
    for (; entry != &thread->root; entry = (struct bp_entry *)entry->parent) {
        if (!bp_light_is_untimed(entry))
            return;
        now = bp_light_start(entry, now);
        __atomic_store_n(&entry->start, now, __ATOMIC_RELAXED);
    }
}
