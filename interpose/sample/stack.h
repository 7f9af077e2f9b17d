/* SPDX-License-Identifier: MIT
 *
 * A sampled stack on its way into the file: native and Python frames joined, then folded into the
 * thread's frames. One per thread, in memory of its own; made when it is first needed.
 */
#ifndef BP_INTERPOSE_SAMPLE_STACK_H
#define BP_INTERPOSE_SAMPLE_STACK_H

#include "interpose/ledger/timer.h"
#include "interpose/python/stack/stack.h"
#include "interpose/sample/list.h"
#include "interpose/unwind/walk.h"

#define BP_SITES 256 /* call paths of copies that are recognised, direct-mapped */

struct bp_site {
    uint64_t key;
    struct bp_sample *sample;
};

#define BP_TRAILS 64 /* of copies, direct-mapped: paths that are not walked again */

struct bp_sample_stack {
    struct bp_list frames;
    struct bp_list samples;
    uint32_t count;
    uint32_t truncation;                   /* as in bp_walk */
    uint32_t generation;                   /* bp_generation of the process that made it */
    struct bp_place places[BP_WALK_DEPTH]; /* joined, innermost first */
    struct bp_site sites[BP_SITES];
    struct bp_trail trails[BP_TRAILS];
    struct bp_walk walk;
    struct bp_py_stack python;
};

/* In a forked child, where the next sample begins anew. */
void bp_stack_after_fork(struct bp_thread *thread);

/* The thread's; NULL without memory, or while it is in use. Give it back with bp_stack_leave. */
struct bp_sample_stack *bp_stack_enter(struct bp_thread *thread);
void bp_stack_leave(struct bp_thread *thread);

/* Read what is called by what, not yet joined: native frames from these registers outwards, which
 * on the thread's own stack leave a trail if there is one to write; Python frames. */
void bp_stack_walk(struct bp_sample_stack *stack, const struct bp_thread *thread,
                   const struct bp_cfi_registers *registers, struct bp_trail *trail);
void bp_stack_read_python(struct bp_sample_stack *stack);

/* For bp_process.look. */
void bp_stack_look(struct bp_thread *thread);

/* Join them. */
void bp_stack_join(struct bp_sample_stack *stack);

/* The stack without callers of its innermost instruction, where there is no room to walk. */
void bp_stack_read_pc(struct bp_sample_stack *stack, uint64_t pc);

/* Its innermost frame in the file; BP_NO_FRAME when there is no room. */
uint32_t bp_stack_fold(struct bp_sample_stack *stack, struct bp_thread *thread);

/* The sample of that key, the fields up to `count`; NULL when there is no room. */
struct bp_sample *bp_stack_sample(struct bp_sample_stack *stack, const struct bp_thread *thread,
                                  const struct bp_sample *key);

#endif
