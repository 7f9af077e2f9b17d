/* SPDX-License-Identifier: MIT
 *
 * libnext.so stands before libdslwork.so in the search order and wraps one of its functions, as
 * other preloaded tools do. RTLD_NEXT must be taken from here, not from the profiler.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "work.h"

int work_sub(int a, int b) {
    static work_binary *real;
    if (!real)
        real = (work_binary *)dlsym(RTLD_NEXT, "work_sub");
    if (!real || real == work_sub)
        abort();
    return 1000 + real(a, b);
}
