/* SPDX-License-Identifier: MIT */
#include "interpose/hook/slots.h"

#include <sys/mman.h>

#include "interpose/base/pages.h"
#include "interpose/base/safe.h"
#include "interpose/hook/hook.h"
#include "profile/format.h"

#define FIRST 256 /* without memory of their own; a program without a DSL has 50 */

struct slot {
    uint64_t address; /* the lowest bit: read-only but for us */
    uint64_t original;
};

static struct {
    struct slot *slots;
    uint32_t count;
    uint32_t capacity;
} state;

static uint64_t address_of(const struct slot *slot) {
    return slot->address & ~UINT64_C(1);
}

static uint64_t page_of(const struct slot *slot) {
    return slot->address & ~(uint64_t)(BP_PAGE - 1);
}

static struct slot first_slots[FIRST];

static int grow(void) {
    uint32_t capacity = state.capacity ? 4 * state.capacity : FIRST;
    struct slot *slots = state.capacity ? bp_pages_new(capacity * sizeof *slots) : first_slots;
    if (!slots)
        return 0;
    for (uint32_t i = 0; i < state.count; i++)
        slots[i] = state.slots[i];
    if (state.slots && state.slots != first_slots)
        bp_pages_free(state.slots, state.capacity * sizeof *slots);
    state.slots = slots;
    state.capacity = capacity;
    return 1;
}

/* Without memory the slot leads to its stub for ever: calls are slow there in a pause. */
void bp_slots_add(uint64_t slot, uint64_t original, int read_only) {
    if (state.count < state.capacity || grow())
        state.slots[state.count++] = (struct slot){slot | (read_only != 0), original};
}

void bp_slots_forget(uint64_t low, uint64_t high) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state.count; i++)
        if (state.slots[i].address < low || state.slots[i].address >= high)
            state.slots[kept++] = state.slots[i];
    state.count = kept;
}

/* Somebody may have put something else there. */
static void lead(const struct slot *slot, int paused) {
    const struct bp_hook *hook = bp_hook_find(slot->original);
    if (!hook || !hook->code)
        return;
    uint64_t from = paused ? hook->code : slot->original;
    uint64_t to = paused ? slot->original : hook->code;
    __atomic_compare_exchange_n((uint64_t *)address_of(slot), &from, to, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

/* One page after the other: slots of an object lie side by side. An object that was unloaded behind
 * our back has no pages any more. */
static uint32_t switch_page(uint32_t first, int paused) {
    uint64_t page = page_of(&state.slots[first]);
    int read_only = state.slots[first].address & 1;
    int there = read_only ? BP_SYS3(SYS_mprotect, page, BP_PAGE, PROT_READ | PROT_WRITE) == 0
                          : bp_safe_ask(page);
    uint32_t i = first;
    for (; i < state.count && page_of(&state.slots[i]) == page &&
           (int)(state.slots[i].address & 1) == read_only;
         i++)
        if (there)
            lead(&state.slots[i], paused);
    if (there && read_only)
        BP_SYS3(SYS_mprotect, page, BP_PAGE, PROT_READ);
    return i;
}

void bp_slots_switch(int paused) {
    for (uint32_t i = 0; i < state.count;)
        i = switch_page(i, paused);
}
