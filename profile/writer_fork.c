/* SPDX-License-Identifier: MIT
 *
 * A forked child leaves its parent's file: what it keeps is copied into one of its own, which is
 * mapped over the same addresses, so that no pointer into it changes. See writer.h.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "profile/sys.h"
#include "profile/writer_internal.h"

static int is_of_devices(const struct bp_chunk *chunk) {
    return (chunk->kind >= BP_DEVICES && chunk->kind <= BP_COLLECTOR) || chunk->kind == BP_ASKED;
}

static int is_of_samples(const struct bp_chunk *chunk) {
    return chunk->kind >= BP_FRAMES && chunk->kind <= BP_SAMPLER;
}

static int is_of_tasks(const struct bp_chunk *chunk) {
    return chunk->kind >= BP_TASKS && chunk->kind <= BP_TASK_FOLDS;
}

static int kept_after_fork(const struct bp_chunk *chunk, uint32_t thread) {
    return chunk->kind != BP_TREE && chunk->kind != BP_REAPED && !is_of_devices(chunk) &&
           !is_of_samples(chunk) && !is_of_tasks(chunk) &&
           (chunk->thread == BP_NO_THREAD || chunk->thread == thread);
}

/* Copy one mapped range into the new file and map the file over it. */
static int take_over(int fd, void *memory, uint64_t size, uint64_t offset) {
    for (uint64_t done = 0; done < size;) {
        long n = BP_SYS4(SYS_pwrite64, fd, (char *)memory + done, size - done, offset + done);
        if (n <= 0)
            return n < 0 ? (int)n : -ENOSPC;
        done += (uint64_t)n;
    }
    void *mapped = bp_writer_map(fd, memory, size, offset);
    return bp_sys_failed(mapped) ? (int)(long)mapped : 0;
}

/* Leave the parent's file without having one: private copies at the same addresses. */
static void detach(void *memory, uint64_t size) {
    void *copy = bp_writer_memory(size);
    if (!copy)
        return;
    const uint64_t *from = memory;
    uint64_t *to = copy;
    for (uint64_t i = 0; i < size / sizeof *from; i++)
        to[i] = from[i];
    BP_SYS6(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, memory, 0);
}

static void detach_all(struct bp_writer *writer, uint32_t thread) {
    detach(writer->header, BP_PAGE);
    writer->header->flags |= BP_LOST_DISK;
    for (struct bp_chunk *chunk = writer->chunks; chunk; chunk = (void *)chunk->links[0])
        if (kept_after_fork(chunk, thread) || is_of_devices(chunk) || is_of_samples(chunk))
            detach(chunk, chunk->size);
}

/* The parent's samples are none of ours, but a call that the fork came in between may count there
 * yet: nothing is left at the same addresses. */
static void empty(void *memory, uint64_t size) {
    BP_SYS6(SYS_mmap, memory, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
            -1, 0);
}

static void drop_chunk(struct bp_writer *writer, struct bp_chunk *chunk) {
    if (chunk->kind == BP_TREE)
        return; /* stays mapped: the child is in the same tree */
    if (chunk->thread == BP_NO_THREAD)
        writer->open[chunk->kind] = NULL;
    if (is_of_devices(chunk))
        detach(chunk, chunk->size); /* the collector may hold pointers to its items */
    else if (is_of_samples(chunk))
        empty(chunk, chunk->size);
    else
        BP_SYS2(SYS_munmap, chunk, chunk->size);
}

static uint64_t size_kept(const struct bp_writer *writer, uint32_t thread) {
    uint64_t size = 0;
    for (const struct bp_chunk *c = writer->chunks; c; c = (const struct bp_chunk *)c->links[0])
        size += kept_after_fork(c, thread) ? c->size : 0;
    return size;
}

/* The child's file, with its header, which is mapped to it; a descriptor or -errno. */
static int move_header(struct bp_writer *writer, const char *path, uint32_t thread) {
    struct stat status;
    int fd = bp_writer_open(path, &status);
    if (fd < 0)
        return fd;
    int error = bp_writer_size_allowed(BP_PAGE + size_kept(writer, thread))
                    ? take_over(fd, writer->header, BP_PAGE, 0)
                    : -EFBIG;
    if (error) {
        BP_SYS1(SYS_close, fd);
        return error;
    }
    bp_writer_remember(writer, path, &status);
    writer->header->flags &= ~BP_LOST_DISK;
    writer->header->lost_bytes = 0;
    return fd;
}

/* What finds no room stays in memory, and is lost with the process. The end of the file. */
static uint64_t move_chunk(struct bp_writer *writer, int fd, struct bp_chunk *chunk,
                           uint64_t offset) {
    if (take_over(fd, chunk, chunk->size, offset) == 0)
        return offset + chunk->size;
    detach(chunk, chunk->size);
    writer->header->flags |= BP_LOST_DISK;
    writer->header->lost_bytes += chunk->size;
    return offset;
}

static uint64_t move_chunks(struct bp_writer *writer, int fd, uint32_t thread) {
    uint64_t offset = BP_PAGE;
    struct bp_chunk **link = &writer->chunks;
    for (struct bp_chunk *chunk = *link, *next; chunk; chunk = next) {
        next = (void *)chunk->links[0];
        if (!kept_after_fork(chunk, thread)) {
            drop_chunk(writer, chunk);
            continue;
        }
        offset = move_chunk(writer, fd, chunk, offset);
        *link = chunk;
        link = (struct bp_chunk **)&chunk->links[0];
    }
    *link = NULL;
    return offset;
}

int bp_writer_fork(struct bp_writer *writer, const char *path, uint32_t thread) {
    int fd = move_header(writer, path, thread);
    if (fd < 0) {
        detach_all(writer, thread);
        return fd;
    }
    BP_SYS2(SYS_munmap, writer->spare, writer->spare_size);
    writer->spare_size = 0;
    writer->header->used = move_chunks(writer, fd, thread);
    BP_SYS1(SYS_close, fd);
    return 0;
}
