/* SPDX-License-Identifier: MIT
 *
 * Whether the same bytes were copied before, when asked for (battprof run --check-transfers): the
 * same content uploaded again is a duplicate; content that goes back where it came from, unchanged,
 * is a round trip. Contents are known by a hash of 64 bits and their length, the last 16,384 of
 * them. The target's memory is read by process_vm_readv, which fails where a load would fault: the
 * memory of an asynchronous copy may be gone by now. A sandbox may refuse it.
 */
#include "cuda/content.h"

#include <errno.h>
#include <sys/uio.h>

#include "cuda/copy.h"
#include "cuda/internal.h"
#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/thread.h"

#define CONTENTS 16384
#define PIECE 65536
#define PRIME UINT64_C(0x9e3779b97f4a7c15)

struct content {
    uint64_t hash; /* 0: free */
    uint64_t bytes;
    uint32_t up; /* was uploaded, downloaded */
    uint32_t down;
};

static struct {
    struct bp_lock lock;
    struct content *contents;
    uint64_t *piece;
} state;

static uint64_t mix(uint64_t hash, const uint64_t *words, uint64_t bytes) {
    uint64_t lanes[4] = {hash, hash ^ PRIME, hash + PRIME, ~hash};
    for (uint64_t i = 0; i < (bytes + 7) / 8; i++) {
        uint64_t lane = (lanes[i & 3] ^ words[i]) * PRIME;
        lanes[i & 3] = lane ^ lane >> 29;
    }
    return ((lanes[0] * 3 + lanes[1]) * PRIME ^ lanes[2]) * PRIME ^ lanes[3] ^ bytes;
}

/* 1, or 0 if it cannot be read. */
static int add_bytes(uint64_t *hash, uint64_t address, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes;) {
        uint64_t size = bytes - done < PIECE ? bytes - done : PIECE;
        struct iovec to = {state.piece, size}, from = {(char *)address + done, size};
        state.piece[(size - 1) / 8] = 0;
        long got = BP_SYS6(SYS_process_vm_readv, bp_process.pid, &to, 1, &from, 1, 0);
        if (got == -EPERM || got == -ENOSYS)
            __atomic_fetch_or(&bp_sums.collector->flags, BP_COLLECTOR_UNREAD, __ATOMIC_RELAXED);
        if (got != (long)size)
            return 0;
        *hash = mix(*hash, state.piece, size);
        done += size;
    }
    return 1;
}

/* Rows that follow each other without a gap are one. 0 if it cannot be read. */
static uint64_t hash_of(const struct bp_cuda_copy *copy) {
    uint64_t hash = copy->bytes, host = bp_cuda_copy_host(copy);
    int whole = (copy->height == 1 || copy->pitch == copy->width) &&
                (copy->depth == 1 || copy->slice == copy->pitch * copy->height);
    if (whole)
        return add_bytes(&hash, host, copy->bytes) ? hash | !hash : 0;
    for (uint64_t z = 0; z < copy->depth; z++)
        for (uint64_t y = 0; y < copy->height; y++)
            if (!add_bytes(&hash, host + z * copy->slice + y * copy->pitch, copy->width))
                return 0;
    return hash | !hash;
}

static unsigned look(const struct bp_cuda_copy *copy) {
    unsigned flags = 0;
    uint64_t hash = hash_of(copy);
    if (!hash)
        return 0;
    struct content *content = &state.contents[(hash >> 40) % CONTENTS];
    if (content->hash != hash || content->bytes != copy->bytes)
        *content = (struct content){hash, copy->bytes, 0, 0};
    if (copy->direction == BP_H2D) {
        flags = content->up ? BP_CONTENT_DUPLICATE : content->down ? BP_CONTENT_ROUND_TRIP : 0;
        content->up = 1;
    } else {
        flags = content->up ? BP_CONTENT_ROUND_TRIP : 0;
        content->down = 1;
    }
    return flags;
}

unsigned bp_content_look(const struct bp_cuda_copy *copy) {
    unsigned flags = 0;
    if (!bp_cuda_copy_host(copy) || !copy->bytes)
        return 0;
    uint64_t mask = bp_lock(&state.lock);
    if (!state.contents) {
        state.piece = bp_pages_new(PIECE);
        state.contents = bp_pages_new(CONTENTS * sizeof *state.contents);
    }
    if (state.contents && state.piece)
        flags = look(copy);
    bp_unlock(&state.lock, mask);
    return flags;
}

void bp_content_count(struct bp_transfer *transfer, unsigned content, uint64_t bytes,
                      uint64_t time) {
    if (content & BP_CONTENT_DUPLICATE) {
        transfer->duplicates++;
        transfer->duplicate_bytes += bytes;
        transfer->duplicate_time += time;
    } else if (content) {
        transfer->round_trips++;
        transfer->round_trip_bytes += bytes;
        transfer->round_trip_time += time;
    }
}

/* The record and the hash come in any order: whoever is second finds both in the slot. */
void bp_content_apply(struct bp_slot *slot) {
    struct bp_transfer *transfer = slot->transfer ? bp_sums_transfer_at(slot->transfer - 1) : NULL;
    if (!transfer || !slot->content)
        return;
    bp_content_count(transfer, slot->content, slot->bytes, slot->time);
    slot->content = 0;
}

void bp_content_later(struct bp_cuda_thread *own, const struct bp_cuda_copy *copy, uint32_t slot,
                      uint32_t transfer) {
    if (own->later_count < BP_CUDA_LATER)
        own->later[own->later_count++] = (struct bp_later){*copy, slot, transfer};
}

static void settle(const struct bp_later *later) {
    if (later->slot && !bp_slot_get(later->slot))
        return;
    unsigned content = bp_content_look(&later->copy);
    uint64_t mask = bp_lock(&bp_cuda.lock);
    struct bp_slot *slot = bp_slot_get(later->slot);
    struct bp_transfer *transfer = later->slot ? NULL : bp_sums_transfer_at(later->transfer);
    if (slot) {
        slot->content = (uint8_t)content;
        bp_content_apply(slot);
    } else if (transfer) {
        bp_content_count(transfer, content, later->copy.bytes, 0);
    }
    bp_unlock(&bp_cuda.lock, mask);
}

void bp_content_settle(struct bp_cuda_thread *own) {
    for (uint32_t i = 0; i < own->later_count; i++)
        settle(&own->later[i]);
    own->later_count = 0;
}
