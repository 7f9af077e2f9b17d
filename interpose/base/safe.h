/* SPDX-License-Identifier: MIT
 *
 * Loads that cannot crash the target. A thread that is interrupted anywhere may be in the middle of
 * changing what we follow, so every page is asked for before it is read: the kernel copies the new
 * mask of rt_sigprocmask before it looks at an impossible `how`, and says EFAULT or EINVAL. That
 * costs 0.2 µs where process_vm_readv costs 1.8, and changes nothing. Each page is asked for once
 * in a walk.
 *
 * That is enough for what only the calling thread gives back. What another thread may unmap between
 * the question and the load is copied by the kernel.
 */
#ifndef BP_INTERPOSE_BASE_SAFE_H
#define BP_INTERPOSE_BASE_SAFE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "profile/sys.h"

#define BP_SAFE_PAGES 64 /* remembered, direct-mapped */

struct bp_safe {
    uint64_t low, high; /* known to be readable: the used part of the thread's stack */
    uint64_t pages[BP_SAFE_PAGES];
};

static inline int bp_safe_ask(uint64_t address) {
    return BP_SYS4(SYS_rt_sigprocmask, ~0, address, NULL, 8) != -EFAULT;
}

/* Whether the `size` bytes at `address` can be read; not more than some pages. */
static inline int bp_safe_range(struct bp_safe *safe, uint64_t address, uint64_t size) {
    if (address >= safe->low && address < safe->high && size <= safe->high - address)
        return 1;
    if (address < 4096 || address + size < address || address + size > UINT64_C(1) << 47)
        return 0;
    for (uint64_t page = address >> 12; page <= (address + size - 1) >> 12; page++) {
        uint64_t *known = &safe->pages[page % BP_SAFE_PAGES];
        if (*known == page)
            continue;
        if (!bp_safe_ask(page << 12))
            return 0;
        *known = page;
    }
    return 1;
}

/* Forget what was readable. In a call, where nothing is in the middle of a change and what is
 * followed exists, that is not needed. */
static inline void bp_safe_begin(struct bp_safe *safe) {
    for (unsigned i = 0; i < BP_SAFE_PAGES; i++)
        safe->pages[i] = 0;
}

static inline int bp_safe_load(struct bp_safe *safe, uint64_t address, uint64_t *value) {
    if (!bp_safe_range(safe, address, sizeof *value))
        return 0;
    __builtin_memcpy(value, (const void *)address, sizeof *value);
    return 1;
}

/* Copies what another thread may unmap meanwhile, or fails. Where the kernel or a sandbox refuses
 * that, the pages are asked for and read as elsewhere. The memory is named by the thread, since
 * that of a process whose first thread has ended is not found by the process. */
static inline int bp_safe_copy(struct bp_safe *safe, uint64_t address, void *to, uint64_t size) {
    struct iovec here = {to, size}, there = {(void *)address, size};
    long got = BP_SYS6(SYS_process_vm_readv, BP_SYS0(SYS_gettid), &here, 1, &there, 1, 0);
    if (got >= 0 || got == -EFAULT)
        return got == (long)size;
    if (!bp_safe_range(safe, address, size))
        return 0;
    __builtin_memcpy(to, (const void *)address, size);
    return 1;
}

#endif
