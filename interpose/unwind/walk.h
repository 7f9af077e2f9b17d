/* SPDX-License-Identifier: MIT
 *
 * The native stack of the calling thread, from a signal handler or from a call. Steps follow call
 * frame information and nothing else: where it ends the stack is truncated, never guessed. Our
 * stubs keep the return address in an entry, which BP_REG_ENTRY points to.
 */
#ifndef BP_INTERPOSE_UNWIND_WALK_H
#define BP_INTERPOSE_UNWIND_WALK_H

#include "interpose/unwind/trail.h"
#include "profile/format.h"

/* Frames of one stack that are kept, the innermost ones. */
#define BP_WALK_DEPTH 512
#define BP_WALK_CACHE 1024

/* One frame, innermost first. */
struct bp_place {
    uint64_t address;
    uint64_t start; /* of the function; 0 if unknown */
    uint64_t entry; /* LEDGER: address of the entry */
    uint32_t func;  /* as in bp_frame */
    uint32_t line;
    uint16_t kind; /* enum bp_frame_kind */
    uint16_t flags;
    uint32_t unused;
};

/* What most instructions need to know: the frame's address is a register and an offset, and what
 * is saved lies at offsets from it. A thread's first function has nowhere to return to. */
struct bp_walk_step {
    uint64_t pc; /* that was looked up; 0: unused */
    uint64_t start;
    int32_t cfa;
    uint8_t cfa_register;
    uint8_t unused;
    int16_t ra;                   /* 0: there is no caller */
    int16_t saved[BP_ARCH_SAVED]; /* by bp_arch_saved; 0: not saved */
    uint32_t padding;
};

/* A thread's memory for it: too much for a stack. */
struct bp_walk {
    struct bp_safe safe;
    struct bp_cfi cfi;
    struct bp_trail *trail; /* of the walk under way, or NULL */
    /* A frame that is looked for: the end of its part of the stack, where its function begins, and
     * the entry that stands for it. 0: none, or it was passed. */
    uint64_t wanted, wanted_start, wanted_entry;
    uint32_t met;
    uint32_t signals; /* frames that the kernel made for handlers */
    struct bp_walk_step steps[BP_WALK_CACHE];
    struct bp_place places[BP_WALK_DEPTH];
    uint32_t generation; /* of the tables that `steps` come from */
    uint32_t count;
    uint32_t truncation; /* enum bp_truncation, or BP_TRUNCATIONS: the stack is whole */
};

/* From these registers outwards. `trail` may be NULL. */
void bp_walk_from(struct bp_walk *walk, const struct bp_cfi_registers *registers,
                  struct bp_trail *trail);

/* The steps that are known. */
void bp_walk_forget(struct bp_walk *walk);

/* Where our own code is: its frames are left out. */
void bp_walk_init(uint64_t low, uint64_t high);
int bp_walk_is_ours(uint64_t pc);

/* The registers of the calling function, as far as a caller's frame can need them. */
static inline __attribute__((always_inline)) void bp_walk_here(struct bp_cfi_registers *registers) {
    bp_arch_registers_here(registers->r);
    registers->known = BP_ARCH_HERE;
}

#endif
