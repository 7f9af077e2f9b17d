/* SPDX-License-Identifier: MIT */
#include "interpose/unwind/trail.h"

void bp_trail_begin(struct bp_trail *trail, const struct bp_cfi_registers *registers) {
    trail->sp = registers->r[BP_REG_SP];
    trail->count = 0;
    for (unsigned i = 0; i < BP_REGS; i++)
        trail->origins[i] = &registers->r[i];
}
