/* SPDX-License-Identifier: MIT */
#include "interpose/sample/walk.h"

#include "interpose/sample/tables.h"

static const uint8_t saved_registers[6] = {BP_REG_RBX, BP_REG_RBP, 12, 13, 14, 15};

static struct { uint64_t low, high; /* our own library */ } state;

void bp_walk_init(uint64_t low, uint64_t high) {
    state.low = low;
    state.high = high;
}

static int is_ours(uint64_t pc) {
    return pc >= state.low && pc < state.high;
}

static int is_stub_return(uint64_t pc) {
    return pc == (uint64_t)bp_stub_return_fast || pc == (uint64_t)bp_stub_return_slow;
}

static struct bp_place *add(struct bp_walk *walk, uint16_t kind, uint64_t address, uint16_t flags) {
    struct bp_place *place = &walk->places[walk->count++];
    *place = (struct bp_place){.address = address, .kind = kind, .flags = flags};
    return place;
}

static struct bp_walk_step *step_of(struct bp_walk *walk, uint64_t pc) {
    uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15);
    return &walk->steps[hash >> 32 & (BP_WALK_CACHE - 1)];
}

static int fits(const struct bp_cfi_rule *rule) {
    return rule->how == BP_CFI_AT_OFFSET && rule->value >= -32768 && rule->value < 0;
}

/* Keep a row that is of the common kind. */
static void remember(struct bp_walk *walk, uint64_t pc) {
    const struct bp_cfi *cfi = &walk->cfi;
    const struct bp_cfi_row *row = &cfi->row;
    struct bp_walk_step step = {.pc = pc, .start = cfi->start};
    if (cfi->signal || row->cfa.how != BP_CFI_AT_OFFSET ||
        row->cfa.value != (int32_t)row->cfa.value || !fits(&row->regs[BP_REG_RA]) ||
        row->regs[BP_REG_RSP].how != BP_CFI_SAME)
        return;
    step.cfa = (int32_t)row->cfa.value;
    step.cfa_register = (uint8_t)row->cfa_register;
    step.ra = (int16_t)row->regs[BP_REG_RA].value;
    for (unsigned i = 0; i < 6; i++) {
        const struct bp_cfi_rule *rule = &row->regs[saved_registers[i]];
        if (rule->how != BP_CFI_SAME && !fits(rule))
            return;
        step.saved[i] = (int16_t)rule->value;
    }
    *step_of(walk, pc) = step;
}

/* The registers that a step of the common kind leaves. */
#define KEPT (1u << BP_REG_RBX | 1u << BP_REG_RBP | 0xfu << 12)

static int apply_step(struct bp_walk *walk, const struct bp_walk_step *step,
                      struct bp_cfi_registers *registers) {
    uint64_t *r = registers->r;
    uint64_t cfa = r[step->cfa_register] + (uint64_t)(int64_t)step->cfa;
    if (!(registers->known >> step->cfa_register & 1) ||
        !bp_safe_load(&walk->safe, cfa + (uint64_t)(int64_t)step->ra, &r[BP_REG_RA]))
        return 0;
    for (unsigned i = 0; i < 6; i++) {
        unsigned reg = saved_registers[i];
        if (!step->saved[i])
            continue;
        if (!bp_safe_load(&walk->safe, cfa + (uint64_t)(int64_t)step->saved[i], &r[reg]))
            return 0;
        registers->known |= 1u << reg;
    }
    r[BP_REG_RSP] = cfa;
    registers->known &= KEPT;
    registers->known |= 1u << BP_REG_RSP | 1u << BP_REG_RA;
    return 1;
}

/* Through a stub: it holds nothing on the stack, the entry has what it took from there. */
static int leave_stub(struct bp_walk *walk, struct bp_cfi_registers *registers) {
    uint64_t entry = registers->r[BP_REG_RBX];
    if (!(registers->known >> BP_REG_RBX & 1) ||
        !bp_safe_range(&walk->safe, entry, sizeof(struct bp_entry)))
        return 0;
    add(walk, BP_FRAME_LEDGER, 0, 0)->entry = entry;
    registers->r[BP_REG_RA] = ((const struct bp_entry *)entry)->ret;
    registers->r[BP_REG_RBX] = ((const struct bp_entry *)entry)->rbx;
    return 1;
}

/* A return address that nobody called from: the beginning of a function, where a coroutine made by
 * makecontext goes on when its own function returns. There is no caller. */
static int is_made_up(struct bp_walk *walk, struct bp_cfi_registers *registers) {
    uint64_t pc = registers->r[BP_REG_RA];
    if (!bp_cfi_find(&walk->cfi, &walk->safe, pc) || walk->cfi.start != pc)
        return 0;
    walk->count--;
    registers->r[BP_REG_RA] = 0;
    return 1;
}

/* One frame outwards. *exact: the pc is an instruction's own, before and after. */
static int step_out(struct bp_walk *walk, struct bp_cfi_registers *registers, int *exact) {
    uint64_t pc = registers->r[BP_REG_RA], look = *exact ? pc : pc - 1;
    uint64_t sp = registers->r[BP_REG_RSP], cfa;
    const struct bp_walk_step *step = step_of(walk, look);
    int was_signal = *exact == 2;
    struct bp_place *place =
        is_ours(pc)
            ? NULL
            : add(walk, BP_FRAME_NATIVE, pc,
                  (uint16_t)((*exact ? BP_FRAME_EXACT : 0) | (was_signal ? BP_FRAME_SIGNAL : 0)));
    *exact = 0;
    if (step->pc == look) {
        if (place)
            place->start = step->start;
        return apply_step(walk, step, registers) && registers->r[BP_REG_RSP] > sp;
    }
    if (!bp_cfi_find(&walk->cfi, &walk->safe, look))
        return look != pc && is_made_up(walk, registers);
    if (place)
        place->start = walk->cfi.start;
    remember(walk, look);
    if (walk->cfi.signal && place)
        walk->count--; /* the trampoline: the kernel's call */
    *exact = walk->cfi.signal ? 2 : 0;
    if (!bp_cfi_apply(&walk->cfi, &walk->safe, registers, &cfa))
        return 0;
    /* Stacks grow downwards. A stub's return address is not on it; a signal may change stacks. */
    return *exact || registers->r[BP_REG_RSP] > sp ||
           (is_ours(pc) && registers->r[BP_REG_RSP] == sp);
}

void bp_walk_from(struct bp_walk *walk, const struct bp_cfi_registers *from, int exact) {
    struct bp_cfi_registers registers = *from;
    walk->count = 0;
    walk->truncation = BP_TRUNCATIONS;
    /* The bound on steps is for frames of our own, which are not counted. */
    for (unsigned steps = 0; registers.r[BP_REG_RA]; steps++) {
        if (walk->count == BP_WALK_DEPTH || steps == 2 * BP_WALK_DEPTH) {
            walk->truncation = BP_TRUNCATED_DEPTH;
            return;
        }
        int stub = !exact && is_stub_return(registers.r[BP_REG_RA]);
        if (!(stub ? leave_stub(walk, &registers) : step_out(walk, &registers, &exact))) {
            walk->truncation = BP_TRUNCATED_WALK;
            return;
        }
    }
}
