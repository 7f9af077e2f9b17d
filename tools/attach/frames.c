/* SPDX-License-Identifier: MIT
 *
 * libdw finds the row that holds at an instruction and gives its rules as expressions; here they
 * are evaluated. The part of the stack that a walk needs, as a rule, is read at once: a stopped
 * thread waits for us.
 */
#include "tools/attach/frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "tools/base/memory.h"

#define STACK_READ (256u << 10) /* bytes of the stack that are read at once */
#define DEPTH 16                /* of the stack of an expression: those of linkers need 4 */

struct walk {
    pid_t pid;
    uint64_t dwarf[BP_FRAME_REGS];
    uint32_t known; /* registers that have a value */
    char *stack;    /* a copy of what lies above the first stack pointer */
    uint64_t stack_low;
    size_t stack_size;
    uint64_t cfa;
};

void bp_frames_prepare(const struct bp_objects *objects) {
    for (uint32_t i = 0; i < objects->count; i++) {
        struct bp_attach_object *object = &objects->rows[i];
        if (object->elf && !object->cfi)
            object->cfi = dwarf_getcfi_elf(object->elf);
    }
}

void bp_frames_forget(const struct bp_objects *objects) {
    for (uint32_t i = 0; i < objects->count; i++) {
        if (objects->rows[i].cfi)
            dwarf_cfi_end(objects->rows[i].cfi);
        objects->rows[i].cfi = NULL;
    }
}

static bool read_remote(pid_t pid, uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool load(const struct walk *walk, uint64_t address, uint64_t *value) {
    if (address >= walk->stack_low && address - walk->stack_low + 8 <= walk->stack_size) {
        memcpy(value, walk->stack + (address - walk->stack_low), 8);
        return true;
    }
    return read_remote(walk->pid, address, value, 8);
}

/* As much as there is: the stack may end anywhere. */
static void read_stack(struct walk *walk) {
    walk->stack = bp_alloc(1, STACK_READ);
    walk->stack_low = walk->dwarf[BP_FRAME_SP];
    struct iovec here = {walk->stack, STACK_READ};
    struct iovec there = {(void *)(uintptr_t)walk->stack_low, STACK_READ};
    ssize_t got = process_vm_readv(walk->pid, &here, 1, &there, 1, 0);
    walk->stack_size = got > 0 ? (size_t)got : 0;
}

static bool get(const struct walk *walk, uint64_t number, uint64_t *value) {
    if (number >= BP_FRAME_REGS || !(walk->known >> number & 1))
        return false;
    *value = walk->dwarf[number];
    return true;
}

struct machine {
    uint64_t values[DEPTH];
    unsigned depth;
    bool is_value; /* the result is the value itself, not where it lies */
};

/* Two operands for one result. */
static bool combine(struct machine *machine, unsigned atom) {
    if (machine->depth < 2)
        return false;
    uint64_t right = machine->values[--machine->depth];
    uint64_t *left = &machine->values[machine->depth - 1];
    switch (atom) {
    case DW_OP_plus:
        *left += right;
        return true;
    case DW_OP_minus:
        *left -= right;
        return true;
    case DW_OP_and:
        *left &= right;
        return true;
    case DW_OP_shl:
        *left = right < 64 ? *left << right : 0;
        return true;
    case DW_OP_ge:
        *left = (int64_t)*left >= (int64_t)right;
        return true;
    default:
        return false;
    }
}

/* Something new on top. */
static bool produce(const struct walk *walk, const Dwarf_Op *op, uint64_t *value) {
    unsigned atom = op->atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
        *value = atom - DW_OP_lit0;
    else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
        *value = op->number;
    else if (atom == DW_OP_call_frame_cfa)
        *value = walk->cfa;
    else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31 && get(walk, atom - DW_OP_breg0, value))
        *value += op->number;
    else if (atom == DW_OP_bregx && get(walk, op->number, value))
        *value += op->number2;
    else
        return false;
    return true;
}

static bool run_one(const struct walk *walk, struct machine *machine, const Dwarf_Op *op) {
    uint64_t *top = machine->depth ? &machine->values[machine->depth - 1] : NULL;
    if (op->atom == DW_OP_stack_value) {
        machine->is_value = true;
        return top;
    }
    if (op->atom == DW_OP_plus_uconst && top) {
        *top += op->number;
        return true;
    }
    if (op->atom == DW_OP_deref)
        return top && load(walk, *top, top);
    if (op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)) {
        machine->is_value = true;
        return machine->depth < DEPTH &&
               get(walk, op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0,
                   &machine->values[machine->depth++]);
    }
    if (machine->depth < DEPTH && produce(walk, op, &machine->values[machine->depth]))
        return ++machine->depth;
    return combine(machine, op->atom);
}

static bool evaluate(const struct walk *walk, const Dwarf_Op *ops, size_t count,
                     struct machine *machine) {
    *machine = (struct machine){.depth = 0};
    for (size_t i = 0; i < count; i++)
        if (!run_one(walk, machine, &ops[i]))
            return false;
    return machine->depth == 1;
}

enum found { LOST, FOUND, NONE };

/* A register of the caller; NONE: it has no value, by the table. */
static enum found recover(const struct walk *walk, Dwarf_Frame *frame, unsigned number,
                          uint64_t *value) {
    Dwarf_Op room[3], *ops;
    struct machine machine;
    size_t count;
    if (dwarf_frame_register(frame, (int)number, room, &ops, &count))
        return LOST;
    if (count == 0)
        return ops ? NONE : get(walk, number, value) ? FOUND : LOST;
    if (!evaluate(walk, ops, count, &machine))
        return LOST;
    *value = machine.values[0];
    return machine.is_value || load(walk, *value, value) ? FOUND : LOST;
}

/* One frame outwards; NONE: there is no caller. */
static enum found leave(struct walk *walk, Dwarf_Frame *frame) {
    uint64_t caller[BP_FRAME_REGS] = {0};
    Dwarf_Op *ops;
    struct machine machine;
    size_t count;
    uint32_t known = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) || !evaluate(walk, ops, count, &machine))
        return LOST;
    walk->cfa = machine.values[0];
    enum found pc = recover(walk, frame, BP_FRAME_PC, &caller[BP_FRAME_PC]);
    if (pc != FOUND)
        return pc;
    for (unsigned i = 0; i < BP_FRAME_REGS - 1; i++)
        if (recover(walk, frame, i, &caller[i]) == FOUND)
            known |= 1u << i;
    caller[BP_FRAME_SP] = walk->cfa;
    memcpy(walk->dwarf, caller, sizeof(caller));
    walk->known = known | 1u << BP_FRAME_SP | 1u << BP_FRAME_PC;
    return FOUND;
}

static enum found leave_trampoline(struct walk *walk) {
    uint64_t context[BP_FRAME_CONTEXT];
    uint64_t address = bp_frame_signal_context(walk->dwarf[BP_FRAME_SP]);
    for (size_t i = 0; i < BP_FRAME_CONTEXT; i++)
        if (!load(walk, address + 8 * i, &context[i]))
            return LOST;
    bp_frame_from_context(context, walk->dwarf);
    walk->known = (1u << BP_FRAME_REGS) - 1;
    return FOUND;
}

static enum found step(struct walk *walk, struct bp_attach_frame *row) {
    uint64_t look = walk->dwarf[BP_FRAME_PC] - !row->exact;
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr start, end;
    if (!row->object || !row->object->cfi ||
        dwarf_cfi_addrframe(row->object->cfi, look - row->object->base, &frame))
        return LOST;
    dwarf_frame_info(frame, &start, &end, &row->trampoline);
    uint64_t sp = walk->dwarf[BP_FRAME_SP];
    enum found found = row->trampoline ? leave_trampoline(walk) : leave(walk, frame);
    free(frame);
    if (found == FOUND && !row->trampoline && walk->dwarf[BP_FRAME_SP] <= sp)
        return LOST; /* stacks grow downwards */
    return found == FOUND && !walk->dwarf[BP_FRAME_PC] ? NONE : found;
}

void bp_frames_walk(struct bp_frames *frames, const struct bp_objects *objects,
                    const struct user_regs_struct *registers) {
    struct walk walk = {.pid = objects->pid, .known = (1u << BP_FRAME_REGS) - 1};
    enum found found = FOUND;
    bool exact = true;
    bp_registers_to_dwarf(registers, walk.dwarf);
    read_stack(&walk);
    frames->count = 0;
    while (found == FOUND && frames->count < BP_MOST_FRAMES) {
        struct bp_attach_frame *row = &frames->rows[frames->count++];
        *row = (struct bp_attach_frame){.pc = walk.dwarf[BP_FRAME_PC], .exact = exact};
        row->object = bp_objects_at(objects, row->pc);
        found = step(&walk, row);
        exact = row->trampoline;
    }
    frames->whole = found == NONE;
    free(walk.stack);
}
