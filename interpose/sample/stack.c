/* SPDX-License-Identifier: MIT
 *
 * Each call of the interpreter on the native stack stands for a run of Python frames. Where the two
 * stacks do not agree, all Python functions stand in the place of the innermost such call. The
 * joined stack is then folded into the nodes of the file.
 */
#include "interpose/sample/stack.h"

#include "interpose/sample/sampler.h"

static struct bp_local *local_of(const struct bp_thread *thread) {
    return (struct bp_local *)thread->local;
}

/* What was found before: some of it may be half written. */
static void forget(struct bp_sample_stack *stack) {
    bp_walk_forget(&stack->walk);
    for (unsigned i = 0; i < BP_PY_STACK_CACHE; i++)
        stack->python.known[i].code = 0;
    for (unsigned i = 0; i < BP_SITES; i++)
        stack->sites[i].key = 0;
    for (unsigned i = 0; i < BP_TRAILS; i++)
        stack->trails[i].count = 0;
}

static struct bp_sample_stack *new_stack(void) {
    struct bp_sample_stack *stack = bp_pages_new(sizeof *stack);
    if (stack) {
        stack->generation = bp_generation;
        stack->frames.kind = BP_FRAMES;
        stack->frames.key = sizeof(struct bp_frame);
        stack->samples.kind = BP_SAMPLES;
        stack->samples.key = offsetof(struct bp_sample, count);
    }
    return stack;
}

/* In a forked child at its first sample: what the parent had found, and where in its file. To clear
 * it would take as many new pages as it has. */
static void discard(struct bp_sampled *sampled) {
    struct bp_sample_stack *stack = sampled->stack;
    sampled->stack = NULL;
    bp_list_free(&stack->frames);
    bp_list_free(&stack->samples);
    bp_pages_free(stack, sizeof *stack);
}

struct bp_sample_stack *bp_stack_enter(struct bp_thread *thread) {
    struct bp_sampled *sampled = bp_sampled_get(thread);
    uint64_t busy = sampled ? sampled->busy : 0;
    if (!sampled || busy > BP_SAMPLED_LEFT)
        return NULL;
    sampled->busy = (uint64_t)__builtin_frame_address(0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (sampled->stack && sampled->stack->generation != bp_generation)
        discard(sampled);
    if (!sampled->stack)
        sampled->stack = new_stack();
    else if (busy)
        forget(sampled->stack);
    if (!sampled->stack)
        sampled->busy = 0;
    return sampled->stack;
}

void bp_stack_leave(struct bp_thread *thread) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local_of(thread)->sampled->busy = 0;
}

void bp_stack_after_fork(struct bp_thread *thread) {
    struct bp_sampled *sampled = local_of(thread)->sampled;
    struct bp_sample_stack *stack = sampled ? sampled->stack : NULL;
    if (stack && sampled->busy > BP_SAMPLED_LEFT) {
        /* A signal handler forked: what it interrupted goes on with it, and finds no room. */
        bp_list_close(&stack->frames);
        bp_list_close(&stack->samples);
        sampled->stack = NULL;
    }
}

static void emit(struct bp_sample_stack *stack, const struct bp_place *place) {
    if (stack->count == BP_WALK_DEPTH) {
        stack->truncation = BP_TRUNCATED_DEPTH;
        return;
    }
    struct bp_place *to = &stack->places[stack->count++];
    *to = *place;
    /* Else every instruction of the interpreter would be a frame below every Python function. */
    if (to->kind == BP_FRAME_NATIVE && to->start &&
        (bp_py_stack_is_inside(to->address) || stack->frames.count > BP_LIST_LIMIT / 2)) {
        to->address = to->start;
        to->flags |= BP_FRAME_FUNCTION;
    }
}

/* One Python frame; 0 if its code object makes no sense after all. */
static int emit_python(struct bp_sample_stack *stack, const struct bp_py_stack_frame *frame) {
    struct bp_place place = {.kind = BP_FRAME_PYTHON};
    if (!bp_py_stack_name(&stack->python, &stack->walk.safe, frame, &place.func, &place.line))
        return 0;
    emit(stack, &place);
    return 1;
}

static uint32_t count_evals(const struct bp_walk *walk) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < walk->count; i++)
        count += walk->places[i].kind == BP_FRAME_NATIVE &&
                 bp_py_stack_is_eval(walk->places[i].address - 1);
    return count;
}

static uint32_t count_entries(const struct bp_py_stack *python) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < python->count; i++)
        count += python->frames[i].entry;
    return count;
}

/* Whether each call of the interpreter on the native stack is one run of Python frames. If not, a
 * part of the interpreter is where we do not know it, and nobody can say what lies between. */
static int corresponds(const struct bp_sample_stack *stack) {
    uint32_t evals = count_evals(&stack->walk), entries = count_entries(&stack->python);
    if (stack->walk.truncation == BP_TRUNCATIONS && !stack->python.cut)
        return evals == entries;
    return evals <= entries || stack->python.cut;
}

/* Python frames from `at` on, up to and with the one that C code called, or all; the next one. */
static uint32_t emit_run(struct bp_sample_stack *stack, uint32_t at, int all) {
    const struct bp_py_stack *python = &stack->python;
    while (at < python->count) {
        const struct bp_py_stack_frame *frame = &python->frames[at++];
        if (!emit_python(stack, frame))
            bp_sampler_count(&bp_sampling.record->python_lost);
        if (frame->entry && !all)
            break;
    }
    return at;
}

/* In the place of each call of the interpreter the Python functions that it ran; between them the
 * interpreter's own functions are left out. If it does not correspond, all Python functions stand
 * in the place of the innermost call, and what was called between them is left out. */
void bp_stack_join(struct bp_sample_stack *stack) {
    const struct bp_walk *walk = &stack->walk;
    int strict = corresponds(stack);
    stack->count = 0;
    stack->truncation = walk->truncation;
    uint32_t at = 0, evals = 0, all = count_evals(walk);
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct bp_place *place = &walk->places[i];
        int native = place->kind == BP_FRAME_NATIVE;
        if (native && bp_py_stack_is_eval(place->address - 1)) {
            evals++;
            at = emit_run(stack, at, !strict);
        } else if (!evals ||
                   (evals == all || strict ? !native || !bp_py_stack_is_inside(place->address)
                                           : !native)) {
            emit(stack, place);
        }
    }
    /* The walk ended before the interpreter, or on a stack that is not the interpreter's. */
    emit_run(stack, at, 1);
    if (stack->python.cut && stack->truncation == BP_TRUNCATIONS)
        stack->truncation = BP_TRUNCATED_DEPTH;
}

void bp_stack_read_python(struct bp_sample_stack *stack) {
    if (bp_py_stack_read(&stack->python, &stack->walk.safe) < 0) {
        bp_sampler_count(&bp_sampling.record->python_lost);
        stack->python.count = 0;
    }
}

/* Bounds what can be read without asking. The trail, if there can be one. */
static struct bp_trail *begin_walk(struct bp_sample_stack *stack, const struct bp_thread *thread,
                                   const struct bp_cfi_registers *registers,
                                   struct bp_trail *trail) {
    const struct bp_local *local = local_of(thread);
    struct bp_walk *walk = &stack->walk;
    uint64_t sp = registers->r[BP_REG_SP];
    int own = sp >= local->stack_low && sp < local->stack_high;
    walk->safe.low = own ? sp - BP_ARCH_RED_ZONE : 0;
    walk->safe.high = own ? local->stack_high : 0;
    if (trail)
        trail->high = walk->safe.high;
    return own ? trail : NULL;
}

void bp_stack_walk(struct bp_sample_stack *stack, const struct bp_thread *thread,
                   const struct bp_cfi_registers *registers, struct bp_trail *trail) {
    struct bp_watch *watch = &local_of(thread)->watch;
    stack->walk.wanted = watch->slot ? watch->slot + BP_ARCH_WORD : 0;
    stack->walk.wanted_start = watch->start;
    stack->walk.wanted_entry = watch->entry;
    bp_walk_from(&stack->walk, registers, begin_walk(stack, thread, registers, trail));
    watch->met = stack->walk.met != 0;
    watch->handler = stack->walk.signals != 0;
    watch->whole = stack->walk.truncation == BP_TRUNCATIONS;
}

void bp_stack_look(struct bp_thread *thread) {
    struct bp_cfi_registers registers;
    struct bp_sample_stack *stack = bp_stack_enter(thread);
    if (!stack)
        return;
    bp_safe_begin(&stack->walk.safe);
    bp_walk_here(&registers);
    bp_stack_walk(stack, thread, &registers, NULL);
    bp_stack_leave(thread);
}

void bp_stack_read_pc(struct bp_sample_stack *stack, uint64_t pc) {
    struct bp_place place = {.address = pc, .kind = BP_FRAME_NATIVE, .flags = BP_FRAME_EXACT};
    stack->count = 0;
    stack->truncation = BP_TRUNCATED_STACK;
    emit(stack, &place);
}

/* The node of an entry if it is open in this thread, found from `open` outwards; `open` follows. */
static uint32_t node_of(const struct bp_thread *thread, uint64_t entry,
                        const struct bp_entry **open) {
    const struct bp_local *local = local_of(thread);
    for (const struct bp_entry *e = *open; e != &thread->root;
         e = (const struct bp_entry *)e->parent)
        if ((uint64_t)(e == &thread->alias ? local->inherited : e) == entry) {
            *open = (const struct bp_entry *)e->parent;
            return ((const struct bp_node *)e->node)->index;
        }
    return BP_NO_NODE;
}

/* Stubs become nodes. One whose call is not open here, as that of a coroutine of another thread,
 * is left out. */
static void find_nodes(struct bp_sample_stack *stack, const struct bp_thread *thread) {
    const struct bp_entry *open = bp_thread_innermost(thread);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        struct bp_place *place = &stack->places[i];
        if (place->kind == BP_FRAME_LEDGER) {
            place->func = node_of(thread, place->entry, &open);
            if (place->func == BP_NO_NODE)
                continue;
        }
        stack->places[kept++] = *place;
    }
    stack->count = kept;
}

uint32_t bp_stack_fold(struct bp_sample_stack *stack, struct bp_thread *thread) {
    struct bp_frame frame = {.parent = BP_NO_FRAME, .kind = BP_FRAME_TRUNCATED};
    uint32_t leaf = BP_NO_FRAME;
    find_nodes(stack, thread);
    frame.func = stack->truncation;
    if (stack->truncation != BP_TRUNCATIONS && !bp_list_get(&stack->frames, thread, &frame, &leaf))
        return BP_NO_FRAME;
    for (uint32_t i = stack->count; i-- > 0;) {
        const struct bp_place *place = &stack->places[i];
        frame = (struct bp_frame){leaf,           place->kind, place->flags,
                                  place->address, place->func, place->line};
        if (!bp_list_get(&stack->frames, thread, &frame, &leaf))
            return BP_NO_FRAME;
    }
    return leaf;
}

struct bp_sample *bp_stack_sample(struct bp_sample_stack *stack, const struct bp_thread *thread,
                                  const struct bp_sample *key) {
    uint32_t index;
    return bp_list_get(&stack->samples, thread, key, &index);
}
