/* SPDX-License-Identifier: MIT */
#include "tests/cuda/subjects/dslnest.h"

int dsl_nothing(void *unused) {
    (void)unused;
    __asm__ volatile("");
    return 0;
}

double dsl_call(double (*function)(void)) {
    double result = function();
    __asm__ volatile("");
    return result;
}
