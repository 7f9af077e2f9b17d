/* SPDX-License-Identifier: MIT
 *
 * Pointing the slots of one object to stubs. Called by object.c with its lock held.
 */
#ifndef BP_INTERPOSE_PATCH_H
#define BP_INTERPOSE_PATCH_H

#include "interpose/elf.h"
#include "profile/format.h"

struct bp_loaded {
    struct bp_elf elf;
    struct bp_object *record; /* in the profile; NULL without memory */
    uint32_t index;
    uint32_t scan; /* the last one that saw it */
    uint8_t main, hooked, unpatched, patched, gone, pinned;
    uint8_t has_tasks; /* functions with a role in the rules for tasks */
    uint8_t complete;  /* relocated: known to be, see bp_object_scan */
    uint8_t global;    /* there at start: its symbols are in everybody's scope */
};

void bp_patch(struct bp_loaded *object, const struct bp_loaded *all, uint32_t count);

#endif
