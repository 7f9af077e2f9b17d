/* SPDX-License-Identifier: MIT
 *
 * First the file and its mappings, then chunks, which it grows by, then items and texts within
 * them. An item counts once it is committed.
 */
#include "profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "profile/items.h"
#include "profile/stop.h"
#include "profile/sys.h"
#include "profile/writer_internal.h"

/* The first chunk of each shared kind is one page; every later one is twice as large. */
#define FIRST_CHUNK BP_PAGE
#define LARGEST_CHUNK (4u << 20)

/* The file grows by extents, so that most chunks take no system call: by half of what it has, so
 * that a process that records next to nothing leaves next to nothing. */
#define FIRST_EXTENT (24u << 10) /* what a program with one thread needs */
#define LEAST_EXTENT (16u << 10) /* in a forked child: a first thread's nodes and entries */
#define LARGEST_EXTENT (256u << 10)

#define LEFT_SPARE (8u << 10) /* to cut it off takes 30 us of ext4's time */

#define PAGES_AT_ONCE 64 /* 1 kB of stack */

static void copy_text(char *to, size_t size, const char *from) {
    size_t i = 0;
    for (; i + 1 < size && from[i]; i++)
        to[i] = from[i];
    to[i] = '\0';
}

/* Growing past the limit would raise SIGXFSZ in the target. */
static int size_allowed(uint64_t size) {
    struct rlimit limit;
    if (BP_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0)
        return 1;
    return limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Reserve blocks now: a page of a sparse file that finds the disk full is a SIGBUS. Zeros are
 * written where fallocate would do: pages that are in the cache already cost nothing when they are
 * first used, while one of an unwritten extent took 3 us, and the first 40 to 110 to read ahead. */
int bp_writer_reserve(int fd, uint64_t offset, uint64_t size) {
    static const char zeros[BP_PAGE];
    struct iovec pages[PAGES_AT_ONCE];
    if (!size_allowed(offset + size))
        return -EFBIG;
    for (unsigned i = 0; i < PAGES_AT_ONCE; i++)
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, BP_PAGE};
    for (uint64_t end = offset + size; offset < end;) {
        uint64_t left = (end - offset) / BP_PAGE;
        uint64_t count = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE;
        long written = BP_SYS4(SYS_pwritev, fd, pages, count, offset);
        if (written <= 0 || written % BP_PAGE)
            return written < 0 ? (int)written : -ENOSPC;
        offset += (uint64_t)written;
    }
    return 0;
}

int bp_writer_write(int fd, const char *memory, uint64_t size) {
    if (!size_allowed(size))
        return -EFBIG;
    for (uint64_t done = 0; done < size;) {
        long written = BP_SYS4(SYS_pwrite64, fd, memory + done, size - done, done);
        if (written <= 0)
            return written < 0 ? (int)written : -ENOSPC;
        done += (uint64_t)written;
    }
    return 0;
}

/* No descriptor is kept: targets close what they did not open, and count what they have. */
static int reopen(struct bp_writer *writer) {
    struct stat status;
    long fd = BP_SYS3(SYS_openat, AT_FDCWD, writer->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return (int)fd;
    if (BP_SYS2(SYS_fstat, fd, &status) < 0 || status.st_dev != writer->device ||
        status.st_ino != writer->inode) {
        BP_SYS1(SYS_close, fd);
        return -ESTALE;
    }
    return (int)fd;
}

void *bp_writer_map(int fd, void *address, uint64_t size, uint64_t offset) {
    return (void *)BP_SYS6(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | (address ? MAP_FIXED : 0), fd, offset);
}

void *bp_writer_memory(uint64_t size) {
    void *memory = (void *)BP_SYS6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return bp_sys_failed(memory) ? NULL : memory;
}

int bp_writer_open(const char *path, struct stat *status) {
    long fd = BP_SYS4(SYS_openat, AT_FDCWD, path,
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    long error = fd < 0 ? fd : BP_SYS2(SYS_fstat, fd, status);
    if (fd >= 0 && error < 0)
        BP_SYS1(SYS_close, fd);
    return (int)(error < 0 ? error : fd);
}

void bp_writer_remember(struct bp_writer *writer, const char *path, const struct stat *status) {
    copy_text(writer->path, sizeof writer->path, path);
    writer->device = status->st_dev;
    writer->inode = status->st_ino;
}

int bp_writer_create(struct bp_writer *writer, const char *path) {
    struct stat status;
    int fd = bp_writer_open(path, &status);
    if (fd < 0)
        return fd;
    uint64_t size = BP_PAGE + FIRST_EXTENT + writer->more;
    long error = bp_writer_reserve(fd, 0, size);
    if (error == -ENOSPC || error == -EFBIG || error == -EDQUOT)
        error = bp_writer_reserve(fd, 0, size = BP_PAGE);
    void *memory = error == 0 ? bp_writer_map(fd, NULL, size, 0) : NULL;
    if (error == 0 && bp_sys_failed(memory))
        error = (long)memory;
    BP_SYS1(SYS_close, fd);
    if (error < 0) {
        BP_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
        return (int)error;
    }
    bp_writer_remember(writer, path, &status);
    writer->header = memory;
    writer->header->used = BP_PAGE;
    writer->spare = (char *)memory + BP_PAGE;
    writer->spare_size = size - BP_PAGE;
    return 0;
}

/* Reserve and map the file from header->used on. 0 or -errno. */
static int extend(struct bp_writer *writer, uint64_t size) {
    uint64_t offset = writer->header->used;
    int fd = reopen(writer);
    if (fd < 0)
        return fd;
    int error = bp_writer_reserve(fd, offset, size);
    BP_STOP(FILE_RESERVED);
    void *memory = error ? NULL : bp_writer_map(fd, NULL, size, offset);
    BP_SYS1(SYS_close, fd);
    if (error || bp_sys_failed(memory))
        return error ? error : (int)(long)memory;
    writer->spare = memory;
    writer->spare_size = size;
    return 0;
}

static uint64_t next_extent(uint64_t used) {
    uint64_t extent = bp_writer_round(used / 2);
    if (extent < LEAST_EXTENT)
        return LEAST_EXTENT;
    return extent < LARGEST_EXTENT ? extent : LARGEST_EXTENT;
}

/* In a child that nobody prepared the file is the parent's. */
static int is_ours(const struct bp_writer *writer) {
    return !writer->alive || __atomic_load_n(writer->alive, __ATOMIC_RELAXED);
}

/* Memory for a chunk: what is left of the last extent, or a new one; a small one if the disk is
 * nearly full. */
static void *grow(struct bp_writer *writer, uint64_t size) {
    struct bp_header *header = writer->header;
    int lost = header->flags & BP_LOST_DISK, error = 0;
    if (!lost && writer->spare_size < size) {
        uint64_t extent = next_extent(header->used);
        error = extend(writer, size > extent ? size : extent);
        if (error && size < extent)
            error = extend(writer, size);
    }
    if (!lost && !error) {
        void *memory = writer->spare;
        writer->spare += size;
        writer->spare_size -= size;
        return memory;
    }
    if (error)
        header->lost_errno = (uint32_t)-error;
    header->flags |= BP_LOST_DISK;
    header->lost_bytes += size;
    return bp_writer_memory(size);
}

struct bp_chunk *bp_writer_chunk(struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t thread,
                                 uint32_t first, uint32_t items) {
    uint64_t size = bp_chunk_size(kind, items);
    struct bp_chunk *chunk = is_ours(writer) ? grow(writer, size) : NULL;
    if (!chunk)
        return NULL;
    BP_STOP_UNLESS_ZERO(chunk, size);
    bp_chunk_fill(chunk, kind, thread, size);
    chunk->first = first;
    chunk->links[0] = (uint64_t)writer->chunks;
    writer->chunks = chunk;
    BP_STOP(CHUNK_FILLED);
    if (!(writer->header->flags & BP_LOST_DISK))
        __atomic_store_n(&writer->header->used, writer->header->used + size, __ATOMIC_RELEASE);
    return chunk;
}

/* The mapping of what is cut off stays, and is not used any more. */
void bp_writer_trim(struct bp_writer *writer) {
    int fd = writer->spare_size > LEFT_SPARE && is_ours(writer) ? reopen(writer) : -1;
    if (fd < 0)
        return;
    writer->spare_size = 0;
    BP_SYS2(SYS_ftruncate, fd, writer->header->used);
    BP_SYS1(SYS_close, fd);
}

/* The open chunk of a shared kind with room for `items` more. */
static struct bp_chunk *open_chunk(struct bp_writer *writer, enum bp_chunk_kind kind,
                                   uint32_t items) {
    struct bp_chunk *chunk = writer->open[kind];
    if (!is_ours(writer))
        return NULL;
    if (chunk && chunk->capacity - chunk->count >= items)
        return chunk;
    uint32_t first = chunk ? chunk->first + chunk->capacity : 0;
    uint32_t wanted =
        chunk ? 2 * chunk->capacity : (FIRST_CHUNK - (uint32_t)sizeof *chunk) / bp_item_sizes[kind];
    if (wanted > LARGEST_CHUNK / bp_item_sizes[kind])
        wanted = LARGEST_CHUNK / bp_item_sizes[kind];
    if (wanted < items)
        wanted = items;
    chunk = bp_writer_chunk(writer, kind, BP_NO_THREAD, first, wanted);
    if (chunk)
        writer->open[kind] = chunk;
    return chunk;
}

void *bp_writer_item(struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t *index) {
    struct bp_chunk *chunk = open_chunk(writer, kind, 1);
    if (!chunk)
        return NULL;
    *index = chunk->first + chunk->count;
    char *item = (char *)bp_chunk_items(chunk) + (size_t)chunk->count * chunk->item_size;
    BP_STOP_UNLESS_ZERO(item, chunk->item_size);
    return item;
}

void bp_writer_commit(struct bp_writer *writer, enum bp_chunk_kind kind) {
    struct bp_chunk *chunk = writer->open[kind];
    __atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE);
}

void *bp_writer_get(const struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t index) {
    for (struct bp_chunk *c = writer->chunks; c; c = (struct bp_chunk *)c->links[0])
        if (c->kind == kind && c->thread == BP_NO_THREAD && index >= c->first &&
            index - c->first < c->count)
            return (char *)bp_chunk_items(c) + (size_t)(index - c->first) * c->item_size;
    return NULL;
}

uint32_t bp_writer_string(struct bp_writer *writer, const char *text) {
    uint32_t length = 1;
    while (length < 4096 && text[length - 1])
        length++;
    if (length == 1)
        return 0;
    /* Index 0 is the empty string: the first chunk begins with a zero byte. */
    struct bp_chunk *chunk = open_chunk(writer, BP_STRINGS, length + 1);
    if (!chunk)
        return 0;
    if (chunk->first == 0 && chunk->count == 0)
        chunk->count = 1;
    uint32_t at = chunk->count;
    copy_text((char *)bp_chunk_items(chunk) + at, length, text);
    __atomic_store_n(&chunk->count, at + length, __ATOMIC_RELEASE);
    return chunk->first + at;
}
