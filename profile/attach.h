/* SPDX-License-Identifier: MIT
 *
 * What `battprof attach` gives to the library that it has a running process load. The process's
 * environment is as it was, and nobody but the process may change it, so the settings lie on the
 * stack that the library's constructor runs on: attach makes one for that call, aligned to its
 * size, and this is the uppermost part of it.
 */
#ifndef BP_PROFILE_ATTACH_H
#define BP_PROFILE_ATTACH_H

#include <stdint.h>

#define BP_ATTACH_STACK                                                                            \
    (512u << 10) /* bytes, a power of two: dlopen of one library needs 20 kB                       \
                  */
#define BP_ATTACH_PATH 4096
#define BP_ATTACH_TEXT 11776
#define BP_ATTACH_SETTINGS 32 /* assignments */

/* No stack has these by chance. */
#define BP_ATTACH_MAGIC_0 UINT64_C(0x9c1e6f0ba77b40f3)
#define BP_ATTACH_MAGIC_1 UINT64_C(0x5d2b83c4e90a716d)

struct bp_attach {
    uint64_t magic[2];
    /* For the code that attach has a thread run (tools/attach): */
    uint64_t ready;          /* 0: nothing is to be done */
    uint64_t dlopen;         /* the process's own functions */
    uint64_t dlerror;        /* 0: it has none */
    uint64_t errno_location; /* the same */
    uint64_t mode;           /* of dlopen */
    uint64_t xstate;         /* parts of the extended state that are kept */
    uint64_t waits;          /* the thread stands in a system call, and will again */
    uint64_t unused[55];
    char path[BP_ATTACH_PATH]; /* of the library */
    /* For the library: "NAME=value", each with its end; an empty one is the last. */
    char settings[BP_ATTACH_TEXT];
};
_Static_assert(sizeof(struct bp_attach) == 4 * 4096, "attach: 4 pages");

#endif
