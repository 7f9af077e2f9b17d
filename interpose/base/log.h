/* SPDX-License-Identifier: MIT
 *
 * What the library has to say goes to descriptor 2, a line at a time, by write(2): never stdout,
 * never stdio, whose buffers and locks are the target's.
 */
#ifndef BP_INTERPOSE_BASE_LOG_H
#define BP_INTERPOSE_BASE_LOG_H

#include <stdint.h>

/* Remember which file descriptor 2 is: later it may be a file of the target's. */
void bp_log_init(void);

/* What went wrong: one line, "battprof: " before it; for eyes, on a terminal, within 80 columns. At
 * most a few in a process's life. */
void bp_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What there is to tell: always within 80 columns, as the report; "battprof: " before each line. */
void bp_log_wrapped(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A command to copy: one line, however long its path is. */
void bp_log_command(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Why a profile could not be written, in words. `error` is an errno. */
const char *bp_log_reason(int error);

#endif
