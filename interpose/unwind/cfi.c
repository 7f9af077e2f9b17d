/* SPDX-License-Identifier: MIT
 *
 * Runs the program of a function's frame description up to a pc, and applies the row it leaves.
 */
#include "interpose/unwind/cfi.h"

#include "interpose/unwind/description.h"

/* One instruction is being read; `pc` is where the row built so far begins to hold. */
struct run {
    struct bp_cfi *cfi;
    const struct bp_description *description;
    struct bp_bytes bytes;
    uint64_t pc;
};

static void set_rule(struct run *run, uint64_t reg, enum bp_cfi_how how, int64_t value) {
    if (reg < BP_REGS)
        run->cfi->row.regs[reg] = (struct bp_cfi_rule){(uint8_t)how, value};
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset) {
    run->bytes.bad |= reg >= BP_REGS;
    run->cfi->row.cfa = (struct bp_cfi_rule){BP_CFI_AT_OFFSET, offset};
    run->cfi->row.cfa_register = (uint32_t)reg;
}

static void restore(struct run *run, uint64_t reg) {
    if (reg < BP_REGS)
        run->cfi->row.regs[reg] = run->cfi->initial.regs[reg];
}

/* The address of an expression, whose length comes first; it is skipped. */
static int64_t expression(struct run *run) {
    int64_t place = (int64_t)run->bytes.at;
    bp_bytes_skip(&run->bytes, bp_bytes_uleb(&run->bytes));
    return place;
}

static int64_t factored(struct run *run, int with_sign) {
    int64_t value = with_sign ? bp_bytes_sleb(&run->bytes) : (int64_t)bp_bytes_uleb(&run->bytes);
    return value * run->description->data_factor;
}

static void remember(struct run *run) {
    struct bp_cfi *cfi = run->cfi;
    if (cfi->remembered == BP_CFI_REMEMBERED)
        run->bytes.bad = 1;
    else
        cfi->stack[cfi->remembered++] = cfi->row;
}

static void recall(struct run *run) {
    struct bp_cfi *cfi = run->cfi;
    if (cfi->remembered == 0)
        run->bytes.bad = 1;
    else
        cfi->row = cfi->stack[--cfi->remembered];
}

static void advance(struct run *run, uint64_t units) {
    run->pc += units * run->description->code_factor;
}

enum {
    SET_LOC = 0x01,
    ADVANCE_1 = 0x02,
    ADVANCE_2 = 0x03,
    ADVANCE_4 = 0x04,
    OFFSET_EXTENDED = 0x05,
    RESTORE_EXTENDED = 0x06,
    UNDEFINED = 0x07,
    SAME_VALUE = 0x08,
    REGISTER = 0x09,
    REMEMBER_STATE = 0x0a,
    RESTORE_STATE = 0x0b,
    DEF_CFA = 0x0c,
    DEF_CFA_REGISTER = 0x0d,
    DEF_CFA_OFFSET = 0x0e,
    DEF_CFA_EXPRESSION = 0x0f,
    EXPRESSION = 0x10,
    OFFSET_EXTENDED_SF = 0x11,
    DEF_CFA_SF = 0x12,
    DEF_CFA_OFFSET_SF = 0x13,
    VAL_OFFSET = 0x14,
    VAL_OFFSET_SF = 0x15,
    VAL_EXPRESSION = 0x16,
    GNU_ARGS_SIZE = 0x2e,
};

static void run_cfa(struct run *run, unsigned op) {
    struct bp_bytes *bytes = &run->bytes;
    struct bp_cfi_row *row = &run->cfi->row;
    uint64_t reg;
    switch (op) {
    case DEF_CFA:
        reg = bp_bytes_uleb(bytes);
        set_cfa(run, reg, (int64_t)bp_bytes_uleb(bytes));
        break;
    case DEF_CFA_SF:
        reg = bp_bytes_uleb(bytes);
        set_cfa(run, reg, factored(run, 1));
        break;
    case DEF_CFA_REGISTER:
        set_cfa(run, bp_bytes_uleb(bytes), row->cfa.value);
        break;
    case DEF_CFA_OFFSET:
        row->cfa.value = (int64_t)bp_bytes_uleb(bytes);
        break;
    case DEF_CFA_OFFSET_SF:
        row->cfa.value = factored(run, 1);
        break;
    case DEF_CFA_EXPRESSION:
        row->cfa = (struct bp_cfi_rule){BP_CFI_IS_RESULT, expression(run)};
        break;
    case GNU_ARGS_SIZE:
        bp_bytes_uleb(bytes);
        break;
    case 0: /* padding */
        break;
    default:
        bytes->bad = 1;
    }
}

static void run_register(struct run *run, unsigned op) {
    uint64_t reg = bp_bytes_uleb(&run->bytes);
    switch (op) {
    case OFFSET_EXTENDED:
        set_rule(run, reg, BP_CFI_AT_OFFSET, factored(run, 0));
        break;
    case OFFSET_EXTENDED_SF:
        set_rule(run, reg, BP_CFI_AT_OFFSET, factored(run, 1));
        break;
    case VAL_OFFSET:
        set_rule(run, reg, BP_CFI_IS_OFFSET, factored(run, 0));
        break;
    case VAL_OFFSET_SF:
        set_rule(run, reg, BP_CFI_IS_OFFSET, factored(run, 1));
        break;
    case RESTORE_EXTENDED:
        restore(run, reg);
        break;
    case UNDEFINED:
        set_rule(run, reg, BP_CFI_UNDEFINED, 0);
        break;
    case SAME_VALUE:
        set_rule(run, reg, BP_CFI_SAME, 0);
        break;
    case REGISTER:
        set_rule(run, reg, BP_CFI_REGISTER, (int64_t)bp_bytes_uleb(&run->bytes));
        break;
    case EXPRESSION:
        set_rule(run, reg, BP_CFI_AT_RESULT, expression(run));
        break;
    default: /* VAL_EXPRESSION */
        set_rule(run, reg, BP_CFI_IS_RESULT, expression(run));
    }
}

static void run_one(struct run *run) {
    unsigned op = (unsigned)bp_bytes_number(&run->bytes, 1), low = op & 0x3f;
    if (op >> 6 == 1)
        advance(run, low);
    else if (op >> 6 == 2)
        set_rule(run, low, BP_CFI_AT_OFFSET, factored(run, 0));
    else if (op >> 6 == 3)
        restore(run, low);
    else if (op == SET_LOC)
        run->pc = bp_description_pointer(&run->bytes, run->description->encoding, 1);
    else if (op >= ADVANCE_1 && op <= ADVANCE_4)
        advance(run, bp_bytes_number(&run->bytes, 1u << (op - ADVANCE_1)));
    else if (op == REMEMBER_STATE)
        remember(run);
    else if (op == RESTORE_STATE)
        recall(run);
    else if ((op >= OFFSET_EXTENDED && op <= REGISTER) || op == EXPRESSION ||
             op == OFFSET_EXTENDED_SF || (op >= VAL_OFFSET && op <= VAL_EXPRESSION))
        run_register(run, op);
    else
        run_cfa(run, op);
}

/* Until the next row would begin behind `pc`. */
static int run_up_to(struct bp_cfi *cfi, const struct bp_description *description,
                     struct bp_bytes bytes, uint64_t pc) {
    struct run run = {cfi, description, bytes, description->start};
    while (run.bytes.at < run.bytes.end && !run.bytes.bad && run.pc <= pc)
        run_one(&run);
    return !run.bytes.bad;
}

int bp_cfi_find(struct bp_cfi *cfi, struct bp_safe *safe, uint64_t pc) {
    struct bp_description description;
    if (!bp_description_find(&description, safe, pc))
        return 0;
    __builtin_memset(&cfi->row, 0, sizeof cfi->row);
    cfi->remembered = 0;
    cfi->start = description.start;
    cfi->signal = description.signal;
    if (!run_up_to(cfi, &description, description.common, UINT64_MAX))
        return 0;
    cfi->initial = cfi->row;
    return run_up_to(cfi, &description, description.own, pc);
}

static int find_cfa(const struct bp_cfi *cfi, struct bp_safe *safe,
                    const struct bp_cfi_registers *registers, uint64_t *cfa) {
    const struct bp_cfi_row *row = &cfi->row;
    if (row->cfa.how == BP_CFI_IS_RESULT)
        return bp_cfi_evaluate((uint64_t)row->cfa.value, safe, registers, NULL, cfa);
    *cfa = registers->r[row->cfa_register] + (uint64_t)row->cfa.value;
    return row->cfa.how == BP_CFI_AT_OFFSET && registers->known >> row->cfa_register & 1;
}

/* 1 and the value, 0 if it is lost. */
static int find_value(const struct bp_cfi_rule *rule, struct bp_safe *safe,
                      const struct bp_cfi_registers *registers, uint64_t cfa, uint64_t *value) {
    uint64_t address;
    switch (rule->how) {
    case BP_CFI_AT_OFFSET:
        return bp_safe_load(safe, cfa + (uint64_t)rule->value, value);
    case BP_CFI_IS_OFFSET:
        *value = cfa + (uint64_t)rule->value;
        return 1;
    case BP_CFI_REGISTER:
        *value = registers->r[rule->value % BP_REGS];
        return rule->value < BP_REGS && registers->known >> rule->value & 1;
    case BP_CFI_AT_RESULT:
        return bp_cfi_evaluate((uint64_t)rule->value, safe, registers, &cfa, &address) &&
               bp_safe_load(safe, address, value);
    case BP_CFI_IS_RESULT:
        return bp_cfi_evaluate((uint64_t)rule->value, safe, registers, &cfa, value);
    default:
        return 0;
    }
}

int bp_cfi_apply(const struct bp_cfi *cfi, struct bp_safe *safe, struct bp_cfi_registers *registers,
                 uint64_t *cfa) {
    struct bp_cfi_registers caller = {.known = 0};
    if (!find_cfa(cfi, safe, registers, cfa))
        return 0;
    caller.r[BP_REG_SP] = *cfa;
    caller.known = 1u << BP_REG_SP;
    for (unsigned i = 0; i < BP_REGS; i++) {
        const struct bp_cfi_rule *rule = &cfi->row.regs[i];
        if (rule->how == BP_CFI_SAME && BP_ARCH_SAVED_MASK >> i & 1) {
            caller.r[i] = registers->r[i];
            caller.known |= registers->known & 1u << i;
        } else if (find_value(rule, safe, registers, *cfa, &caller.r[i])) {
            caller.known |= 1u << i;
        }
    }
    if (cfi->row.regs[BP_REG_RA].how == BP_CFI_UNDEFINED) {
        caller.r[BP_REG_RA] = 0;
        caller.known |= 1u << BP_REG_RA;
    }
    *registers = caller;
    return caller.known >> BP_REG_RA & 1;
}
