/* SPDX-License-Identifier: MIT
 *
 * A library with RUNPATH $ORIGIN/inner that opens its sibling by bare name: the search must start
 * from this library although the profiler stands between it and dlopen.
 */
#include <dlfcn.h>
#include <stdio.h>

int opener_open(int x);

int opener_open(int x) {
    void *sibling = dlopen("libdslsibling.so", RTLD_NOW | RTLD_LOCAL);
    if (!sibling) {
        printf("no sibling: %s\n", dlerror());
        return -1;
    }
    int (*step)(int) = (int (*)(int))dlsym(sibling, "late_step");
    return step ? step(x) : -2;
}
