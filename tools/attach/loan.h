/* SPDX-License-Identifier: MIT
 *
 * A thread of another process is borrowed: it calls dlopen, and goes on as if nothing had been.
 * Should we be killed meanwhile, it does so without us.
 */
#ifndef BP_TOOLS_ATTACH_LOAN_H
#define BP_TOOLS_ATTACH_LOAN_H

#include "tools/attach/objects.h"
#include "tools/attach/safe.h"

enum bp_loan_state {
    BP_LOAN_AGAIN,      /* not this thread, or not now; it is as before */
    BP_LOAN_DONE,       /* the library is loaded */
    BP_LOAN_REFUSED,    /* dlopen failed */
    BP_LOAN_UNFINISHED, /* dlopen takes long: the thread comes to an end alone */
    BP_LOAN_LOST,       /* the thread ended meanwhile, by its own doing */
};

struct bp_loan {
    struct bp_objects *objects;
    struct bp_safe_calls *calls;
    struct bp_attach *attach; /* what the library is to be given */
    uint64_t address;         /* where the code goes */
    uint64_t stopped_ns;      /* how long the thread was not its own */
    const char *reason;       /* of AGAIN: continues "thread 7: " */
    int error;                /* of AGAIN: -errno if ptrace was refused, else 0 */
    char words[256];          /* of REFUSED: dlerror's */
};

enum bp_loan_state bp_loan_try(struct bp_loan *loan, pid_t tid);

#endif
