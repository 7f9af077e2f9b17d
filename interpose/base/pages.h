/* SPDX-License-Identifier: MIT
 *
 * Memory straight from the kernel: zero pages, no malloc of the target's, no lock. Safe in a signal
 * handler and below a stub.
 */
#ifndef BP_INTERPOSE_BASE_PAGES_H
#define BP_INTERPOSE_BASE_PAGES_H

#include <sys/mman.h>

#include "profile/sys.h"

/* NULL without memory. */
static inline void *bp_pages_new(uint64_t size) {
    void *memory = (void *)BP_SYS6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return bp_sys_failed(memory) ? NULL : memory;
}

/* Pages that are used soon, most of them: at once, instead of by a fault or two for each. */
static inline void *bp_pages_new_filled(uint64_t size) {
    void *memory = (void *)BP_SYS6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return bp_sys_failed(memory) ? NULL : memory;
}

/* Pages that are zero in every forked child. Before Linux 4.14 they are not: then a child that our
 * handlers do not see is not recognised. */
static inline void *bp_pages_new_wiped(uint64_t size) {
    void *memory = bp_pages_new(size);
    if (memory)
        BP_SYS3(SYS_madvise, memory, size, MADV_WIPEONFORK);
    return memory;
}

static inline void bp_pages_free(void *memory, uint64_t size) {
    BP_SYS2(SYS_munmap, memory, size);
}

#endif
