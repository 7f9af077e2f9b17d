/* SPDX-License-Identifier: MIT
 *
 * Where libdw was not there to build with, or the CPU has no folder here.
 */
#include "tools/attach/attach.h"
#include "tools/base/text.h"

#define REASON "this battprof was built without libdw, or for a CPU that it cannot do this on"

char *bp_attach_refusal(const struct bp_attach_request *request) {
    (void)request;
    return bp_make_text(REASON);
}

const char *bp_attach_remote_refusal(pid_t pid) {
    (void)pid;
    return REASON;
}

int bp_attach(const struct bp_attach_request *request, struct bp_attach_result *result,
              struct bp_error *error) {
    *result = (struct bp_attach_result){0};
    return bp_error_set(error, BP_FAILED, "process %d: " REASON, (int)request->pid);
}
