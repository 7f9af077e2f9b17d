/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: for every call path of a CUDA copy its stack, once, how often and how
 * many bytes. A path is known again by its node, its return address, its place on the stack and
 * the Python instruction; now and then a known one is walked all the same, since two paths may have
 * all of that in common.
 */
#include "interpose/sample/sampler.h"
#include "interpose/sample/stack.h"
#include "interpose/source.h"
#include "profile/clock.h"

#define LOOK_AGAIN 64 /* calls of a known path */

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t key_of(struct bp_stack *stack, uint32_t node, uint64_t ret, uint64_t sp) {
    bp_safe_begin(&stack->walk.safe, 0, 0);
    uint64_t hash = mix(mix(mix(node + 1, ret), sp), bp_python_top(&stack->walk.safe));
    return hash ? hash : 1;
}

static __attribute__((noinline)) struct bp_sample *walk(struct bp_stack *stack,
                                                        struct bp_thread *thread, uint32_t node) {
    struct bp_cfi_registers registers;
    bp_walk_here(&registers);
    bp_stack_read(stack, thread, &registers);
    uint32_t frame = bp_stack_fold(stack, thread);
    return frame == BP_NO_FRAME ? NULL
                                : bp_stack_sample(stack, thread, node, frame, BP_SAMPLE_COPY);
}

void bp_source_site(struct bp_thread *thread, const struct bp_entry *entry, uint64_t ret,
                    uint64_t bytes) {
    uint64_t begin = bp_clock_now(bp_process.clock);
    struct bp_stack *stack = bp_stack_enter(thread);
    uint32_t node = ((const struct bp_node *)entry->node)->index;
    if (!stack)
        return;
    uint64_t key = key_of(stack, node, ret, entry->sp);
    struct bp_site *site = &stack->sites[key >> 32 & (BP_SITES - 1)];
    if (site->key != key || ++site->calls % LOOK_AGAIN == 0) {
        struct bp_sample *sample = walk(stack, thread, node);
        site->key = sample ? key : 0;
        site->sample = sample;
    }
    if (site->sample) {
        site->sample->weight += bytes;
        site->sample->own += bp_clock_now(bp_process.clock) - begin;
        __atomic_store_n(&site->sample->count, site->sample->count + 1, __ATOMIC_RELAXED);
    }
    bp_stack_leave(thread);
}
