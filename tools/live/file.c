/* SPDX-License-Identifier: MIT
 *
 * Mapping a profile that grows, and what happens where it was cut.
 */
#include "tools/live/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/base/memory.h"

static struct {
    struct bp_live_file *mapped; /* whose pages may be missing */
    bool guarded;
} state;

/* A page that is not in its file any more becomes one of zeros, whoever has mapped it. Every other
 * SIGBUS is a mistake of ours: the instruction is tried again and ends the command. */
static void mend(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    char *address = info->si_addr, *page = address - (uintptr_t)address % BP_PAGE;
    (void)context;
    for (struct bp_live_file *file = state.mapped; file; file = file->next)
        if (address >= file->live.data && address < file->live.data + file->live.size)
            file->cut = true;
    if (info->si_code == BUS_ADRERR &&
        mmap(page, BP_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page) {
        errno = saved;
        return;
    }
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
}

static void guard(void) {
    struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    if (!state.guarded)
        sigaction(SIGBUS, &action, NULL);
    state.guarded = true;
}

static void forget_mapping(const struct bp_live_file *file) {
    for (struct bp_live_file **link = &state.mapped; *link; link = &(*link)->next)
        if (*link == file) {
            *link = file->next;
            return;
        }
}

static int map(struct bp_live_file *file) {
    struct bp_live live = {0};
    int result = bp_live_open(&live, file->path, 0);
    if (result)
        return result;
    if (file->live.data)
        bp_live_close(&file->live);
    file->live = live;
    return 0;
}

static bool is_profile(const struct bp_live_file *file) {
    const struct bp_header *header = bp_live_file_header(file);
    return memcmp(header->magic, BP_MAGIC, sizeof(header->magic)) == 0 &&
           header->major == BP_MAJOR && header->byte_order == BP_BYTE_ORDER &&
           header->header_size == BP_PAGE;
}

int bp_live_file_open(struct bp_live_file *file, const char *path) {
    *file = (struct bp_live_file){.path = bp_copy_text(path)};
    guard();
    int result = map(file);
    if (result == 0) {
        file->next = state.mapped;
        state.mapped = file;
    }
    if (result == 0 && !is_profile(file))
        result = -EPROTO;
    if (result)
        bp_live_file_close(file);
    return result;
}

void bp_live_file_close(struct bp_live_file *file) {
    forget_mapping(file);
    if (file->live.data)
        bp_live_close(&file->live);
    free(file->chunks);
    free(file->path);
    *file = (struct bp_live_file){0};
}

static struct bp_chunk *head_of(const struct bp_live_file *file,
                                const struct bp_live_chunk *chunk) {
    return (struct bp_chunk *)(file->live.data + chunk->offset);
}

void bp_live_file_update(struct bp_live_file *file) {
    if (bp_live_file_header(file)->used > file->live.size)
        map(file);
    uint32_t count = file->chunk_count;
    struct bp_chunk *last = count ? head_of(file, &file->chunks[count - 1]) : NULL;
    while (!file->cut && (last = bp_live_next(&file->live, last)) != NULL) {
        struct bp_live_chunk *chunk = BP_APPEND(file->chunks, file->chunk_count);
        *chunk = (struct bp_live_chunk){.offset = (uint64_t)((char *)last - file->live.data),
                                        .address = last->address,
                                        .size = last->size,
                                        .thread = last->thread,
                                        .first = last->first,
                                        .kind = last->kind,
                                        .item_size = last->item_size};
    }
}

const char *bp_live_file_items(const struct bp_live_file *file, const struct bp_live_chunk *chunk,
                               size_t least, uint32_t *count) {
    const struct bp_chunk *head = head_of(file, chunk);
    *count = 0;
    if (chunk->item_size < least || !chunk->item_size ||
        chunk->offset + chunk->size > file->live.size)
        return NULL;
    uint64_t room = (chunk->size - sizeof(*head)) / chunk->item_size;
    uint32_t used = __atomic_load_n(&head->count, __ATOMIC_ACQUIRE);
    *count = used < room ? used : (uint32_t)room;
    return (const char *)(head + 1);
}

void bp_live_file_text(const struct bp_live_file *file, uint32_t index, char *text, size_t size) {
    size_t i = 0;
    uint32_t count;
    for (uint32_t c = 0; index && c < file->chunk_count; c++) {
        const struct bp_live_chunk *chunk = &file->chunks[c];
        if (chunk->kind != BP_STRINGS || index < chunk->first)
            continue;
        const char *bytes = bp_live_file_items(file, chunk, 1, &count);
        uint32_t at = index - chunk->first;
        for (; bytes && at < count && i + 1 < size && bytes[at]; at++, i++)
            text[i] = (unsigned char)bytes[at] < ' ' ? ' ' : bytes[at];
        if (i)
            break;
    }
    text[i] = 0;
}

const void *bp_live_file_at(const struct bp_live_file *file, enum bp_chunk_kind kind,
                            uint32_t thread, uint64_t address, size_t size, uint32_t *index) {
    for (uint32_t c = 0; c < file->chunk_count; c++) {
        const struct bp_live_chunk *chunk = &file->chunks[c];
        uint64_t offset = address - chunk->address - sizeof(struct bp_chunk);
        if (chunk->kind != kind || chunk->thread != thread || chunk->item_size < size ||
            address < chunk->address || offset > chunk->size - sizeof(struct bp_chunk) - size ||
            offset % chunk->item_size || chunk->offset + chunk->size > file->live.size)
            continue;
        *index = chunk->first + (uint32_t)(offset / chunk->item_size);
        return file->live.data + chunk->offset + sizeof(struct bp_chunk) + offset;
    }
    return NULL;
}
