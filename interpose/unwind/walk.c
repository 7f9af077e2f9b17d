/* SPDX-License-Identifier: MIT
 *
 * A step leaves one frame: a stub's by its entry, any other by its row of the unwind table. Rows
 * that were found are remembered, by the place where they hold.
 */
#include "interpose/unwind/walk.h"

#include "interpose/arch/arch.h"
#include "interpose/base/hash.h"
#include "interpose/unwind/description.h"
#include "interpose/unwind/tables.h"

/* Bytes of a function that are searched for jumps: a microsecond for each KB. */
#define LONGEST (16u << 10)

/* What the pc of a frame is. */
enum bp_exactness {
    BP_RETURN,      /* a return address */
    BP_INSTRUCTION, /* the instruction itself */
    BP_SIGNALLED    /* the same, interrupted by a signal of the program */
};

static struct { uint64_t low, high; /* our own library */ } state;

void bp_walk_init(uint64_t low, uint64_t high) {
    state.low = low;
    state.high = high;
}

int bp_walk_is_ours(uint64_t pc) {
    return pc >= state.low && pc < state.high;
}

static struct bp_place *add(struct bp_walk *walk, uint16_t kind, uint64_t address, uint16_t flags) {
    struct bp_place *place = &walk->places[walk->count++];
    *place = (struct bp_place){.address = address, .kind = kind, .flags = flags};
    return place;
}

static struct bp_walk_step *step_of(struct bp_walk *walk, uint64_t pc) {
    uint64_t hash = bp_mix(0, pc);
    return &walk->steps[hash >> 32 & (BP_WALK_CACHE - 1)];
}

static int fits(const struct bp_cfi_rule *rule) {
    return rule->how == BP_CFI_AT_OFFSET && rule->value >= -32768 && rule->value < 0;
}

/* Keep a row that is of the common kind; NULL if it is not. */
static const struct bp_walk_step *remember(struct bp_walk *walk, uint64_t pc) {
    const struct bp_cfi *cfi = &walk->cfi;
    const struct bp_cfi_row *row = &cfi->row;
    struct bp_walk_step step = {.pc = pc, .start = cfi->start};
    int outermost = row->regs[BP_REG_RA].how == BP_CFI_UNDEFINED;
    if (cfi->signal || row->cfa.how != BP_CFI_AT_OFFSET ||
        row->cfa.value != (int32_t)row->cfa.value || !(outermost || fits(&row->regs[BP_REG_RA])) ||
        row->regs[BP_REG_SP].how != BP_CFI_SAME)
        return NULL;
    step.cfa = (int32_t)row->cfa.value;
    step.cfa_register = (uint8_t)row->cfa_register;
    step.ra = outermost ? 0 : (int16_t)row->regs[BP_REG_RA].value;
    for (unsigned i = 0; i < BP_ARCH_SAVED; i++) {
        const struct bp_cfi_rule *rule = &row->regs[bp_arch_saved[i]];
        if (rule->how != BP_CFI_SAME && !fits(rule))
            return NULL;
        step.saved[i] = (int16_t)rule->value;
    }
    *step_of(walk, pc) = step;
    return step_of(walk, pc);
}

static int restore(struct bp_walk *walk, struct bp_cfi_registers *registers, unsigned reg,
                   uint64_t address) {
    registers->known |= 1u << reg;
    bp_trail_load(walk->trail, reg, address);
    return bp_safe_load(&walk->safe, address, &registers->r[reg]);
}

static int apply_step(struct bp_walk *walk, const struct bp_walk_step *step,
                      struct bp_cfi_registers *registers) {
    uint64_t base = registers->r[step->cfa_register];
    uint64_t cfa = base + (uint64_t)(int64_t)step->cfa;
    if (!step->ra) {
        registers->r[BP_REG_RA] = 0;
        return 1;
    }
    if (!(registers->known >> step->cfa_register & 1))
        return 0;
    if (cfa < walk->safe.low || cfa > walk->safe.high)
        bp_trail_break(walk->trail); /* on another stack, which may be gone the next time */
    bp_trail_use(walk->trail, step->cfa_register, base);
    bp_trail_load(walk->trail, BP_REG_SP, 0);
    registers->r[BP_REG_SP] = cfa;
    registers->known &= BP_ARCH_SAVED_MASK;
    registers->known |= 1u << BP_REG_SP;
    for (unsigned i = 0; i < BP_ARCH_SAVED; i++)
        if (step->saved[i] &&
            !restore(walk, registers, bp_arch_saved[i], cfa + (uint64_t)(int64_t)step->saved[i]))
            return 0;
    return restore(walk, registers, BP_REG_RA, cfa + (uint64_t)(int64_t)step->ra);
}

/* Through a stub: it holds nothing on the stack, the entry has what it took from there. */
static int leave_stub(struct bp_walk *walk, struct bp_cfi_registers *registers) {
    uint64_t entry = registers->r[BP_REG_ENTRY];
    if (!(registers->known >> BP_REG_ENTRY & 1) ||
        !bp_safe_range(&walk->safe, entry, sizeof(struct bp_entry)))
        return 0;
    add(walk, BP_FRAME_LEDGER, 0, 0)->entry = entry;
    bp_trail_use(walk->trail, BP_REG_ENTRY, entry);
    return restore(walk, registers, BP_REG_RA, entry + offsetof(struct bp_entry, ret)) &&
           restore(walk, registers, BP_REG_ENTRY, entry + offsetof(struct bp_entry, rbx));
}

/* dlopen and dlsym were called under somebody else's name: the true return address comes next. */
static int was_borrowed(struct bp_walk *walk, struct bp_cfi_registers *registers) {
    uint64_t next, sp = registers->r[BP_REG_SP];
    if (!bp_safe_load(&walk->safe, sp, &next) || next != (uint64_t)bp_call_as_return)
        return 0;
    registers->r[BP_REG_SP] += sizeof next;
    return restore(walk, registers, BP_REG_RA, sp);
}

static int is_after_call(struct bp_walk *walk, uint64_t pc) {
    return pc >= BP_PAGE &&
           bp_safe_range(&walk->safe, pc - BP_ARCH_LONGEST_CALL, BP_ARCH_LONGEST_CALL) &&
           bp_arch_is_after_call((const uint8_t *)pc);
}

/* A return address that nobody called from: the beginning of a function, where a coroutine made by
 * makecontext goes on when its own function returns. There is no caller. */
static int is_made_up(struct bp_walk *walk, struct bp_cfi_registers *registers) {
    uint64_t pc = registers->r[BP_REG_RA];
    if (!bp_cfi_find(&walk->cfi, &walk->safe, pc) || walk->cfi.start != pc)
        return 0;
    registers->r[BP_REG_RA] = 0;
    return 1;
}

static struct bp_place *add_native(struct bp_walk *walk, uint64_t pc, enum bp_exactness exact) {
    static const uint16_t flags[] = {0, BP_FRAME_EXACT, BP_FRAME_EXACT | BP_FRAME_SIGNAL};
    return bp_walk_is_ours(pc) ? NULL : add(walk, BP_FRAME_NATIVE, pc, flags[exact]);
}

/* One frame outwards, by a row that is looked up. Stacks grow downwards, but a stub's return
 * address is not on the stack, and a signal may have changed stacks. */
static int step_by_row(struct bp_walk *walk, struct bp_cfi_registers *registers,
                       enum bp_exactness *exact) {
    uint64_t pc = registers->r[BP_REG_RA], sp = registers->r[BP_REG_SP], cfa;
    uint64_t look = *exact ? pc : pc - 1;
    int found = bp_cfi_find(&walk->cfi, &walk->safe, look);
    int sound =
        *exact || bp_walk_is_ours(pc) || (found && walk->cfi.signal) || is_after_call(walk, pc);
    struct bp_place *place = NULL;
    if (sound && !(found && walk->cfi.signal)) /* else the trampoline of a signal: the kernel's */
        place = add_native(walk, pc, *exact);
    if (!found || !sound)
        return !sound && is_made_up(walk, registers);
    if (place)
        place->start = walk->cfi.start;
    *exact = walk->cfi.signal ? BP_SIGNALLED : BP_RETURN;
    walk->signals += walk->cfi.signal != 0;
    const struct bp_walk_step *step = remember(walk, look);
    if (step)
        return apply_step(walk, step, registers) &&
               (!registers->r[BP_REG_RA] || registers->r[BP_REG_SP] > sp);
    bp_trail_break(walk->trail);
    if (!bp_cfi_apply(&walk->cfi, &walk->safe, registers, &cfa))
        return 0;
    return *exact || registers->r[BP_REG_SP] > sp ||
           (bp_walk_is_ours(pc) && registers->r[BP_REG_SP] == sp);
}

static int step_out(struct bp_walk *walk, struct bp_cfi_registers *registers,
                    enum bp_exactness *exact) {
    uint64_t pc = registers->r[BP_REG_RA], sp = registers->r[BP_REG_SP];
    const struct bp_walk_step *step = step_of(walk, *exact ? pc : pc - 1);
    if (step->pc != (*exact ? pc : pc - 1))
        return step_by_row(walk, registers, exact);
    struct bp_place *place = add_native(walk, pc, *exact);
    if (place)
        place->start = step->start;
    *exact = BP_RETURN;
    return apply_step(walk, step, registers) &&
           (!registers->r[BP_REG_RA] || registers->r[BP_REG_SP] > sp);
}

void bp_walk_forget(struct bp_walk *walk) {
    for (unsigned i = 0; i < BP_WALK_CACHE; i++)
        walk->steps[i].pc = 0;
}

/* Another object may be where an unloaded one was. */
static void forget_unloaded(struct bp_walk *walk) {
    uint32_t generation = bp_tables_generation();
    if (walk->generation == generation)
        return;
    bp_walk_forget(walk);
    walk->generation = generation;
}

/* Whether the function that begins at `function` has a jump into the one at `part`. Compilers put
 * what is rarely needed, as what throws, elsewhere, and to the unwinder it is a function. Jumps to
 * others at the end of a function are not told from these: it was called from where they return to.
 */
static int jumps_into(struct bp_walk *walk, uint64_t function, uint64_t part) {
    struct bp_description whole, other;
    if (!bp_description_find(&whole, &walk->safe, function) || whole.start != function ||
        !bp_description_find(&other, &walk->safe, part))
        return 0;
    uint64_t size = whole.end - whole.start < LONGEST ? whole.end - whole.start : LONGEST;
    if (!bp_safe_range(&walk->safe, function, size))
        return 0;
    for (uint64_t i = 0; i < size; i++) {
        uint64_t target = bp_arch_jump_target((const uint8_t *)function + i, size - i);
        if (target >= other.start && target < other.end)
            return 1;
    }
    return 0;
}

/* The frame that is looked for ends where the last one did, unless that is another function's. It
 * is given an entry as if a stub had called it. */
static void meet(struct bp_walk *walk) {
    const struct bp_place *last = walk->count ? &walk->places[walk->count - 1] : NULL;
    walk->wanted = 0;
    if (!last || !last->start || walk->count == BP_WALK_DEPTH ||
        (last->start != walk->wanted_start && !jumps_into(walk, walk->wanted_start, last->start)))
        return;
    walk->met = 1;
    add(walk, BP_FRAME_LEDGER, 0, 0)->entry = walk->wanted_entry;
}

static uint64_t next_pc(struct bp_walk *walk, const struct bp_cfi_registers *registers) {
    if (registers->r[BP_REG_RA])
        bp_trail_use(walk->trail, BP_REG_RA, registers->r[BP_REG_RA]);
    return registers->r[BP_REG_RA];
}

void bp_walk_from(struct bp_walk *walk, const struct bp_cfi_registers *from,
                  struct bp_trail *trail) {
    struct bp_cfi_registers registers = *from;
    enum bp_exactness exact = BP_INSTRUCTION;
    walk->count = 0;
    walk->truncation = BP_TRUNCATIONS;
    walk->trail = trail;
    walk->met = walk->signals = 0;
    forget_unloaded(walk);
    /* The bound on steps is for frames of our own, which are not counted. */
    for (unsigned steps = 0; next_pc(walk, &registers); steps++) {
        if (walk->count == BP_WALK_DEPTH || steps == 2 * BP_WALK_DEPTH) {
            walk->truncation = BP_TRUNCATED_DEPTH;
            return;
        }
        if (!exact && was_borrowed(walk, &registers))
            continue;
        int stub = !exact && bp_arch_is_stub_return(registers.r[BP_REG_RA]);
        if (!(stub ? leave_stub(walk, &registers) : step_out(walk, &registers, &exact))) {
            walk->truncation = BP_TRUNCATED_WALK;
            return;
        }
        if (registers.r[BP_REG_SP] == walk->wanted)
            meet(walk);
    }
}
