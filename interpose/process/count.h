/* SPDX-License-Identifier: MIT
 *
 * Functions that are measured call by call for a reason of their own, without being DSL: those that
 * `run --count` names, and those that a part of the profiler wants to know exactly.
 */
#ifndef BP_INTERPOSE_PROCESS_COUNT_H
#define BP_INTERPOSE_PROCESS_COUNT_H

#include <stdint.h>

/* Add patterns, separated by commas or white space; NULL is none. A left side that begins with
 * "lib" or has ".so" in it names libraries: "libm.so*:sin*", or all functions, "libfoo*". Any other
 * names Python modules: "logging:Logger.info", "json.*:*", "json.*"; of a program that is run as a
 * script also by its file name, "run_batt:main". `flags` go into the profile with the functions
 * that match, those of several patterns together; give BP_FUNC_COUNTED, or a flag of one's own.
 * BP_FUNC_LINES is for Python alone. Before the first object scan. */
void bp_count_add(const char *patterns, uint16_t flags);

#endif
