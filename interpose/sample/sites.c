/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: for every call path of a CUDA copy its stack, once, how often and how
 * many bytes. Each copy is walked, natively and in Python, to know its path again; only a new one
 * is named and folded.
 */
#include "interpose/sample/sampler.h"
#include "interpose/sample/stack.h"
#include "interpose/source.h"
#include "profile/clock.h"

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t key_of(const struct bp_stack *stack, uint32_t node) {
    uint64_t hash = mix(node, 1);
    for (uint32_t i = 0; i < stack->walk.count; i++)
        hash = mix(hash, stack->walk.places[i].address);
    for (uint32_t i = 0; i < stack->python.count; i++)
        hash = mix(mix(hash, stack->python.frames[i].code), stack->python.frames[i].place);
    return hash ? hash : 1;
}

static struct bp_sample *add(struct bp_stack *stack, struct bp_thread *thread, uint32_t node) {
    bp_stack_join(stack);
    uint32_t frame = bp_stack_fold(stack, thread);
    return frame == BP_NO_FRAME ? NULL
                                : bp_stack_sample(stack, thread, node, frame, BP_SAMPLE_COPY);
}

void bp_source_site(struct bp_thread *thread, const struct bp_entry *entry, uint64_t bytes) {
    struct bp_cfi_registers registers;
    uint64_t begin = bp_clock_now(bp_process.clock);
    struct bp_stack *stack = bp_stack_enter(thread);
    uint32_t node = ((const struct bp_node *)entry->node)->index;
    if (!stack)
        return;
    bp_walk_here(&registers);
    bp_stack_read(stack, thread, &registers);
    uint64_t key = key_of(stack, node);
    struct bp_site *site = &stack->sites[key >> 32 & (BP_SITES - 1)];
    if (site->key != key)
        *site = (struct bp_site){key, add(stack, thread, node)};
    if (site->sample) {
        site->sample->weight += bytes;
        site->sample->own += bp_clock_now(bp_process.clock) - begin;
        __atomic_store_n(&site->sample->count, site->sample->count + 1, __ATOMIC_RELAXED);
    }
    bp_stack_leave(thread);
}
