/* SPDX-License-Identifier: MIT
 *
 * Calls a function of the runtime, named by the argument, as the first CUDA call of the process:
 * whichever it is, it may have to create the context. What it returns does not matter.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    static long room[6][1024];
    void *runtime = dlopen("libcudart.so.12", RTLD_NOW);
    int (*call)(void *, void *, void *, void *, void *, void *) =
        runtime && argc > 1
            ? (int (*)(void *, void *, void *, void *, void *, void *))dlsym(runtime, argv[1])
            : NULL;
    if (!call)
        return 77;
    int by_value = argc > 2; /* the first argument is no address */
    call(by_value ? NULL : room[0], room[1], room[2], room[3], room[4], room[5]);
    puts("ok");
    return 0;
}
