/* SPDX-License-Identifier: MIT
 *
 * The truth about calls. Every function of a subject library counts its own entries and returns in
 * the file `counters` of the working directory, mapped shared: so the truth survives fork, exec and
 * SIGKILL as the profile must, and owes nothing to the profiler. entered - returned is the number
 * of calls left by exception, longjmp or thread exit. Without that file the counts go nowhere.
 *
 * Raw system calls only: the counting must not show up as file I/O in the profile.
 */
#ifndef E2E_COUNT_H
#define E2E_COUNT_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT_RECORDS 256
#define COUNT_SIZE (COUNT_RECORDS * sizeof(struct count_record))

struct count_record {
    char library[32];
    char name[32];
    uint64_t entered;
    uint64_t returned;
};

/* One per library that includes this; COUNT_LIBRARY and COUNT_FIRST (its first record) come first.
 */
static struct count_record *count_table;

static inline struct count_record *count_open(void) {
    static struct count_record nowhere[COUNT_RECORDS];
    struct count_record *table = nowhere;
    long fd = syscall(SYS_openat, AT_FDCWD, "counters", O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        long p = syscall(SYS_mmap, 0L, COUNT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
        if (p != -1)
            table = (struct count_record *)p;
        syscall(SYS_close, fd);
    }
    __atomic_store_n(&count_table, table, __ATOMIC_RELEASE);
    return table;
}

__attribute__((constructor)) static void count_init(void) {
    count_open();
}

static inline void count_enter(int slot, const char *name) {
    struct count_record *table = __atomic_load_n(&count_table, __ATOMIC_ACQUIRE);
    struct count_record *r = (table ? table : count_open()) + COUNT_FIRST + slot;
    if (!r->name[0]) {
        strcpy(r->library, COUNT_LIBRARY);
        strcpy(r->name, name);
    }
    __atomic_fetch_add(&r->entered, 1, __ATOMIC_RELAXED);
}

static inline void count_leave(int slot) {
    __atomic_fetch_add(&count_table[COUNT_FIRST + slot].returned, 1, __ATOMIC_RELAXED);
}

#define ENTER(slot) count_enter((slot), __func__)
#define LEAVE(slot) count_leave(slot)

#endif
