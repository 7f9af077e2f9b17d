/* SPDX-License-Identifier: MIT
 *
 * A forked child leaves its parent's file. Its own was made in memory before the fork
 * (writer_snapshot.c). The child writes it at once and maps it at the addresses of the parent's, so
 * that no pointer changes. Chunks that follow one another there do so in the file, too: most
 * children need two mappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "profile/sys.h"
#include "profile/writer_snapshot.h"

/* Private zeros in the place of the parent's memory. It needs no mapping more than there are. */
static int empty(void *memory, uint64_t size) {
    void *at = (void *)BP_SYS6(SYS_mmap, memory, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return bp_sys_failed(at) ? (int)(long)at : 0;
}

/* 0, or -errno: then the parent's memory is still there. */
static int move(void *from, uint64_t size, void *to) {
    void *at = (void *)BP_SYS6(SYS_mremap, from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to, 0);
    return bp_sys_failed(at) ? (int)(long)at : 0;
}

/* Private memory with what is there. */
static int detach(const struct bp_chunk_before *before) {
    uint64_t size = before->head.size;
    char *memory = bp_writer_memory(size);
    if (!memory)
        return -ENOMEM;
    bp_writer_copy(memory, before->chunk, size);
    int error = move(memory, size, before->chunk);
    if (error == 0 || empty(before->chunk, size) < 0)
        return error;
    bp_writer_copy(before->chunk, memory, size);
    BP_SYS2(SYS_munmap, memory, size);
    return 0;
}

/* Whether the child has private memory for it, that begins with zeros or with what was copied. */
static int becomes_private(const struct bp_chunk_before *before) {
    switch ((enum bp_writer_rule)bp_writer_rules[before->head.kind]) {
    case BP_CHUNK_EMPTIED:
    case BP_CHUNK_CONTEXTS:
    case BP_CHUNK_THREAD:
        return 1;
    default:
        return before->offset != 0;
    }
}

static int leave_out(const struct bp_chunk_before *before) {
    switch ((enum bp_writer_rule)bp_writer_rules[before->head.kind]) {
    case BP_CHUNK_STAYS:
        return 0;
    case BP_CHUNK_DETACHED:
        return detach(before);
    default:
        BP_SYS2(SYS_munmap, before->chunk, before->head.size);
        return 0;
    }
}

/* Chunks that lie together in memory, and in the child's file if they are in it. */
struct run {
    char *to;
    uint64_t offset, size;
};

/* Where a part of the file cannot be mapped, its contents go into private memory. They are lost
 * with the process, so the file has no items there. Without its header it is no profile. */
static int lose(const struct bp_writer *writer, int fd, const struct run *run) {
    static const uint32_t none;
    const struct bp_snapshot *snapshot = writer->snapshot;
    int error = empty(run->to, run->size);
    if (error)
        return error;
    bp_writer_copy(run->to, snapshot->memory + run->offset, run->size);
    for (uint32_t i = 0; fd >= 0 && i < snapshot->count; i++) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        if (before->kept && before->offset - run->offset < run->size)
            BP_SYS4(SYS_pwrite64, fd, &none, sizeof none,
                    before->offset + offsetof(struct bp_chunk, count));
    }
    writer->header->flags |= BP_LOST_DISK;
    writer->header->lost_errno = ENOMEM;
    writer->header->lost_bytes += run->size;
    return 0;
}

static int place(const struct bp_writer *writer, int fd, const struct run *run) {
    int error;
    if (fd < 0) {
        error = move(writer->snapshot->memory + run->offset, run->size, run->to);
    } else {
        void *at = bp_writer_map(fd, run->to, run->size, run->offset);
        error = bp_sys_failed(at) ? (int)(long)at : 0;
    }
    return error ? lose(writer, fd, run) : 0;
}

static int place_all(const struct bp_writer *writer, int fd) {
    const struct bp_snapshot *snapshot = writer->snapshot;
    struct run run = {(char *)writer->header, 0, BP_PAGE};
    int error = 0;
    for (uint32_t i = snapshot->count; i-- > 0 && error == 0;) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        if (!before->kept)
            continue;
        if ((char *)before->chunk != run.to + run.size) {
            error = place(writer, fd, &run);
            run = (struct run){(char *)before->chunk, before->offset, 0};
        }
        run.size += before->kept;
    }
    return error ? error : place(writer, fd, &run);
}

/* One mapping for neighbours: a parent that had many threads has many such chunks. */
static int empty_all(const struct bp_snapshot *snapshot) {
    struct run run = {NULL, 0, 0};
    int error = 0;
    for (uint32_t i = snapshot->count; i-- > 0 && error == 0;) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        if (before->kept || !becomes_private(before))
            continue;
        if ((char *)before->chunk != run.to + run.size) {
            error = run.size ? empty(run.to, run.size) : 0;
            run = (struct run){(char *)before->chunk, 0, 0};
        }
        run.size += before->head.size;
    }
    return error || !run.size ? error : empty(run.to, run.size);
}

/* Calls of other threads may end here, if a coroutine took them along: their entries stay as they
 * were. */
static void put_aside(const struct bp_snapshot *snapshot) {
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        if (!before->kept && before->offset)
            bp_writer_copy(before->chunk, snapshot->memory + before->offset, before->head.size);
    }
}

/* What the child's file has not: whole chunks, and the pages of others that hold no items. */
static int leave_rest(const struct bp_snapshot *snapshot) {
    int error = empty_all(snapshot);
    for (uint32_t i = 0; i < snapshot->count && error == 0; i++) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        uint64_t kept = before->kept;
        if (!kept && !becomes_private(before))
            error = leave_out(before);
        else if (kept && before->head.size > kept)
            BP_SYS2(SYS_munmap, (char *)before->chunk + kept, before->head.size - kept);
    }
    if (error == 0)
        put_aside(snapshot);
    return error;
}

/* The first chunk of a kind is where its next item goes. */
static void link_chunks(struct bp_writer *writer) {
    const struct bp_snapshot *snapshot = writer->snapshot;
    writer->chunks = NULL;
    for (unsigned kind = 0; kind < BP_KINDS; kind++)
        writer->open[kind] = NULL;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct bp_chunk_before *before = &snapshot->chunks[i];
        if (!before->kept)
            continue;
        if (!writer->chunks)
            writer->chunks = before->chunk;
        if (before->head.thread == BP_NO_THREAD && !writer->open[before->head.kind])
            writer->open[before->head.kind] = before->chunk;
    }
}

/* From the parent's memory to the file that `fd` is, or without one to private memory with the same
 * contents. -errno: some of it is still the parent's, and this process must not record. */
static int take_over(struct bp_writer *writer, int fd) {
    writer->snapshot->begun = 1;
    int error = leave_rest(writer->snapshot);
    if (error == 0)
        error = place_all(writer, fd);
    if (error)
        return error;
    link_chunks(writer);
    writer->spare_size = 0; /* the parent's; nothing leads there */
    return 0;
}

int bp_writer_fork(struct bp_writer *writer, const char *path) {
    const struct bp_snapshot *snapshot = writer->snapshot;
    struct stat status;
    int fd = bp_writer_open(path, &status);
    if (fd < 0)
        return fd;
    bp_writer_complete(snapshot);
    int error = bp_writer_write(fd, snapshot->memory, snapshot->used);
    if (error == 0)
        error = take_over(writer, fd);
    if (error)
        BP_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
    else
        bp_writer_remember(writer, path, &status);
    BP_SYS1(SYS_close, fd);
    return error;
}

int bp_writer_detach(struct bp_writer *writer, int error) {
    struct bp_snapshot *snapshot = writer->snapshot;
    if (snapshot->begun)
        return error;
    bp_writer_complete(snapshot);
    struct bp_header *header = (struct bp_header *)snapshot->memory;
    header->flags |= BP_LOST_DISK;
    header->lost_errno = (uint32_t)-error;
    header->lost_bytes = snapshot->used;
    snapshot->torn = 1;
    return take_over(writer, -1);
}
