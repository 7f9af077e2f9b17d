/* SPDX-License-Identifier: MIT
 *
 * libdslnest.so: functions of a hooked library that do next to nothing.
 */
#ifndef BP_TESTS_CUDA_DSLNEST_H
#define BP_TESTS_CUDA_DSLNEST_H

__attribute__((visibility("default"))) int dsl_nothing(void *unused);

/* What `function` returns. */
__attribute__((visibility("default"))) double dsl_call(double (*function)(void));

#endif
