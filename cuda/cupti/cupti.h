/* SPDX-License-Identifier: MIT
 *
 * The functions of libcupti, which is opened at the first CUDA call.
 */
#ifndef BP_CUDA_CUPTI_CUPTI_H
#define BP_CUDA_CUPTI_CUPTI_H

#include "cuda/cupti/abi.h"

#define BP_CUPTI_POINTER(name, arguments, needed) int(*name) arguments;
struct bp_cupti {
    BP_CUPTI_FUNCTIONS(BP_CUPTI_POINTER)
    void *handle;
    char path[256];
};
extern struct bp_cupti bp_cupti;
/* 0, or -1 if there is no usable libcupti. */
int bp_cupti_load(void);
/* The real dlopen without loading, for libraries that are there, and with it; a function of one. */
void *bp_cupti_loaded(const char *name);
void *bp_cupti_find(const char *name);
void *bp_cupti_symbol(void *handle, const char *name);

#endif
