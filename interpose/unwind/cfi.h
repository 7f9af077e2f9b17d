/* SPDX-License-Identifier: MIT
 *
 * Call frame information: what .eh_frame says about one instruction, and registers one frame
 * further out. All loads are safe, nothing is allocated; memory for the work is the caller's.
 */
#ifndef BP_INTERPOSE_UNWIND_CFI_H
#define BP_INTERPOSE_UNWIND_CFI_H

#include "interpose/arch/frame.h"
#include "interpose/base/safe.h"

enum bp_cfi_how {
    BP_CFI_SAME = 0,
    BP_CFI_UNDEFINED,
    BP_CFI_AT_OFFSET, /* at CFA + value */
    BP_CFI_IS_OFFSET, /* CFA + value itself */
    BP_CFI_REGISTER,  /* in another register */
    BP_CFI_AT_RESULT, /* at the address that the expression at `value` gives */
    BP_CFI_IS_RESULT  /* the expression's result itself */
};

struct bp_cfi_rule {
    uint8_t how;
    int64_t value; /* offset, register, or address of an expression with its length before it */
};

struct bp_cfi_row {
    struct bp_cfi_rule regs[BP_REGS];
    struct bp_cfi_rule cfa; /* AT_OFFSET: register `cfa_register` + value; IS_RESULT: expression */
    uint32_t cfa_register;
};

#define BP_CFI_REMEMBERED 8

/* What is known about a pc, and room to find it out. */
struct bp_cfi {
    struct bp_cfi_row row;
    uint64_t start;      /* of the function */
    uint32_t signal;     /* the kernel made this frame for a signal handler */
    uint32_t remembered; /* rows in use */
    struct bp_cfi_row initial;
    struct bp_cfi_row stack[BP_CFI_REMEMBERED];
};

/* Values of registers; those without a bit in `known` are lost. r[BP_REG_RA] is the pc. */
struct bp_cfi_registers {
    uint64_t r[BP_REGS];
    uint32_t known;
};

/* The row for the instruction at `pc`. 0 if there is none, or none that we understand. */
int bp_cfi_find(struct bp_cfi *cfi, struct bp_safe *safe, uint64_t pc);

/* The registers of the caller, by the row. 1, or 0 if a value that is needed is lost; `cfa` is the
 * frame's. A caller's pc that is undefined becomes 0: there is none. */
int bp_cfi_apply(const struct bp_cfi *cfi, struct bp_safe *safe, struct bp_cfi_registers *registers,
                 uint64_t *cfa);

/* expression.c: 0 if it cannot be evaluated. `initial` is pushed first if it is not NULL. */
int bp_cfi_evaluate(uint64_t expression, struct bp_safe *safe,
                    const struct bp_cfi_registers *registers, const uint64_t *initial,
                    uint64_t *result);

#endif
