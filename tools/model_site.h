/* SPDX-License-Identifier: MIT
 *
 * Where copies come from: part of the model. One full stack, native and Python, for each distinct
 * path of calls that leads to a CUDA copy.
 */
#ifndef BP_TOOLS_MODEL_SITE_H
#define BP_TOOLS_MODEL_SITE_H

#include <stdint.h>

/* A function on the stack; file is "" and line 0 where that is not known. Texts are borrowed. */
struct bp_site_step {
    const char *module;
    const char *function;
    const char *library; /* of native functions */
    const char *file;
    uint32_t line;
};

struct bp_copy_site {
    uint32_t caller; /* as in bp_model_transfer */
    uint32_t call;
    uint64_t count;
    uint64_t bytes;
    struct bp_site_step *steps; /* innermost first */
    uint32_t step_count;
};

#endif
