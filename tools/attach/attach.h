/* SPDX-License-Identifier: MIT
 *
 * Has a running process load libbattprof.so: by ptrace, one of its threads is borrowed for some
 * milliseconds. All others run on.
 */
#ifndef BP_TOOLS_ATTACH_ATTACH_H
#define BP_TOOLS_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/base/error.h"

struct bp_attach_request {
    pid_t pid;
    const char *library;
    const char *directory;    /* for the profile */
    char *const *assignments; /* "NAME=value" for the library, NULL at the end */
};

struct bp_attach_result {
    uint64_t stopped_ns; /* how long the borrowed thread was not its own */
    pid_t tid;           /* which one it was */
    unsigned tries;      /* stops of threads that were left alone */
    bool by_script;      /* its own interpreter did it, on that thread */
};

/* Why it cannot be done, and what would allow it: a new sentence that goes on after "process 7: ";
 * NULL if nothing speaks against it. Nothing is stopped. */
char *bp_attach_refusal(const struct bp_attach_request *request);

/* Whether the process's own interpreter would do it: NULL, or why not. */
const char *bp_attach_remote_refusal(pid_t pid);

/* 0 when the library is loaded and records, or -1 with the error set; the process goes on in any
 * case. */
int bp_attach(const struct bp_attach_request *request, struct bp_attach_result *result,
              struct bp_error *error);

#endif
