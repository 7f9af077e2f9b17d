/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "tests/tasks/subjects/pipeline.h"

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void dsl_leaf(int microseconds) {
    int64_t end = microseconds ? now() + microseconds * INT64_C(1000) : 0;
    while (end && now() < end)
        ;
}

void dsl_step(int microseconds) {
    dsl_leaf(microseconds);
    dsl_leaf(microseconds);
}

void dsl_work(int n, int microseconds) {
    for (int i = 0; i < n; i++)
        dsl_step(microseconds);
}
