/* SPDX-License-Identifier: MIT
 *
 * What a profile says about devices. Contexts that do not exist are made unknown ones, numbers
 * outside their lists the nearest harmless; a file from before format 1.1 has none of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "profile/items.h"
#include "profile/reader_internal.h"

/* Threads are in the order of their slots. */
const struct bp_profile_thread *bp_reader_thread(const struct bp_profile *profile, uint32_t slot) {
    uint32_t low = 0;
    uint32_t high = profile->thread_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (profile->threads[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < profile->thread_count && profile->threads[low].slot == slot;
    return found ? &profile->threads[low] : NULL;
}

static void check_context(const struct bp_profile *profile, uint32_t *thread, uint32_t *node) {
    const struct bp_profile_thread *found = bp_reader_thread(profile, *thread);
    if (found && *node < found->node_count)
        return;
    *thread = BP_NO_THREAD;
    *node = BP_NO_NODE;
}

void bp_reader_check_devices(struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->transfer_count; i++) {
        struct bp_transfer *transfer = &profile->transfers[i];
        check_context(profile, &transfer->thread, &transfer->node);
        if (transfer->direction >= BP_DIRECTIONS)
            transfer->direction = BP_D2D; /* of a newer writer: at least no host is in it */
        if (transfer->source >= BP_MEMORIES)
            transfer->source = BP_MEMORY_UNKNOWN;
        if (transfer->target >= BP_MEMORIES)
            transfer->target = BP_MEMORY_UNKNOWN;
    }
    for (uint32_t i = 0; i < profile->kernel_count; i++)
        check_context(profile, &profile->kernels[i].thread, &profile->kernels[i].node);
    for (uint32_t i = 0; i < profile->split_count; i++)
        check_context(profile, &profile->splits[i].thread, &profile->splits[i].node);
    for (uint32_t i = 0; i < profile->wait_count; i++) {
        struct bp_wait *wait = &profile->waits[i];
        check_context(profile, &wait->thread, &wait->node);
        check_context(profile, &wait->launch_thread, &wait->launch_node);
    }
}

void *bp_reader_take(struct bp_reader *reader, enum bp_chunk_kind kind, uint32_t *count,
                     int *result) {
    void *items;
    if (*result == 0)
        *result = bp_reader_load(reader, bp_reader_find(reader, kind, BP_NO_THREAD),
                                 bp_item_sizes[kind], 0, &items, count);
    return *result == 0 ? items : NULL;
}

static uint64_t less(uint64_t asked, uint64_t met) {
    return asked > met ? asked - met : 0; /* what comes may be counted first */
}

/* Copies without a record of the device: those of `asked` that are not in `met`. */
static struct bp_transfer left_of(const struct bp_transfer *asked, const struct bp_transfer *met) {
    struct bp_transfer left = {
        .thread = asked->thread,
        .node = asked->node,
        .device = asked->device,
        .direction = asked->direction,
        .flags = (uint8_t)(asked->flags | BP_TRANSFER_UNTIMED | BP_TRANSFER_HOST_ONLY),
        .count = less(asked->count, met->count),
        .bytes = less(asked->bytes, met->bytes),
        .small_count = less(asked->small_count, met->small_count),
        .small_bytes = less(asked->small_bytes, met->small_bytes)};
    for (int i = 0; i < BP_SIZE_BUCKETS; i++)
        left.sizes[i] = less(asked->sizes[i], met->sizes[i]);
    return left;
}

static bool is_pair(const struct bp_transfer *asked, const struct bp_transfer *met) {
    return asked->thread == met->thread && asked->node == met->node &&
           asked->direction == met->direction && !(asked->flags & BP_TRANSFER_MET) &&
           met->flags & BP_TRANSFER_MET;
}

/* Records without a caller, by direction and size: what led to their calls was lost. */
struct orphans {
    uint64_t count[BP_DIRECTIONS][BP_SIZE_BUCKETS];
};

static void find_orphans(const struct bp_profile *profile, struct orphans *orphans) {
    for (uint32_t i = 0; i < profile->transfer_count; i++) {
        const struct bp_transfer *transfer = &profile->transfers[i];
        for (int b = 0; transfer->thread == BP_NO_THREAD && b < BP_SIZE_BUCKETS; b++)
            if (transfer->direction < BP_DIRECTIONS)
                orphans->count[transfer->direction][b] += transfer->sizes[b];
    }
}

/* A call without a record and a record of that direction and size without a call are one copy: it
 * would count twice. Its bytes are the mean of what is left. */
static void join_orphans(struct bp_transfer *left, struct orphans *orphans) {
    for (int b = 0; left->direction < BP_DIRECTIONS && b < BP_SIZE_BUCKETS; b++) {
        uint64_t *orphan = &orphans->count[left->direction][b];
        uint64_t n = left->sizes[b] < *orphan ? left->sizes[b] : *orphan;
        if (n > left->count)
            n = left->count;
        if (n == 0)
            continue;
        if (UINT64_C(1) << b < BP_SMALL_COPY && left->small_count >= n) {
            left->small_bytes -= left->small_bytes / left->small_count * n;
            left->small_count -= n;
        }
        left->bytes -= left->bytes / left->count * n;
        left->count -= n;
        left->sizes[b] -= n;
        *orphan -= n;
    }
}

/* What was asked for and has no record is a transfer, too. Items come in pairs. */
static int add_untimed(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    struct orphans orphans = {0};
    find_orphans(profile, &orphans);
    uint32_t count = 0;
    int result = 0;
    struct bp_transfer *asked = bp_reader_take(reader, BP_ASKED, &count, &result);
    struct bp_transfer *all =
        result || count < 2 ? NULL
                            : realloc(profile->transfers,
                                      (profile->transfer_count + (size_t)count / 2) * sizeof(*all));
    if (all)
        profile->transfers = all;
    for (uint32_t i = 0; all && i + 1 < count; i++) {
        if (!is_pair(&asked[i], &asked[i + 1])) {
            reader->bad_items++;
            continue;
        }
        struct bp_transfer left = left_of(&asked[i], &asked[i + 1]);
        join_orphans(&left, &orphans);
        i++;
        if (left.count)
            all[profile->transfer_count++] = left;
    }
    free(asked);
    return result ? result : count >= 2 && !all ? -ENOMEM : 0;
}

/* Before the threads: a target makes a node first and names it here later. */
int bp_reader_load_devices(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    int result = 0;
    uint32_t count = 0;
    profile->devices = bp_reader_take(reader, BP_DEVICES, &profile->device_count, &result);
    profile->transfers = bp_reader_take(reader, BP_TRANSFERS, &profile->transfer_count, &result);
    if (result == 0)
        result = add_untimed(reader);
    profile->kernels = bp_reader_take(reader, BP_KERNELS, &profile->kernel_count, &result);
    profile->splits = bp_reader_take(reader, BP_SPLITS, &profile->split_count, &result);
    profile->waits = bp_reader_take(reader, BP_WAITS, &profile->wait_count, &result);
    struct bp_collector *collector = bp_reader_take(reader, BP_COLLECTOR, &count, &result);
    if (count == 0) {
        free(collector);
        return result;
    }
    bp_reader_clean(collector->library, sizeof(collector->library));
    bp_reader_clean(collector->reason, sizeof(collector->reason));
    profile->collector = collector;
    return 0;
}
