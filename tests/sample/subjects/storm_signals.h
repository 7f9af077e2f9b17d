/* SPDX-License-Identifier: MIT
 *
 * Sends the process, thousands of times a second, what its sampling timers send: every thread, at
 * any instruction. Without sampling it does nothing.
 */
#ifndef TESTS_SAMPLE_STORM_SIGNALS_H
#define TESTS_SAMPLE_STORM_SIGNALS_H

#ifdef __cplusplus
extern "C" {
#endif

int storm_begin(void);         /* 1: it blows */
unsigned long storm_end(void); /* signals sent */

#ifdef __cplusplus
}
#endif
#endif
