/* SPDX-License-Identifier: MIT
 *
 * What a walk rested on: the words of memory that led from each frame to the next. While they are
 * what they were, walking again gives the same frames, and reading the words takes a tenth of the
 * time. Where a register was saved counts only once the walk has used the register: most hold
 * variables of the program, which change.
 */
#ifndef BP_INTERPOSE_UNWIND_TRAIL_H
#define BP_INTERPOSE_UNWIND_TRAIL_H

#include "interpose/unwind/cfi.h"

#define BP_TRAIL_LENGTH 250

struct bp_trail_word {
    const uint64_t *at;
    uint64_t value;
};

struct bp_trail {
    uint64_t sp;
    uint64_t high; /* end of the stack: the words are below it, or in memory of ours that stays */
    uint64_t path; /* what the frames come to, for the owner */
    uint32_t node; /* for the owner, too */
    uint32_t generation; /* of the tables that the walk went by */
    uint32_t count;      /* of words; 0, or more than there is room for: none that holds */
    struct bp_trail_word words[BP_TRAIL_LENGTH];
    const uint64_t *origins[BP_REGS]; /* where registers come from; NULL: from words before */
};

/* A walk begins, with registers at a place that is the same whenever the stack pointer is. */
void bp_trail_begin(struct bp_trail *trail, const struct bp_cfi_registers *registers);

/* Whether all words still are what they were. */
static inline int bp_trail_holds(const struct bp_trail *trail) {
    uint64_t different = 0;
    if (!trail->count || trail->count > BP_TRAIL_LENGTH)
        return 0;
    for (uint32_t i = 0; i < trail->count; i++)
        different |= *trail->words[i].at ^ trail->words[i].value;
    return !different;
}

/* For the walk; without a trail there is nothing to do. A register was loaded from there. */
static inline void bp_trail_load(struct bp_trail *trail, unsigned reg, uint64_t from) {
    if (trail)
        trail->origins[reg] = (const uint64_t *)from;
}

/* The walk goes on by the value of a register. */
static inline void bp_trail_use(struct bp_trail *trail, unsigned reg, uint64_t value) {
    if (!trail || !trail->origins[reg])
        return;
    if (trail->count < BP_TRAIL_LENGTH) {
        trail->words[trail->count].at = trail->origins[reg];
        trail->words[trail->count].value = value;
    }
    trail->count++;
    trail->origins[reg] = NULL;
}

/* A step rests on more than that. */
static inline void bp_trail_break(struct bp_trail *trail) {
    if (trail)
        trail->count = BP_TRAIL_LENGTH + 1;
}

#endif
