/* SPDX-License-Identifier: MIT
 *
 * Native calls that are tasks: a guest of the ledger like CUDA, but before functions of any
 * signature, so it is built without vector registers.
 */
#include "interpose/ledger/task_call.h"

#include "interpose/ledger/task.h"

uint8_t bp_task_arguments[BP_TASK_ROLES];
uint8_t bp_task_inputs[BP_TASK_ROLES];
uint8_t bp_task_phases[BP_TASK_ROLES];

/* An input must be a text: a number may be what another call left in the register. */
static int enter_generator(struct bp_thread *thread, struct bp_entry *entry, uint64_t value) {
    char input[BP_TASK_TEXT];
    struct bp_task_what what = {.entry = entry,
                                .func = ((const struct bp_node *)entry->node)->func,
                                .flags = BP_TASK_PHASE | BP_TASK_INPUT,
                                .id = input,
                                .name = BP_TASK_GENERATION};
    if (!bp_task_wants_input(thread) || !bp_task_read_input(value, input))
        return 0;
    bp_task_begin(thread, &what);
    return 1;
}

/* When a phase begins and ends: its function's nodes have the rest. */
static void enter_phase(struct bp_thread *thread, struct bp_entry *entry) {
    struct bp_task_what what = {.entry = entry,
                                .func = ((const struct bp_node *)entry->node)->func,
                                .flags = BP_TASK_PHASE,
                                .id = "",
                                .name = ""};
    bp_task_begin(thread, &what);
}

/* The argument is a text if it leads to one. Without a rule only the first is looked at, and only a
 * text is believed: the others may be anything. */
void bp_task_enter(struct bp_thread *thread, struct bp_entry *entry, unsigned tag,
                   const struct bp_registers *registers) {
    char id[BP_TASK_TEXT];
    unsigned number = bp_task_arguments[tag];
    uint64_t value = bp_arch_argument(registers, number ? number - 1 : 0);
    if (bp_task_inputs[tag] && enter_generator(thread, entry, value))
        return;
    if (bp_task_inputs[tag] || bp_task_phases[tag]) {
        if (bp_task_phases[tag])
            enter_phase(thread, entry);
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

void bp_task_leave(struct bp_thread *thread, struct bp_entry *entry, unsigned tag, uint64_t now,
                   const uint64_t *result) {
    (void)tag;
    bp_task_end_call(thread, entry, now, result == NULL);
}
