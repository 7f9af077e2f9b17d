/* SPDX-License-Identifier: MIT
 *
 * Has a Python from 3.14 on load libbattprof.so by itself: another Python of its version hands it a
 * script (sys.remote_exec), which its main thread runs between two instructions. No thread is
 * stopped, and it works below a seccomp filter, as in a container.
 */
#ifndef BP_TOOLS_ATTACH_REMOTE_H
#define BP_TOOLS_ATTACH_REMOTE_H

#include <stdbool.h>

#include "tools/attach/attach.h"

/* Whether the process is such a Python. */
bool bp_remote_can(pid_t pid);

/* 0 when the process records. -1 if it did not run the script in that time: it will, when its main
 * thread runs Python code again; the script then finds the library loaded, or loads it. */
int bp_remote_attach(const struct bp_attach_request *request, uint64_t patience_ns);

#endif
