/* SPDX-License-Identifier: MIT
 *
 * A tool as CUDA_INJECTION64_PATH names it: the driver calls its one function when it starts.
 */
#include <stdlib.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void) {
    return setenv("INJECTED", getenv("INJECTED") ? "twice" : "once", 1) == 0;
}
