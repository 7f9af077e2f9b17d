/* SPDX-License-Identifier: MIT
 *
 * Pointing the slots of one object to stubs. Called by object.c with its lock held.
 */
#ifndef BP_INTERPOSE_HOOK_PATCH_H
#define BP_INTERPOSE_HOOK_PATCH_H

#include "interpose/hook/elf.h"
#include "profile/format.h"

struct bp_loaded {
    struct bp_elf elf;
    struct bp_object *record; /* in the profile; NULL without memory */
    uint32_t index;
    uint32_t scan; /* the last one that saw it */
    uint8_t main, hooked, unpatched, patched, gone, pinned;
    uint8_t has_found; /* functions that a source found in it, whatever library it is */
    uint8_t not_c;     /* BP_OBJECT_NOT_C */
    uint8_t complete;  /* relocated: known to be, see bp_object_scan */
    uint8_t global;    /* there at start: its symbols are in everybody's scope */
};

void bp_patch(struct bp_loaded *object, const struct bp_loaded *all, uint32_t count);

#endif
