/* SPDX-License-Identifier: MIT */
#include "interpose/sample/trail.h"

void bp_trail_begin(struct bp_trail *trail, const struct bp_cfi_registers *registers) {
    trail->sp = registers->r[BP_REG_RSP];
    trail->count = 0;
    for (unsigned i = 0; i < BP_REGS; i++)
        trail->origins[i] = &registers->r[i];
}

int bp_trail_holds(const struct bp_trail *trail) {
    uint64_t different = !trail->count || trail->count > BP_TRAIL_LENGTH;
    for (uint32_t i = 0; !different && i < trail->count; i++)
        different = *trail->words[i].at ^ trail->words[i].value;
    return !different;
}
