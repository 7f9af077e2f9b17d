/* SPDX-License-Identifier: MIT
 *
 * Whether the same bytes were copied before, when asked for (battprof run --check-transfers): the
 * same content uploaded again is a duplicate; content that goes back where it came from, unchanged,
 * is a round trip. Contents are known by a hash of 64 bits and their length, the last 16,384 of
 * them. The target's memory is read by process_vm_readv, which fails where a load would fault: the
 * memory of an asynchronous copy may be gone by now.
 */
#include <sys/uio.h>

#include "cuda/internal.h"

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

/* 0 if it cannot be read. */
static uint64_t hash_of(const struct bp_cuda_copy *copy) {
    uint64_t hash = copy->bytes;
    for (uint64_t done = 0; done < copy->bytes;) {
        uint64_t size = copy->bytes - done < PIECE ? copy->bytes - done : PIECE;
        struct iovec to = {state.piece, size}, from = {(char *)copy->host + done, size};
        state.piece[(size - 1) / 8] = 0;
        long got = BP_SYS6(SYS_process_vm_readv, bp_process.pid, &to, 1, &from, 1, 0);
        if (got != (long)size)
            return 0;
        hash = mix(hash, state.piece, size);
        done += size;
    }
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
    if (copy->direction < 0 || !copy->host || !copy->bytes)
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

/* The record and the hash come in any order: whoever is second finds both in the slot. */
void bp_content_apply(struct bp_slot *slot) {
    struct bp_transfer *transfer = slot->transfer ? bp_sums_transfer_at(slot->transfer - 1) : NULL;
    if (!transfer || !slot->content)
        return;
    if (slot->content & BP_CONTENT_DUPLICATE) {
        transfer->duplicates++;
        transfer->duplicate_bytes += slot->bytes;
        transfer->duplicate_time += slot->time;
    } else {
        transfer->round_trips++;
        transfer->round_trip_bytes += slot->bytes;
        transfer->round_trip_time += slot->time;
    }
    slot->content = 0;
}
