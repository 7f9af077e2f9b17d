/* SPDX-License-Identifier: MIT
 *
 * Takes its time to be loaded: whoever opens it holds the loader's lock meanwhile.
 */
#include <time.h>

int plugin(void);

int plugin(void) {
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    struct timespec time = {.tv_nsec = 300000};
    nanosleep(&time, NULL);
}
