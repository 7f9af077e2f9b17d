/* SPDX-License-Identifier: MIT
 *
 * Slots that lead to stubs, and what they led to before: while recording is paused they lead there
 * again, and a call costs what it costs without us. Wrappers that the ledger needs to stay right
 * (threads, exceptions, fork, exec, dlopen) keep theirs. With the hook lock held.
 */
#ifndef BP_INTERPOSE_HOOK_SLOTS_H
#define BP_INTERPOSE_HOOK_SLOTS_H

#include <stdint.h>

/* A slot now leads to one of ours instead of to `original`. `read_only`: ld.so has protected it. */
void bp_slots_add(uint64_t slot, uint64_t original, int read_only);

/* The object between these addresses is gone. */
void bp_slots_forget(uint64_t low, uint64_t high);

/* Leads all slots past ours, or to them again. Also in a handler. */
void bp_slots_switch(int paused);

#endif
