/* SPDX-License-Identifier: MIT */
#include "tests/tasks/subjects/pipeline.h"

void batt(const char *id, int n, int microseconds) {
    (void)id;
    dsl_work(n, microseconds);
}

double solve_number(double first, int64_t id, float last) {
    (void)id;
    dsl_work(1, 0);
    return first + (double)last;
}

void run_one(void *anything, const char *id) {
    (void)anything;
    (void)id;
    dsl_work(1, 0);
}

void check_batt(const char *id, int tasks) {
    (void)id;
    for (int i = 0; i < tasks; i++)
        batt("inner", 1, 0);
    dsl_leaf(0);
}

void run_sample(int microseconds) {
    dsl_leaf(microseconds);
}

void load_data(int microseconds) {
    dsl_leaf(microseconds);
}

/* The compiler would call it directly. */
static void (*volatile again)(const char *id, int depth) = recurse;

void recurse(const char *id, int depth) {
    dsl_leaf(0);
    if (depth > 0)
        again(id, depth - 1);
}

void unwind(const char *id, void (*leave)(void)) {
    (void)id;
    dsl_leaf(0);
    leave();
}
