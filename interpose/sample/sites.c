/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: for every call path of a CUDA copy its stack, once, how often and how
 * many bytes. The path of each copy is found, natively and in Python, to know it again; only a new
 * one is named and folded.
 */
#include "interpose/sample/sampler.h"
#include "interpose/sample/stack.h"
#include "interpose/sample/tables.h"
#include "interpose/source.h"

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_native(const struct bp_walk *walk) {
    uint64_t hash = 1;
    for (uint32_t i = 0; i < walk->count; i++)
        hash = mix(hash, walk->places[i].address);
    return hash;
}

static uint64_t hash_python(const struct bp_python *python, uint64_t hash) {
    for (uint32_t i = 0; i < python->count; i++)
        hash = mix(mix(hash, python->frames[i].code), python->frames[i].place);
    return hash ? hash : 1;
}

/* The node stands for all hooked calls that are open: their frames have no address of their own.
 * The thread before on this segment may have had another stack. */
static int is_known(const struct bp_trail *trail, const struct bp_thread *thread,
                    const struct bp_cfi_registers *registers, uint32_t node) {
    return trail->sp == registers->r[BP_REG_RSP] &&
           trail->high == ((const struct bp_local *)thread->local)->stack_high &&
           trail->node == node && trail->generation == bp_tables_generation() &&
           bp_trail_holds(trail);
}

/* A hash of the native frames; whether they are in stack->walk now. */
static uint64_t find_path(struct bp_stack *stack, const struct bp_thread *thread,
                          const struct bp_cfi_registers *registers, uint32_t node, int *walked) {
    uint64_t hash = mix(node, registers->r[BP_REG_RSP]);
    struct bp_trail *trail = &stack->trails[hash >> 32 & (BP_TRAILS - 1)];
    *walked = !is_known(trail, thread, registers, node);
    if (!*walked)
        return trail->path;
    bp_trail_begin(trail, registers);
    bp_stack_walk(stack, thread, registers, trail);
    trail->node = node;
    trail->generation = bp_tables_generation();
    trail->path = hash_native(&stack->walk);
    return trail->path;
}

static struct bp_sample *add(struct bp_stack *stack, struct bp_thread *thread, uint32_t node) {
    bp_stack_join(stack);
    uint32_t frame = bp_stack_fold(stack, thread);
    return frame == BP_NO_FRAME ? NULL
                                : bp_stack_sample(stack, thread, node, frame, BP_SAMPLE_COPY);
}

void bp_source_site(struct bp_thread *thread, const struct bp_entry *entry, uint64_t bytes) {
    struct bp_cfi_registers registers;
    struct bp_stack *stack = bp_stack_enter(thread);
    uint32_t node = ((const struct bp_node *)entry->node)->index;
    int walked;
    if (!stack)
        return;
    bp_walk_here(&registers);
    uint64_t path = find_path(stack, thread, &registers, node, &walked);
    bp_stack_read_python(stack);
    uint64_t key = hash_python(&stack->python, mix(path, node));
    struct bp_site *site = &stack->sites[key >> 32 & (BP_SITES - 1)];
    if (site->key != key) {
        if (!walked)
            bp_stack_walk(stack, thread, &registers, NULL);
        *site = (struct bp_site){key, add(stack, thread, node)};
    }
    if (site->sample) {
        site->sample->weight += bytes;
        __atomic_store_n(&site->sample->count, site->sample->count + 1, __ATOMIC_RELAXED);
    }
    bp_stack_leave(thread);
}
