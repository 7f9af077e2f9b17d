/* SPDX-License-Identifier: MIT */
#include "profile/live.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "profile/sys.h"

int bp_live_open(struct bp_live *live, const char *path, int to_write) {
    struct stat status;
    long fd = BP_SYS3(SYS_openat, AT_FDCWD, path,
                      (to_write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return (int)fd;
    long error = BP_SYS2(SYS_fstat, fd, &status);
    if (error == 0 && (!S_ISREG(status.st_mode) || status.st_size < BP_PAGE))
        error = -EINVAL;
    if (error == 0) {
        live->size = (uint64_t)status.st_size;
        live->data = (char *)BP_SYS6(SYS_mmap, NULL, live->size,
                                     PROT_READ | (to_write ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
        error = bp_sys_failed(live->data) ? (long)live->data : 0;
    }
    BP_SYS1(SYS_close, fd);
    return (int)error;
}

void bp_live_close(struct bp_live *live) {
    BP_SYS2(SYS_munmap, live->data, live->size);
}

struct bp_chunk *bp_live_next(const struct bp_live *live, const struct bp_chunk *chunk) {
    uint64_t at = chunk ? (uint64_t)((const char *)chunk - live->data) + chunk->size : BP_PAGE;
    struct bp_chunk *next = (struct bp_chunk *)(live->data + at);
    if (at + sizeof *next > live->size || next->magic != BP_CHUNK_MAGIC || next->size < BP_PAGE ||
        next->size > live->size - at)
        return NULL;
    return next;
}

const void *bp_live_find(const struct bp_live *live, enum bp_chunk_kind kind, uint32_t index,
                         uint64_t *bytes) {
    for (const struct bp_chunk *c = NULL; (c = bp_live_next(live, c)) != NULL;) {
        uint64_t used = (uint64_t)__atomic_load_n(&c->count, __ATOMIC_ACQUIRE) * c->item_size;
        uint64_t offset = (uint64_t)(index - c->first) * c->item_size;
        if (c->kind == kind && c->thread == BP_NO_THREAD && index >= c->first && offset < used &&
            used <= c->size - sizeof *c) {
            *bytes = used - offset;
            return (const char *)(c + 1) + offset;
        }
    }
    return NULL;
}
