/* SPDX-License-Identifier: MIT
 *
 * A program with plug-ins: it opens libraries by their path and asks them for a function.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    unsigned seed = 1;
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        unsigned (*run)(unsigned) =
            library ? (unsigned (*)(unsigned))dlsym(library, "plugin_run") : NULL;
        for (int k = 0; run && k < 120; k++)
            seed = run(seed);
    }
    printf("%u\n", seed);
    return 0;
}
