/* SPDX-License-Identifier: MIT
 *
 * A ring of the calls that submitted work to a device, in the order of submission. Time can be
 * attributed up to the start of the oldest of them whose record is still to come. The ring is also
 * how records are told from each other: a call's number travels through CUPTI in its external
 * correlation id.
 */
#include "cuda/slot.h"

#include "cuda/api.h"
#include "cuda/internal.h"
#include "cuda/thread.h"

#define PATIENCE_S 10 /* with later calls done, an older one submitted nothing: it was empty */
#define MARKED 2
/* Part of a second: with no record for so long a graph's launch is over, and what may have been
 * recorded into one was. */
#define GRAPH_PART 10u
#define GRAPHS 65536 /* that are told apart */

static struct {
    struct bp_slot *slots;
    uint32_t next;   /* number of the last one handed out */
    uint32_t oldest; /* all before it are done */
    uint32_t newest_done;
    uint32_t *lengths; /* of graphs: how many records their last launch had, and one more */
    int waited_for;    /* when the last flush began a thread waited for the device */
} state;

static struct bp_slot *slots_get(void) {
    struct bp_slot *slots = __atomic_load_n(&state.slots, __ATOMIC_ACQUIRE);
    if (slots)
        return slots;
    struct bp_slot *none = NULL;
    slots = bp_pages_new(BP_SLOTS * sizeof *slots);
    if (!slots || __atomic_compare_exchange_n(&state.slots, &none, slots, 0, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE))
        return slots;
    bp_pages_free(slots, BP_SLOTS * sizeof *slots);
    return none;
}

static uint16_t short_graph(uint64_t handle) {
    return (uint16_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
}

uint32_t bp_slot_open(uint64_t start, unsigned class, enum bp_captured captured, uint64_t graph) {
    struct bp_slot *slots = slots_get();
    if (!slots)
        return 0;
    uint32_t sequence = __atomic_add_fetch(&state.next, 1, __ATOMIC_RELAXED);
    struct bp_slot *slot = &slots[sequence % BP_SLOTS];
    __atomic_store_n(&slot->state, BP_SLOT_FREE, __ATOMIC_RELAXED);
    slot->start = start;
    slot->sequence = sequence;
    slot->class = (uint8_t) class;
    slot->content = slot->returned = 0;
    slot->transfer = 0;
    slot->captured = (uint16_t)captured;
    slot->graph = short_graph(graph);
    slot->time = slot->bytes = 0;
    slot->records = slot->asked = 0;
    __atomic_store_n(&slot->state, BP_SLOT_OPEN, __ATOMIC_RELEASE);
    return sequence;
}

/* Numbers travel with 28 bits. */
struct bp_slot *bp_slot_get(uint32_t sequence) {
    if (!state.slots || !sequence)
        return NULL;
    struct bp_slot *slot = &state.slots[sequence % BP_SLOTS];
    uint32_t same = (slot->sequence ^ sequence) & (BP_SLOT_SEQUENCES - 1);
    return same == 0 && slot->state != BP_SLOT_FREE ? slot : NULL;
}

static uint32_t *length_of(const struct bp_slot *slot) {
    if (!state.lengths)
        state.lengths = bp_pages_new(GRAPHS * sizeof *state.lengths);
    return state.lengths ? &state.lengths[slot->graph] : NULL;
}

/* One of many records: the last, if there are as many as the last time. A graph that was changed
 * has more or less: then it is known for the next time. */
static void count_record(struct bp_slot *slot, uint64_t end) {
    uint32_t *length = length_of(slot);
    slot->time = end > slot->time ? end : slot->time;
    slot->records++;
    if (length && *length && slot->records >= *length - 1) {
        *length = slot->records + 1;
        slot->state = BP_SLOT_DONE;
    }
}

void bp_slot_done(struct bp_slot *slot, uint64_t end) {
    if (slot->class == BP_CUDA_GRAPH)
        count_record(slot, end);
    else
        slot->state = BP_SLOT_DONE;
    if ((int32_t)(slot->sequence - state.newest_done) > 0)
        state.newest_done = slot->sequence;
}

uint32_t bp_slot_last(void) {
    return __atomic_load_n(&state.next, __ATOMIC_RELAXED);
}

int bp_slot_awaited(void) {
    return state.oldest != bp_slot_last();
}

static int is_passed(const struct bp_slot *slot) {
    return (int32_t)(state.newest_done - slot->sequence) > 0;
}

/* How many records a graph's first launch will have is not known: it is over when none has come for
 * a while; a long while, if it is the last work there is and a thread waits. */
static int end_if_quiet(struct bp_slot *slot, uint64_t limit) {
    uint64_t silence = state.waited_for && !is_passed(slot) ? PATIENCE_S * bp_cuda.ticks_per_s
                                                            : bp_cuda.ticks_per_s / GRAPH_PART;
    if (slot->class != BP_CUDA_GRAPH || !slot->time || slot->time + silence >= limit)
        return 0;
    uint32_t *length = length_of(slot);
    if (length)
        *length = slot->records + 1;
    slot->state = BP_SLOT_DONE;
    return 1;
}

/* CUPTI has told of the call itself, and of no work. Who does not capture itself may as well have
 * submitted something that takes its time. */
static int has_none(const struct bp_slot *slot, uint64_t limit) {
    uint64_t part = slot->captured == BP_CAPTURED_BY_ANOTHER ? 1 : GRAPH_PART;
    return slot->returned && slot->state == BP_SLOT_SEEN && !slot->time &&
           slot->start + bp_cuda.ticks_per_s / part < limit;
}

/* A graph of kernels alone has no records where kernels have none. Later work, or that nobody waits
 * for it, is taken for a sign that it is over. */
static int is_untold(const struct bp_slot *slot) {
    uint32_t last = __atomic_load_n(&state.next, __ATOMIC_RELAXED);
    return slot->class == BP_CUDA_GRAPH && bp_cuda.mode == BP_CUDA_TRANSFERS &&
           (slot->sequence != last || !state.waited_for);
}

static int is_over(struct bp_slot *slot, uint64_t limit) {
    if (slot->state == BP_SLOT_DONE || end_if_quiet(slot, limit) ||
        (has_none(slot, limit) && (slot->captured || is_untold(slot))))
        return 1;
    if (slot->returned && is_passed(slot) &&
        slot->start + PATIENCE_S * bp_cuda.ticks_per_s < limit) {
        slot->state = BP_SLOT_DONE;
        return 1;
    }
    return 0;
}

uint64_t bp_slot_oldest(uint64_t limit) {
    if (!state.slots)
        return limit;
    uint32_t next = __atomic_load_n(&state.next, __ATOMIC_ACQUIRE);
    if (next - state.oldest > BP_SLOTS)
        state.oldest = next - BP_SLOTS; /* the ring went round */
    uint64_t oldest = limit;
    for (uint32_t i = state.oldest + 1; (int32_t)(next - i) >= 0; i++) {
        struct bp_slot *slot = &state.slots[i % BP_SLOTS];
        if (slot->sequence == i && is_over(slot, limit)) {
            state.oldest += i == state.oldest + 1;
            continue;
        }
        /* One that is just being filled in has a start that is not before the limit's flush. */
        if (slot->sequence == i && slot->state != BP_SLOT_FREE && slot->start < oldest)
            oldest = slot->start;
    }
    return oldest;
}

uint64_t bp_slot_unknown(void) {
    uint32_t next = __atomic_load_n(&state.next, __ATOMIC_ACQUIRE);
    for (uint32_t i = state.oldest + 1; state.slots && (int32_t)(next - i) >= 0; i++) {
        const struct bp_slot *slot = &state.slots[i % BP_SLOTS];
        if (slot->sequence == i && slot->state == BP_SLOT_OPEN)
            return slot->start;
    }
    return UINT64_MAX;
}

/* A thread may enter or leave meanwhile: whoever has waited for long is found. */
static int is_waited_for(void) {
    for (const struct bp_cuda_thread *t = bp_cuda.threads; t; t = t->next) {
        uint32_t depth = __atomic_load_n(&t->depth, __ATOMIC_RELAXED);
        if (depth && depth <= BP_CUDA_NESTING && bp_cuda_blocks(t->open[depth - 1].class))
            return 1;
    }
    return 0;
}

void bp_slot_mark(void) {
    state.waited_for = is_waited_for();
    uint32_t next = __atomic_load_n(&state.next, __ATOMIC_ACQUIRE);
    for (uint32_t i = state.oldest + 1; state.slots && (int32_t)(next - i) >= 0; i++) {
        struct bp_slot *slot = &state.slots[i % BP_SLOTS];
        if (slot->sequence == i && slot->returned)
            slot->returned = MARKED;
    }
}

void bp_slot_count(uint64_t *unknown, uint64_t *running) {
    *unknown = *running = 0;
    uint32_t next = __atomic_load_n(&state.next, __ATOMIC_ACQUIRE);
    for (uint32_t i = state.oldest + 1; state.slots && (int32_t)(next - i) >= 0; i++) {
        const struct bp_slot *slot = &state.slots[i % BP_SLOTS];
        if (slot->sequence != i || slot->returned != MARKED || slot->time)
            continue;
        *unknown += slot->state == BP_SLOT_OPEN;
        /* What later calls have passed was empty. */
        *running +=
            slot->state == BP_SLOT_SEEN && !slot->captured && (int32_t)(state.newest_done - i) < 0;
    }
}
