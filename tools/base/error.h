/* SPDX-License-Identifier: MIT
 *
 * The one way in which the command reports failure. A function that can fail takes a
 * `struct bp_error *`, sets it and returns; main prints it once as `battprof: <text>` and exits
 * with its status. The first error wins: it is the cause, those after it are consequences.
 * The text says what happened, to what, and what to do or what is still good; no final newline.
 * A command to type may follow on a line of its own, the last one: it is printed as it is.
 */
#ifndef BP_TOOLS_BASE_ERROR_H
#define BP_TOOLS_BASE_ERROR_H

#include <stdbool.h>

enum bp_status {
    BP_FINE = 0,
    BP_FAILED = 1, /* data or user */
    BP_USAGE = 2,
    /* `run` only, as env(1) has them: everything else is the target's own status. */
    BP_RUN_FAILED = 125,
    BP_RUN_NOT_EXECUTABLE = 126,
    BP_RUN_NOT_FOUND = 127
};

struct bp_error {
    char *text; /* ours; NULL without an error */
    int status; /* 0: no error */
};

void bp_error_fini(struct bp_error *error);

/* Keeps an error that is there already. Returns -1, for `return bp_error_set(…)`. */
int bp_error_set(struct bp_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool bp_error_is_set(const struct bp_error *error) {
    return error->status != 0;
}

/* For errors that do not end the command (the target still has to run): prints and clears. */
void bp_error_print(struct bp_error *error);

/* One line on stderr, `battprof: …`, flushed together so that it does not mix with the target's. */
void bp_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
