/* SPDX-License-Identifier: MIT */
#include "interpose/ledger/fact.h"

#include "interpose/ledger/thread.h"

void bp_fact_keep(const char *name, const char *value) {
    uint32_t index;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_writer *writer = &bp_process.writer;
    uint32_t text = bp_writer_string(writer, value);
    uint32_t key = bp_writer_string(writer, name);
    struct bp_variable *variable = bp_writer_item(writer, BP_VARIABLES, &index);
    if (variable) {
        *variable = (struct bp_variable){key, text};
        bp_writer_commit(writer, BP_VARIABLES);
    }
    bp_unlock(&bp_process.lock, mask);
}
