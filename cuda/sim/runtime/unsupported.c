/* SPDX-License-Identifier: MIT
 *
 * libcudart: see unsupported.def.
 */
#include "cuda/sim/runtime/runtime.h"

#define X(name)                                                                                    \
    API int name(void) {                                                                           \
        return cudaErrorNotSupported;                                                              \
    }
#include "cuda/sim/runtime/unsupported.def"
#undef X
