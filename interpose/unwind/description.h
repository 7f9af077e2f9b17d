/* SPDX-License-Identifier: MIT
 *
 * The record that .eh_frame has about one function: found by binary search in the object's table,
 * not yet executed.
 */
#ifndef BP_INTERPOSE_UNWIND_DESCRIPTION_H
#define BP_INTERPOSE_UNWIND_DESCRIPTION_H

#include "interpose/base/bytes.h"
#include "interpose/unwind/cfi.h"

struct bp_description {
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t start, end; /* pcs */
    uint32_t encoding;   /* of pcs */
    uint32_t has_length; /* augmentation "z" */
    uint32_t signal;
    struct bp_bytes common, own; /* instructions */
};

/* 0 if the function at `pc` has none that we understand. */
int bp_description_find(struct bp_description *description, struct bp_safe *safe, uint64_t pc);

/* A pointer of one of the encodings; `relative`: to its own place, if the encoding says so. */
uint64_t bp_description_pointer(struct bp_bytes *bytes, unsigned encoding, int relative);

#endif
