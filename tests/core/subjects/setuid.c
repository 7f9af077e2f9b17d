/* SPDX-License-Identifier: MIT
 *
 * The case makes a copy of it setuid: the loader ignores LD_PRELOAD there, and so do we.
 */
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(void) {
    printf("secure %lu uid %d euid %d\n", getauxval(AT_SECURE), (int)getuid(), (int)geteuid());
    return 10;
}
