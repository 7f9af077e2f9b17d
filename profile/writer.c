/* SPDX-License-Identifier: MIT */
#include "profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "profile/items.h"
#include "profile/sys.h"

/* First chunk of each shared kind; every later one is twice as large. 256 strings and functions
 * serve a small DSL in one page each. */
#define FIRST_ITEMS 64
#define LARGEST_CHUNK (4u << 20)

/* The file grows by extents, so that most chunks take no system call. */
#define FIRST_EXTENT (128u << 10) /* what a program with one thread needs */
#define EXTENT (256u << 10)       /* four more threads */

#define PAGES_AT_ONCE 64 /* 1 kB of stack */

static uint64_t round_to_page(uint64_t size) {
    return (size + BP_PAGE - 1) & ~(uint64_t)(BP_PAGE - 1);
}

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
static int reserve(int fd, uint64_t offset, uint64_t size) {
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

static void *map_file(int fd, void *address, uint64_t size, uint64_t offset) {
    return (void *)BP_SYS6(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | (address ? MAP_FIXED : 0), fd, offset);
}

static void *map_anonymous(uint64_t size) {
    void *memory = (void *)BP_SYS6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return bp_sys_failed(memory) ? NULL : memory;
}

int bp_writer_create(struct bp_writer *writer, const char *path) {
    struct stat status;
    long fd = BP_SYS4(SYS_openat, AT_FDCWD, path,
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return (int)fd;
    uint64_t size = BP_PAGE + FIRST_EXTENT;
    long error = BP_SYS2(SYS_fstat, fd, &status);
    if (error == 0)
        error = reserve((int)fd, 0, size);
    if (error == -ENOSPC || error == -EFBIG || error == -EDQUOT)
        error = reserve((int)fd, 0, size = BP_PAGE);
    void *memory = error == 0 ? map_file((int)fd, NULL, size, 0) : NULL;
    if (error == 0 && bp_sys_failed(memory))
        error = (long)memory;
    BP_SYS1(SYS_close, fd);
    if (error < 0) {
        BP_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
        return (int)error;
    }
    copy_text(writer->path, sizeof writer->path, path);
    writer->device = status.st_dev;
    writer->inode = status.st_ino;
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
    int error = reserve(fd, offset, size);
    void *memory = error ? NULL : map_file(fd, NULL, size, offset);
    BP_SYS1(SYS_close, fd);
    if (error || bp_sys_failed(memory))
        return error ? error : (int)(long)memory;
    writer->spare = memory;
    writer->spare_size = size;
    return 0;
}

/* Memory for a chunk: what is left of the last extent, or a new one; a small one if the disk is
 * nearly full. */
static void *grow(struct bp_writer *writer, uint64_t size) {
    struct bp_header *header = writer->header;
    int lost = header->flags & BP_LOST_DISK, error = 0;
    if (!lost && writer->spare_size < size) {
        uint64_t extent = header->used == BP_PAGE ? FIRST_EXTENT : EXTENT;
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
    return map_anonymous(size);
}

struct bp_chunk *bp_writer_chunk(struct bp_writer *writer, enum bp_chunk_kind kind, uint32_t thread,
                                 uint32_t first, uint32_t items) {
    uint16_t item_size = bp_item_sizes[kind];
    uint64_t size = round_to_page(sizeof(struct bp_chunk) + (uint64_t)items * item_size);
    struct bp_chunk *chunk = grow(writer, size);
    if (!chunk)
        return NULL;
    chunk->magic = BP_CHUNK_MAGIC;
    chunk->kind = (uint16_t)kind;
    chunk->item_size = item_size;
    chunk->size = size;
    chunk->address = (uint64_t)chunk;
    chunk->thread = thread;
    chunk->first = first;
    chunk->capacity = (uint32_t)((size - sizeof *chunk) / item_size);
    chunk->links[0] = (uint64_t)writer->chunks;
    writer->chunks = chunk;
    if (!(writer->header->flags & BP_LOST_DISK))
        __atomic_store_n(&writer->header->used, writer->header->used + size, __ATOMIC_RELEASE);
    return chunk;
}

/* The open chunk of a shared kind with room for `items` more. */
static struct bp_chunk *open_chunk(struct bp_writer *writer, enum bp_chunk_kind kind,
                                   uint32_t items) {
    struct bp_chunk *chunk = writer->open[kind];
    if (chunk && chunk->capacity - chunk->count >= items)
        return chunk;
    uint32_t first = chunk ? chunk->first + chunk->capacity : 0;
    uint32_t wanted = chunk ? 2 * chunk->capacity : FIRST_ITEMS;
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
    return (char *)bp_chunk_items(chunk) + (size_t)chunk->count * chunk->item_size;
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

static int is_of_devices(const struct bp_chunk *chunk) {
    return chunk->kind >= BP_DEVICES && chunk->kind <= BP_COLLECTOR;
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
    void *mapped = map_file(fd, memory, size, offset);
    return bp_sys_failed(mapped) ? (int)(long)mapped : 0;
}

/* Leave the parent's file without having one: private copies at the same addresses. */
static void detach(void *memory, uint64_t size) {
    void *copy = map_anonymous(size);
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
        if (kept_after_fork(chunk, thread) || is_of_devices(chunk))
            detach(chunk, chunk->size);
}

static void drop_chunk(struct bp_writer *writer, struct bp_chunk *chunk) {
    if (chunk->kind == BP_TREE)
        return; /* stays mapped: the child is in the same tree */
    if (chunk->thread == BP_NO_THREAD)
        writer->open[chunk->kind] = NULL;
    if (is_of_devices(chunk))
        detach(chunk, chunk->size); /* the collector may hold pointers to its items */
    else
        BP_SYS2(SYS_munmap, chunk, chunk->size);
}

static uint64_t size_kept(const struct bp_writer *writer, uint32_t thread) {
    uint64_t size = 0;
    for (const struct bp_chunk *c = writer->chunks; c; c = (const struct bp_chunk *)c->links[0])
        size += kept_after_fork(c, thread) ? c->size : 0;
    return size;
}

int bp_writer_fork(struct bp_writer *writer, const char *path, uint32_t thread) {
    struct stat status;
    uint64_t offset = BP_PAGE;
    long fd = BP_SYS4(SYS_openat, AT_FDCWD, path,
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    long error = fd < 0 ? fd : BP_SYS2(SYS_fstat, fd, &status);
    if (error >= 0 && !size_allowed(BP_PAGE + size_kept(writer, thread)))
        error = -EFBIG;
    if (error >= 0)
        error = take_over((int)fd, writer->header, BP_PAGE, 0);
    if (error < 0) {
        detach_all(writer, thread);
        if (fd >= 0)
            BP_SYS1(SYS_close, fd);
        return (int)error;
    }
    copy_text(writer->path, sizeof writer->path, path);
    writer->device = status.st_dev;
    writer->inode = status.st_ino;
    writer->header->flags &= ~BP_LOST_DISK;
    writer->header->lost_bytes = 0;
    BP_SYS2(SYS_munmap, writer->spare, writer->spare_size);
    writer->spare_size = 0;
    struct bp_chunk **link = &writer->chunks;
    for (struct bp_chunk *chunk = *link, *next; chunk; chunk = next) {
        next = (void *)chunk->links[0];
        if (!kept_after_fork(chunk, thread)) {
            drop_chunk(writer, chunk);
            continue;
        }
        if (take_over((int)fd, chunk, chunk->size, offset) == 0) {
            offset += chunk->size;
        } else {
            detach(chunk, chunk->size);
            writer->header->flags |= BP_LOST_DISK;
            writer->header->lost_bytes += chunk->size;
        }
        *link = chunk;
        link = (struct bp_chunk **)&chunk->links[0];
    }
    *link = NULL;
    writer->header->used = offset;
    BP_SYS1(SYS_close, fd);
    return 0;
}
