/* SPDX-License-Identifier: MIT
 *
 * Linked statically: cannot be preloaded into, must run all the same.
 */
#include <stdio.h>

int main(void) {
    puts("static");
    return 9;
}
