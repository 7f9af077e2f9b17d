/* SPDX-License-Identifier: MIT
 *
 * Native calls that are tasks: a source like CUDA's (interpose/source.h), but before functions of
 * any signature, so it is built without vector registers.
 */
#include "interpose/task_call.h"

#include "interpose/task.h"

uint8_t bp_task_arguments[BP_TASK_ROLES];
uint8_t bp_task_inputs[BP_TASK_ROLES];

static uint64_t argument(const struct bp_registers *registers, unsigned number) {
    switch (number) {
    case 2:
        return registers->rsi;
    case 3:
        return registers->rdx;
    case 4:
        return registers->rcx;
    case 5:
        return registers->r8;
    case 6:
        return registers->r9;
    default:
        return registers->rdi;
    }
}

/* Of an input only a text is believed: a number may be what another call left in the register. */
static void enter_generator(struct bp_thread *thread, struct bp_entry *entry, uint64_t value) {
    char input[BP_TASK_TEXT];
    struct bp_task_what what = {.entry = entry,
                                .func = ((const struct bp_node *)entry->node)->func,
                                .flags = BP_TASK_PHASE | BP_TASK_INPUT,
                                .id = input,
                                .name = BP_TASK_GENERATION};
    if (bp_task_wants_input(thread) && bp_task_read_input(value, input))
        bp_task_begin(thread, &what);
}

/* The argument is a text if it leads to one. Without a rule only the first is looked at, and only a
 * text is believed: the others may be anything. */
static void enter(struct bp_thread *thread, struct bp_entry *entry, unsigned tag,
                  const struct bp_registers *registers) {
    char id[BP_TASK_TEXT];
    unsigned number = bp_task_arguments[tag];
    uint64_t value = argument(registers, number);
    if (bp_task_inputs[tag]) {
        enter_generator(thread, entry, value);
        return;
    }
    if (!bp_task_read_text(value, id, number != 0)) {
        id[0] = '\0';
        if (number)
            bp_task_print_number(id, value);
    }
    struct bp_task_what what = {
        .entry = entry, .func = ((const struct bp_node *)entry->node)->func, .id = id, .name = ""};
    bp_task_begin(thread, &what);
}

static void leave(struct bp_thread *thread, struct bp_entry *entry, unsigned tag, uint64_t now,
                  const uint64_t *result) {
    (void)tag;
    bp_task_end_call(thread, entry, now, result == NULL);
}

/* Functions are added by task_native.c and interpose/python; nothing is found by this. */
static int match(const char *name, const char **known) {
    (void)name;
    (void)known;
    return -1;
}

const struct bp_source bp_task_source = {.match = match, .enter = enter, .leave = leave};
