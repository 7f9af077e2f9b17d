/* SPDX-License-Identifier: MIT
 *
 * The wall split: at each instant the threads that are busy share it. Part of tools/model/model.h,
 * which includes it. All members but the last are seconds of the wall.
 */
#ifndef BP_TOOLS_MODEL_WALL_H
#define BP_TOOLS_MODEL_WALL_H

#include <stdint.h>

#include "tools/rules/rules.h"

struct bp_wall {
    double total_s;
    double idle_s;   /* no thread was busy */
    double start_s;  /* there was no thread: before the first, during exec, after the last */
    double paused_s; /* recording was paused: in threads that were busy, and without any */
    double overhead_s;
    double category_s[BP_CATEGORIES]; /* framework with idle_s and start_s */
    double cuda_api_s;                /* of the framework: in CUDA calls, as the next */
    double kernel_wait_s;             /* for kernels launched outside the DSL */
    double dsl_kernel_wait_s;         /* for the others: part of the DSL */
    double unsplit_s;    /* what the parts do not explain; negative: they are too much */
    uint32_t tree_count; /* wall pages among the files: as many separate runs */
};

#endif
