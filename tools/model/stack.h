/* SPDX-License-Identifier: MIT
 *
 * Sampled stacks as the model sees them: frames that are functions of the model.
 */
#ifndef BP_TOOLS_MODEL_STACK_H
#define BP_TOOLS_MODEL_STACK_H

#include "tools/model/internal.h"

/* Who a frame's code belongs to. Time in the runtime is its caller's; that in the interpreter too,
 * where the stack has Python functions. */
enum bp_code {
    BP_CODE_PROGRAM,     /* the program, its libraries */
    BP_CODE_PYTHON,      /* a function of Python */
    BP_CODE_RUNTIME,     /* libc, the loader, the vdso, ourselves */
    BP_CODE_INTERPRETER, /* CPython's own functions */
    BP_CODE_LEDGER,      /* no code: an intercepted call began here */
    BP_CODE_UNKNOWN      /* the rest of the stack is not known */
};

struct bp_stack_frame {
    uint32_t function; /* BP_NO_FUNCTION for the last two sorts */
    enum bp_code code;
    bool step; /* of a generator expression, which is a part of its consumer, `function` */
};

/* Whose the code of a library is. */
enum bp_code bp_stack_code(const char *library);

/* What is needed to read the stacks of one process. */
struct bp_stack_reader {
    struct bp_model *model;
    uint32_t process;
    const uint32_t *map; /* functions of the process to those of the model */
    uint32_t *objects;   /* of the process, by address */
    struct bp_keys addresses;
    struct bp_stack_frame *known; /* by address */
};

void bp_stack_reader_init(struct bp_stack_reader *reader, struct bp_model *model, uint32_t process);
void bp_stack_reader_fini(struct bp_stack_reader *reader);

/* All frames of a thread: a new array. */
struct bp_stack_frame *bp_stack_frames(struct bp_stack_reader *reader,
                                       const struct bp_profile_thread *thread);

/* Adds a thread's CPU samples to the model's stacks; `table` numbers these. */
void bp_stack_fold(struct bp_model *model, struct bp_keys *table, uint32_t thread,
                   const struct bp_stack_frame *frames);

/* An address within the function: a return address is perhaps that of the next one. */
static inline uint64_t bp_stack_address(const struct bp_frame *frame) {
    return frame->address - !(frame->flags & (BP_FRAME_EXACT | BP_FRAME_FUNCTION));
}

/* The object that has the address, or BP_NO_OBJECT. */
uint32_t bp_stack_object(const struct bp_stack_reader *reader, uint64_t address);
/* The symbols' number of an object. */
uint32_t bp_stack_file(const struct bp_stack_reader *reader, uint32_t object);

#endif
