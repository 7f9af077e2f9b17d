/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: for every call path of a CUDA copy and every direction its stack, once,
 * how often and how many bytes. The path of each copy is found, natively and in Python, to know it
 * again; only a new one is named and folded.
 */
#include "interpose/copy.h"
#include "interpose/sample/sampler.h"
#include "interpose/sample/stack.h"
#include "interpose/sample/tables.h"
#include "interpose/source.h"

static uint64_t hash_native(const struct bp_walk *walk) {
    uint64_t hash = 1;
    for (uint32_t i = 0; i < walk->count; i++)
        hash = bp_mix(hash, walk->places[i].address);
    return hash;
}

static uint64_t hash_python(const struct bp_python *python, uint64_t hash) {
    for (uint32_t i = 0; i < python->count; i++)
        hash = bp_mix(bp_mix(bp_mix(hash, python->frames[i].code), python->frames[i].check),
                      python->frames[i].place);
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
    uint64_t hash = bp_mix(node, registers->r[BP_REG_RSP]);
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

static struct bp_sample *add(struct bp_stack *stack, struct bp_thread *thread,
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
static struct bp_sample *count(struct bp_stack *stack, struct bp_thread *thread, uint64_t path,
                               const struct bp_sample *what, const struct bp_cfi_registers *from,
                               uint64_t bytes) {
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

struct bp_sample *bp_source_site(struct bp_thread *thread, const struct bp_entry *entry,
                                 uint64_t bytes, int direction) {
    struct bp_cfi_registers registers;
    struct bp_stack *stack = bp_stack_enter(thread);
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

/* A trail must not rest on these: the stub does not keep them. */
static const uint64_t unkept;

static int is_kept(const struct bp_trail *trail) {
    if (!trail->count || trail->count > BP_TRAIL_LENGTH)
        return 0;
    for (uint32_t i = 0; i < trail->count; i++)
        if (trail->words[i].at == &unkept)
            return 0;
    return 1;
}

/* Nothing lies between the function that a thread begins with, the one that this has called, and
 * where their frames end: that the frame inside of them is where it was is enough to know them. Not
 * so of a coroutine that has a piece of the stack for its own. */
static void shorten(struct bp_trail *trail, const struct bp_walk *walk, uint64_t first) {
    if (walk->truncation != BP_TRUNCATIONS || trail->count > BP_TRAIL_LENGTH || !trail->before[1])
        return;
    if (first && (uint64_t)trail->words[trail->count - 1].at >= first)
        trail->count = trail->before[1];
}

/* Where the stub will find at the beginning of a call like this one what it is compared with. */
static void begin_trail(struct bp_trail *trail, const struct bp_cfi_registers *registers) {
    uint64_t sp = registers->r[BP_REG_RSP] - sizeof(uint64_t); /* of the return address */
    bp_trail_begin(trail, registers);
    trail->sp = sp;
    trail->generation = bp_tables_generation();
    trail->origins[BP_REG_RSP] = NULL; /* compared before the trail */
    trail->origins[BP_REG_RA] = (const uint64_t *)sp;
    trail->origins[BP_REG_RBX] = (const uint64_t *)(sp - BP_COPY_RBX);
    trail->origins[BP_REG_RBP] = (const uint64_t *)(sp - BP_COPY_RBP);
    for (unsigned i = 12; i <= 15; i++)
        trail->origins[i] = &unkept;
}

static uint64_t walk_caller(struct bp_stack *stack, const struct bp_thread *thread,
                            const struct bp_entry *entry, const struct bp_copy_frame *frame,
                            struct bp_trail *trail) {
    const uint64_t *saved = &frame->rbx;
    static const unsigned numbers[] = {BP_REG_RBX, BP_REG_RBP, 12, 13, 14, 15};
    struct bp_cfi_registers registers = {.known = 1u << BP_REG_RSP | 1u << BP_REG_RA};
    registers.r[BP_REG_RSP] = (uint64_t)(frame + 1);
    registers.r[BP_REG_RA] = entry->ret;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        registers.r[numbers[i]] = saved[i];
        registers.known |= 1u << numbers[i];
    }
    if (trail)
        begin_trail(trail, &registers);
    bp_stack_walk_caller(stack, thread, &registers, trail);
    if (trail)
        shorten(trail, &stack->walk, ((const struct bp_local *)thread->local)->stack_first);
    return hash_native(&stack->walk);
}

/* Whether the trail will do to know the path again. */
static int has_trail(const struct bp_stack *stack, struct bp_local *local) {
    struct bp_copies *copies = local->copies;
    copies->python_count = 0;
    if (stack->python.count)
        copies->python_count = bp_python_steps(copies->python, BP_COPY_STEPS);
    int has = is_kept(&copies->trail) && (copies->python_count || !stack->python.count);
    if (!has && stack->python.count)
        bp_copies_give_up(local); /* to find it again by each copy takes longer than the slow way */
    return has;
}

struct bp_sample *bp_site_find(struct bp_thread *thread, const struct bp_entry *entry,
                               const struct bp_copy_frame *frame, uint64_t bytes,
                               const struct bp_copy_sums *sums, struct bp_copies *copies) {
    struct bp_sample key = key_of(entry, sums->direction);
    struct bp_stack *stack = bp_stack_enter(thread);
    if (!stack)
        return NULL;
    uint64_t path = walk_caller(stack, thread, entry, frame, copies ? &copies->trail : NULL);
    bp_stack_read_python(stack);
    const struct bp_sample *site = count(stack, thread, path, &key, NULL, bytes);
    struct bp_sample *sample = NULL;
    if (site && sums->transfer && copies && has_trail(stack, (struct bp_local *)thread->local))
        sample = bp_stack_sample(stack, thread,
                                 &(struct bp_sample){.node = key.node,
                                                     .frame = site->frame,
                                                     .kind = BP_SAMPLE_COPIES,
                                                     .bucket = (uint8_t)bp_size_bucket(bytes),
                                                     .waits = (uint8_t)sums->waits,
                                                     .transfer = sums->number});
    bp_stack_leave(thread);
    return sample;
}
