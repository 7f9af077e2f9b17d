/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: for every call path of a CUDA copy and every direction its stack, once,
 * how often and how many bytes. The path of each copy is found, natively and in Python, to know it
 * again; only a new one is named and folded.
 */
#include "interpose/sample/sites.h"

#include "interpose/base/hash.h"
#include "interpose/sample/sampler.h"
#include "interpose/sample/stack.h"
#include "interpose/unwind/tables.h"

static uint64_t hash_native(const struct bp_walk *walk) {
    uint64_t hash = 1;
    for (uint32_t i = 0; i < walk->count; i++)
        hash = bp_mix(hash, walk->places[i].address);
    return hash;
}

static uint64_t hash_python(const struct bp_py_stack *python, uint64_t hash) {
    for (uint32_t i = 0; i < python->count; i++)
        hash = bp_mix(bp_mix(bp_mix(hash, python->frames[i].code), python->frames[i].check),
                      python->frames[i].place);
    return hash ? hash : 1;
}

/* The node stands for all hooked calls that are open: their frames have no address of their own.
 * The thread before on this segment may have had another stack. */
static int is_known(const struct bp_trail *trail, const struct bp_thread *thread,
                    const struct bp_cfi_registers *registers, uint32_t node) {
    return trail->sp == registers->r[BP_REG_SP] &&
           trail->high == ((const struct bp_local *)thread->local)->stack_high &&
           trail->node == node && trail->generation == bp_tables_generation() &&
           bp_trail_holds(trail);
}

/* A hash of the native frames; whether they are in stack->walk now. */
static uint64_t find_path(struct bp_sample_stack *stack, const struct bp_thread *thread,
                          const struct bp_cfi_registers *registers, uint32_t node, int *walked) {
    uint64_t hash = bp_mix(node, registers->r[BP_REG_SP]);
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

static struct bp_sample *add(struct bp_sample_stack *stack, struct bp_thread *thread,
                             struct bp_sample key) {
    bp_stack_join(stack);
    key.frame = bp_stack_fold(stack, thread);
    return key.frame == BP_NO_FRAME ? NULL : bp_stack_sample(stack, thread, &key);
}

static struct bp_sample key_of(const struct bp_entry *entry, int direction) {
    return (struct bp_sample){.node = ((const struct bp_node *)entry->node)->index,
                              .kind = BP_SAMPLE_COPY,
                              .direction = (uint8_t)(direction < 0 ? 0 : direction + 1)};
}

/* The sample of a path whose native frames come to `path`, counted. A new one is named: its native
 * frames are in stack->walk by then, or `from` leads to them. */
static struct bp_sample *count(struct bp_sample_stack *stack, struct bp_thread *thread,
                               uint64_t path, const struct bp_sample *what,
                               const struct bp_cfi_registers *from, uint64_t bytes) {
    uint64_t key = bp_mix(bp_mix(path, what->node), what->direction);
    key = hash_python(&stack->python, key);
    struct bp_site *site = &stack->sites[key >> 32 & (BP_SITES - 1)];
    if (site->key != key) {
        if (from)
            bp_stack_walk(stack, thread, from, NULL);
        *site = (struct bp_site){key, add(stack, thread, *what)};
    }
    if (site->sample) {
        site->sample->weight += bytes;
        __atomic_store_n(&site->sample->count, site->sample->count + 1, __ATOMIC_RELAXED);
    }
    return site->sample;
}

struct bp_sample *bp_sites_count(struct bp_thread *thread, const struct bp_entry *entry,
                                 uint64_t bytes, int direction) {
    struct bp_cfi_registers registers;
    struct bp_sample_stack *stack = bp_stack_enter(thread);
    struct bp_sample key = key_of(entry, direction);
    int walked;
    if (!stack)
        return NULL;
    bp_walk_here(&registers);
    uint64_t path = find_path(stack, thread, &registers, key.node, &walked);
    bp_stack_read_python(stack);
    struct bp_sample *sample = count(stack, thread, path, &key, walked ? NULL : &registers, bytes);
    bp_stack_leave(thread);
    return sample;
}
