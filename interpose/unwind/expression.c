/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions as they appear in call frame information: PLT entries, signal trampolines,
 * functions that align their stack, and our own stubs. An operation that is not known ends it.
 */
#include "interpose/base/bytes.h"
#include "interpose/unwind/cfi.h"

#define DEPTH 16

enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* up to CONST8S: 1, 2, 4, 8 bytes, unsigned and signed in turn */
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_XOR = 0x27,
    OP_BRANCH = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
};

struct machine {
    struct bp_bytes code;
    struct bp_safe *safe;
    const struct bp_cfi_registers *registers;
    uint64_t stack[DEPTH];
    unsigned depth;
};

static void push(struct machine *machine, uint64_t value) {
    if (machine->depth == DEPTH)
        machine->code.bad = 1;
    else
        machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine) {
    if (machine->depth == 0) {
        machine->code.bad = 1;
        return 0;
    }
    return machine->stack[--machine->depth];
}

static int binary(struct machine *machine, unsigned op) {
    uint64_t b = pop(machine), a = pop(machine);
    switch (op) {
    case OP_AND:
        return push(machine, a & b), 1;
    case OP_MINUS:
        return push(machine, a - b), 1;
    case OP_MOD:
        return b && (push(machine, a % b), 1);
    case OP_MUL:
        return push(machine, a * b), 1;
    case OP_OR:
        return push(machine, a | b), 1;
    case OP_PLUS:
        return push(machine, a + b), 1;
    case OP_SHL:
        return push(machine, b < 64 ? a << b : 0), 1;
    case OP_SHR:
        return push(machine, b < 64 ? a >> b : 0), 1;
    case OP_XOR:
        return push(machine, a ^ b), 1;
    case OP_EQ:
        return push(machine, a == b), 1;
    case OP_GE:
        return push(machine, (int64_t)a >= (int64_t)b), 1;
    case OP_GT:
        return push(machine, (int64_t)a > (int64_t)b), 1;
    case OP_LE:
        return push(machine, (int64_t)a <= (int64_t)b), 1;
    case OP_LT:
        return push(machine, (int64_t)a < (int64_t)b), 1;
    case OP_NE:
        return push(machine, a != b), 1;
    default:
        return 0;
    }
}

static void load(struct machine *machine) {
    uint64_t value = 0;
    if (!bp_safe_load(machine->safe, pop(machine), &value))
        machine->code.bad = 1;
    push(machine, value);
}

static void push_constant(struct machine *machine, unsigned op) {
    unsigned size = 1u << (op - OP_CONST1U) / 2;
    if ((op - OP_CONST1U) % 2)
        push(machine, (uint64_t)bp_bytes_signed(&machine->code, size));
    else
        push(machine, bp_bytes_number(&machine->code, size));
}

static void push_register(struct machine *machine, unsigned number) {
    int64_t offset = bp_bytes_sleb(&machine->code);
    if (number >= BP_REGS || !(machine->registers->known >> number & 1)) {
        machine->code.bad = 1;
        return;
    }
    push(machine, machine->registers->r[number] + (uint64_t)offset);
}

/* Forwards only: expressions end. */
static void branch(struct machine *machine) {
    int64_t distance = bp_bytes_signed(&machine->code, 2);
    if (pop(machine))
        bp_bytes_skip(&machine->code, (uint64_t)distance);
}

static int stack_operation(struct machine *machine, unsigned op) {
    uint64_t a = pop(machine), b;
    switch (op) {
    case OP_DROP:
        return 1;
    case OP_DUP:
        return push(machine, a), push(machine, a), 1;
    case OP_NEG:
        return push(machine, -a), 1;
    case OP_NOT:
        return push(machine, ~a), 1;
    case OP_PLUS_UCONST:
        return push(machine, a + bp_bytes_uleb(&machine->code)), 1;
    case OP_OVER:
        b = pop(machine);
        return push(machine, b), push(machine, a), push(machine, b), 1;
    case OP_SWAP:
        b = pop(machine);
        return push(machine, a), push(machine, b), 1;
    default:
        return push(machine, a), 0;
    }
}

static void step(struct machine *machine) {
    unsigned op = (unsigned)bp_bytes_number(&machine->code, 1);
    if (op >= OP_BREG0 && op <= OP_BREG31)
        push_register(machine, op - OP_BREG0);
    else if (op >= OP_LIT0 && op <= OP_LIT31)
        push(machine, op - OP_LIT0);
    else if (op >= OP_CONST1U && op <= OP_CONST8S)
        push_constant(machine, op);
    else if (op == OP_CONSTU)
        push(machine, bp_bytes_uleb(&machine->code));
    else if (op == OP_CONSTS)
        push(machine, (uint64_t)bp_bytes_sleb(&machine->code));
    else if (op == OP_DEREF)
        load(machine);
    else if (op == OP_BRANCH)
        branch(machine);
    else if (!stack_operation(machine, op) && !binary(machine, op))
        machine->code.bad = 1;
}

int bp_cfi_evaluate(uint64_t expression, struct bp_safe *safe,
                    const struct bp_cfi_registers *registers, const uint64_t *initial,
                    uint64_t *result) {
    if (!bp_safe_range(safe, expression, 1))
        return 0;
    const uint8_t *code = (const uint8_t *)expression;
    uint64_t length = code[0]; /* one byte of LEB128: the longest of glibc has three bytes */
    if (length >= 0x80 || !bp_safe_range(safe, expression, 1 + length))
        return 0;
    struct bp_bytes bytes = {code + 1, code + 1 + length, 0};
    struct machine machine = {.code = bytes, .safe = safe, .registers = registers};
    if (initial)
        push(&machine, *initial);
    while (machine.code.at < machine.code.end && !machine.code.bad)
        step(&machine);
    *result = pop(&machine);
    return !machine.code.bad;
}
