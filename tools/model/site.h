/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: part of the model. One full stack, native and Python, for each distinct
 * path of calls that leads to a CUDA copy, and each direction.
 */
#ifndef BP_TOOLS_MODEL_SITE_H
#define BP_TOOLS_MODEL_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/format.h"

/* A function on the stack; file is "" and line 0 where that is not known. Texts are borrowed. */
struct bp_site_step {
    const char *module;
    const char *function;
    const char *library; /* of native functions */
    const char *file;
    uint32_t line;
};

#define BP_SITE_UNTOLD BP_DIRECTIONS

struct bp_copy_site {
    uint32_t caller; /* as in bp_model_transfer */
    uint32_t call;
    uint32_t direction; /* enum bp_direction as the call tells it, or BP_SITE_UNTOLD */
    uint64_t count;
    uint64_t bytes;
    struct bp_site_step *steps; /* innermost first */
    uint32_t step_count;
};

/* How well the places of copies are known. */
struct bp_site_counts {
    uint64_t copies;
    uint64_t coarse; /* of them: without a line somewhere on their path */
    uint32_t fine;   /* paths of the others */
};

/* Whether copies in that direction may come from there: a call that copies from device to device
 * does not say whether they are one. */
static inline bool bp_site_fits(const struct bp_copy_site *site, uint32_t direction) {
    return site->direction == direction || site->direction == BP_SITE_UNTOLD ||
           (site->direction == BP_D2D && direction == BP_P2P);
}

#endif
