/* SPDX-License-Identifier: MIT
 *
 * A pipeline whose tasks are known: libpipeline.so, which nobody asks to hook, and libdsltask.so.
 */
#pragma once

#include <stdint.h>

/* libdsltask.so: `n` calls of dsl_step, each calling dsl_leaf twice; dsl_leaf runs that long. */
void dsl_work(int n, int microseconds);
void dsl_step(int microseconds);
void dsl_leaf(int microseconds);

/* libpipeline.so. Each does dsl_work(n, microseconds). */
void batt(const char *id, int n, int microseconds);
double solve_number(double first, int64_t id, float last); /* dsl_work(1, 0) */
void run_one(void *anything, const char *id);              /* dsl_work(1, 0) */
void check_batt(const char *id, int tasks);                /* calls batt that often: nested tasks */
void run_sample(int microseconds);                         /* dsl_leaf */
void load_data(int microseconds);                          /* dsl_leaf */
void recurse(const char *id, int depth);
void unwind(const char *id, void (*leave)(void));
