/* SPDX-License-Identifier: MIT
 *
 * Functions of libcudart that the simulated device refuses: unsupported.def lists them.
 */
#include "cuda/sim/runtime/runtime.h"

#define X(name)                                                                                    \
    API int name(void) {                                                                           \
        return cudaErrorNotSupported;                                                              \
    }
#include "cuda/sim/runtime/unsupported.def"
#undef X
