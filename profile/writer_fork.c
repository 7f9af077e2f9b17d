/* SPDX-License-Identifier: MIT
 *
 * A forked child leaves its parent's file. The parent's threads go on writing there from the
 * instant of the fork, so the child believes nothing that it finds in the file, except what never
 * changes once it is counted: strings, variables, and which context a node is. Everything else that
 * it needs was copied before the fork, with the lock held (bp_writer_before_fork), and the rest is
 * zero. `rules` below says for every kind which of these it is; docs/internals/fork.md has it in
 * words.
 *
 * The child's file is made whole first and then moved to the addresses of the parent's, so that no
 * pointer changes. A chunk keeps only the pages that hold items.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "profile/sys.h"
#include "profile/writer_internal.h"

enum rule {
    GONE,     /* not mapped any more: whoever had pointers there has forgotten them */
    STAYS,    /* the parent's memory, on purpose */
    EMPTIED,  /* private zeros: a call that the fork came in between may yet write there */
    DETACHED, /* private, with whatever is there: read by somebody, believed by nobody */
    APPENDED, /* the first `count` items, which never change */
    COPIED,   /* as before the fork */
    THREAD,   /* only the forking thread's item, as before the fork */
    CONTEXTS  /* nodes that have counted nothing */
};

static const uint8_t rules[BP_KINDS] = {
    [BP_STRINGS] = APPENDED,   [BP_VARIABLES] = APPENDED,
    [BP_MODULES] = APPENDED,   [BP_OBJECTS] = COPIED,
    [BP_FUNCS] = COPIED,       [BP_THREADS] = THREAD,
    [BP_NODES] = CONTEXTS,     [BP_ENTRIES] = COPIED,
    [BP_TREE] = STAYS,         [BP_MARKS] = STAYS,
    [BP_DEVICES] = DETACHED,   [BP_TRANSFERS] = DETACHED,
    [BP_KERNELS] = DETACHED,   [BP_SPLITS] = DETACHED,
    [BP_WAITS] = DETACHED,     [BP_COLLECTOR] = DETACHED,
    [BP_ASKED] = DETACHED,     [BP_FRAMES] = EMPTIED,
    [BP_SAMPLES] = EMPTIED,    [BP_SAMPLER] = EMPTIED,
    [BP_LINE_COUNTS] = COPIED, /* then set to zero: Python's code objects
                                  point there */
};

/* A chunk as it was before the fork. */
struct before {
    struct bp_chunk *chunk;
    struct bp_chunk head;
    char *copy;    /* of its items, or of the one that counts; NULL: not needed */
    uint64_t size; /* in the child's file; 0: not there */
    uint64_t offset;
};

struct bp_snapshot {
    uint64_t size; /* of all this memory */
    uint32_t thread;
    uint32_t count;
    uint32_t begun; /* the child has begun to move: it cannot try another way */
    struct bp_header header;
    struct before chunks[]; /* newest first; then the copies */
};

static void copy_words(void *to, const void *from, uint64_t size) {
    for (uint64_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

static int holds(const struct bp_chunk *head, uint32_t thread) {
    return thread >= head->first && thread - head->first < head->capacity;
}

/* Bytes of items to copy before the fork, and where they begin. */
static uint64_t copy_size(const struct bp_chunk *head, uint32_t thread, uint64_t *from) {
    *from = sizeof *head;
    if (rules[head->kind] == THREAD && holds(head, thread)) {
        *from += (uint64_t)(thread - head->first) * head->item_size;
        return head->item_size;
    }
    if (rules[head->kind] != COPIED)
        return 0;
    uint32_t items = head->kind == BP_ENTRIES ? head->capacity : head->count;
    return (uint64_t)items * head->item_size;
}

int bp_writer_before_fork(struct bp_writer *writer, uint32_t thread) {
    uint64_t from, size = sizeof(struct bp_snapshot);
    uint32_t count = 0;
    for (const struct bp_chunk *c = writer->chunks; c; c = (void *)c->links[0], count++)
        size += sizeof(struct before) + copy_size(c, thread, &from);
    struct bp_snapshot *snapshot = bp_writer_memory(size);
    writer->snapshot = snapshot;
    if (!snapshot)
        return -ENOMEM;
    snapshot->size = size;
    snapshot->thread = thread;
    copy_words(&snapshot->header, writer->header, sizeof snapshot->header);
    char *copies = (char *)&snapshot->chunks[count];
    for (struct bp_chunk *c = writer->chunks; c; c = (void *)c->links[0]) {
        struct before *before = &snapshot->chunks[snapshot->count++];
        before->chunk = c;
        before->head = *c;
        uint64_t bytes = copy_size(&before->head, thread, &from);
        before->copy = bytes ? copies : NULL;
        copy_words(copies, (const char *)c + from, bytes);
        copies += bytes;
    }
    return 0;
}

void bp_writer_after_fork(struct bp_writer *writer) {
    if (writer->snapshot)
        BP_SYS2(SYS_munmap, writer->snapshot, writer->snapshot->size);
    writer->snapshot = NULL;
}

/* Whether the child's file has it: the forking thread's, and those of no thread. */
static int is_kept(const struct before *before, uint32_t thread) {
    const struct bp_chunk *head = &before->head;
    if (rules[head->kind] == THREAD)
        return thread != BP_NO_THREAD && head->first <= thread;
    return rules[head->kind] >= APPENDED &&
           (head->thread == BP_NO_THREAD || head->thread == thread);
}

/* Items of a kept chunk. Threads after the forking one are as if they had never begun. */
static uint32_t kept_items(const struct bp_chunk *head, uint32_t thread) {
    if (rules[head->kind] != THREAD)
        return head->kind == BP_ENTRIES ? head->capacity : head->count;
    return holds(head, thread) ? thread - head->first + 1 : head->capacity;
}

/* Only the last chunk of a kind is cut: the indices of the next follow from its capacity. */
static uint64_t kept_size(const struct bp_writer *writer, const struct before *before) {
    const struct bp_chunk *head = &before->head;
    if (head->thread == BP_NO_THREAD && rules[head->kind] != THREAD &&
        writer->open[head->kind] != before->chunk)
        return head->size;
    return bp_writer_round(sizeof *head + (uint64_t)head->count * head->item_size);
}

/* Places in the child's file; its size. */
static uint64_t plan(const struct bp_writer *writer) {
    struct bp_snapshot *snapshot = writer->snapshot;
    uint64_t offset = BP_PAGE;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        struct before *before = &snapshot->chunks[i];
        struct bp_chunk *head = &before->head;
        if (!is_kept(before, snapshot->thread))
            continue;
        head->count = kept_items(head, snapshot->thread);
        before->offset = offset;
        before->size = kept_size(writer, before);
        offset += before->size;
    }
    return offset;
}

static void copy_contexts(struct bp_node *to, const struct bp_node *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        to[i].parent = from[i].parent;
        to[i].func = from[i].func;
        to[i].index = from[i].index;
        to[i].min = UINT64_MAX;
    }
}

static void copy_bytes(char *to, const char *from, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        to[i] = from[i];
}

/* The chunk as the child is to find it, in memory that is zero. */
static void build(const struct before *before, uint32_t thread, struct bp_chunk *to) {
    const struct bp_chunk *head = &before->head;
    char *items = bp_chunk_items(to);
    *to = *head;
    to->size = before->size;
    to->capacity = (uint32_t)((to->size - sizeof *to) / to->item_size);
    if (to->capacity > head->capacity)
        to->capacity = head->capacity;
    uint64_t bytes = (uint64_t)head->count * head->item_size;
    if (rules[head->kind] == APPENDED)
        copy_bytes(items, bp_chunk_items(before->chunk), bytes);
    else if (rules[head->kind] == CONTEXTS)
        copy_contexts((struct bp_node *)items, bp_chunk_items(before->chunk), head->count);
    else if (rules[head->kind] == COPIED)
        copy_words(items, before->copy, bytes);
    else if (before->copy) /* THREAD */
        copy_words(items + (uint64_t)(thread - head->first) * head->item_size, before->copy,
                   head->item_size);
}

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

/* Private memory with what was copied, or else with what is there. */
static int detach(const struct before *before) {
    uint64_t size = before->head.size;
    char *memory = bp_writer_memory(size);
    if (!memory)
        return -ENOMEM;
    copy_words(memory, before->chunk, before->copy ? sizeof before->head : size);
    if (before->copy)
        copy_words(memory + sizeof before->head, before->copy,
                   (uint64_t)before->head.capacity * before->head.item_size);
    int error = move(memory, size, before->chunk);
    if (error == 0 || empty(before->chunk, size) < 0)
        return error;
    copy_words(before->chunk, memory, size);
    BP_SYS2(SYS_munmap, memory, size);
    return 0;
}

/* A chunk that the child's file has not. Calls of other threads may end here, if a coroutine took
 * them along: their entries stay as they were, in private memory. */
static int leave_out(const struct before *before) {
    switch (before->head.kind == BP_ENTRIES ? DETACHED : (enum rule)rules[before->head.kind]) {
    case STAYS:
        return 0;
    case DETACHED:
        return detach(before);
    case EMPTIED:
    case CONTEXTS:
    case THREAD:
        return empty(before->chunk, before->head.size);
    default:
        BP_SYS2(SYS_munmap, before->chunk, before->head.size);
        return 0;
    }
}

/* Where a chunk of the file cannot move, its contents do, into private memory. They are lost with
 * the process, so the file has no items there. */
static int move_contents(struct bp_header *header, struct bp_chunk *from, uint64_t size, void *to) {
    int error = empty(to, size);
    if (error)
        return error;
    copy_words(to, from, size);
    from->count = 0;
    header->flags |= BP_LOST_DISK;
    header->lost_errno = ENOMEM;
    header->lost_bytes += size;
    return 0;
}

static int place(const struct before *before, char *memory) {
    struct bp_chunk *built = (struct bp_chunk *)(memory + before->offset);
    int error = move(built, before->size, before->chunk);
    if (error)
        error = move_contents((struct bp_header *)memory, built, before->size, before->chunk);
    if (error == 0 && before->head.size > before->size)
        BP_SYS2(SYS_munmap, (char *)before->chunk + before->size, before->head.size - before->size);
    return error;
}

/* Last of all. A header that cannot move leaves a file without a magic number: no profile. */
static int place_header(char *memory, struct bp_header *to) {
    int error = move(memory, BP_PAGE, to);
    if (error == 0 || empty(to, BP_PAGE) < 0)
        return error;
    copy_words(to, memory, BP_PAGE);
    return 0;
}

/* Newest first, as before: the first chunk of a kind is where its next item goes. -errno: some
 * memory is still the parent's, and this process must not record. */
static int take_over(struct bp_writer *writer, char *memory) {
    struct bp_snapshot *snapshot = writer->snapshot;
    struct bp_chunk **link = &writer->chunks;
    int error = 0;
    snapshot->begun = 1;
    for (unsigned kind = 0; kind < BP_KINDS; kind++)
        writer->open[kind] = NULL;
    for (uint32_t i = 0; i < snapshot->count && error == 0; i++) {
        const struct before *before = &snapshot->chunks[i];
        if (!before->size) {
            error = leave_out(before);
            continue;
        }
        build(before, snapshot->thread, (struct bp_chunk *)(memory + before->offset));
        error = place(before, memory);
        if (error)
            break;
        *link = before->chunk;
        link = (struct bp_chunk **)&before->chunk->links[0];
        if (before->head.thread == BP_NO_THREAD && !writer->open[before->head.kind])
            writer->open[before->head.kind] = before->chunk;
    }
    if (error == 0)
        error = place_header(memory, writer->header);
    if (error)
        return error;
    *link = NULL;
    if (writer->spare_size)
        BP_SYS2(SYS_munmap, writer->spare, writer->spare_size);
    writer->spare_size = 0;
    return 0;
}

/* All but what the process did: whoever is to describe it says the rest. The magic number comes
 * last, when the file is a profile. */
static void build_header(const struct bp_snapshot *snapshot, struct bp_header *header,
                         uint64_t used) {
    *header = snapshot->header;
    for (unsigned i = 0; i < sizeof header->magic; i++)
        header->magic[i] = 0;
    header->used = used;
    header->flags &= ~BP_LOST_DISK;
    header->lost_errno = header->threads_folded = header->node_limit_hits = 0;
    header->tasks_plain = header->tasks_lost = header->last_node = header->last_thread = 0;
    header->lost_bytes = header->task_time = header->last_time = 0;
    header->startup = header->startup_queued[0] = header->startup_queued[1] = 0;
}

/* Zeros for the child's file: from the file itself, or without one from memory. */
static char *new_memory(struct bp_writer *writer, const char *path, uint64_t size, int *error) {
    struct stat status;
    char *memory = NULL;
    int fd = bp_writer_open(path, &status);
    *error = fd < 0 ? fd : bp_writer_reserve(fd, 0, size);
    if (*error == 0) {
        memory = bp_writer_map(fd, NULL, size, 0);
        *error = bp_sys_failed(memory) ? (int)(long)memory : 0;
    }
    if (fd >= 0)
        BP_SYS1(SYS_close, fd);
    if (*error == 0)
        bp_writer_remember(writer, path, &status);
    else if (fd >= 0)
        BP_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
    return *error == 0 ? memory : NULL;
}

int bp_writer_fork(struct bp_writer *writer, const char *path) {
    uint64_t used = plan(writer), size = used + BP_WRITER_LEAST_EXTENT;
    int error;
    char *memory = new_memory(writer, path, size, &error);
    if (!memory)
        return error;
    build_header(writer->snapshot, (struct bp_header *)memory, used);
    error = take_over(writer, memory);
    if (error) {
        BP_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
        return error;
    }
    writer->spare = memory + used;
    writer->spare_size = size - used;
    return 0;
}

int bp_writer_detach(struct bp_writer *writer, int error) {
    if (writer->snapshot->begun)
        return error;
    uint64_t used = plan(writer);
    char *memory = bp_writer_memory(used);
    if (!memory)
        return -ENOMEM;
    struct bp_header *header = (struct bp_header *)memory;
    build_header(writer->snapshot, header, used);
    header->flags |= BP_LOST_DISK;
    header->lost_errno = (uint32_t)-error;
    header->lost_bytes = used;
    return take_over(writer, memory);
}
