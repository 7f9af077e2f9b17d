/* SPDX-License-Identifier: MIT
 *
 * Copies that only their samples count (BP_SAMPLE_COPIES) are added to their transfers, and to the
 * splits of the calls that made them: nobody after the reader has to know of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "profile/reader_internal.h"

/* All splits, sorted by context. */
struct index {
    struct bp_split **splits;
    uint32_t count;
};

static int compare_splits(const void *a, const void *b) {
    const struct bp_split *x = *(struct bp_split *const *)a;
    const struct bp_split *y = *(struct bp_split *const *)b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool make_index(const struct bp_profile *profile, struct index *index) {
    index->count = profile->split_count;
    index->splits = calloc(index->count ? index->count : 1, sizeof(*index->splits));
    if (!index->splits)
        return false;
    for (uint32_t i = 0; i < index->count; i++)
        index->splits[i] = &profile->splits[i];
    qsort(index->splits, index->count, sizeof(*index->splits), compare_splits);
    return true;
}

static struct bp_split *find_split(const struct index *index, uint32_t thread, uint32_t node) {
    const struct bp_split key = {.thread = thread, .node = node};
    const struct bp_split *wanted = &key;
    struct bp_split **found =
        bsearch(&wanted, index->splits, index->count, sizeof(*index->splits), compare_splits);
    return found ? *found : NULL;
}

static void add_to_transfer(struct bp_transfer *transfer, const struct bp_sample *sample) {
    transfer->count += sample->count;
    transfer->bytes += sample->weight;
    transfer->device_time += sample->time;
    transfer->exposed += sample->waits ? sample->time : 0;
    transfer->sizes[sample->bucket] += sample->count;
    if (UINT64_C(1) << sample->bucket >= BP_SMALL_COPY)
        return;
    transfer->small_count += sample->count;
    transfer->small_bytes += sample->weight;
    transfer->small_time += sample->time;
}

static void add_to_split(struct bp_split *split, const struct bp_sample *sample) {
    split->calls += sample->count;
    split->time += sample->waits ? sample->time : 0;
    split->transfer += sample->waits ? sample->time : 0;
}

/* False if the sample makes no sense. */
static bool add_copies(struct bp_profile *profile, const struct index *index, uint32_t thread,
                       const struct bp_sample *sample) {
    struct bp_split *split = find_split(index, thread, sample->node);
    if (sample->transfer >= profile->transfer_count || sample->bucket >= BP_SIZE_BUCKETS || !split)
        return false;
    struct bp_transfer *transfer = &profile->transfers[sample->transfer];
    if (transfer->thread != thread || transfer->node != sample->node)
        return false;
    add_to_transfer(transfer, sample);
    add_to_split(split, sample);
    return true;
}

int bp_reader_add_copies(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    struct index index;
    if (!make_index(profile, &index))
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct bp_profile_thread *thread = &profile->threads[i];
        for (uint32_t j = 0; j < thread->sample_count; j++)
            if (thread->samples[j].kind == BP_SAMPLE_COPIES)
                reader->bad_items +=
                    !add_copies(profile, &index, thread->slot, &thread->samples[j]);
    }
    free(index.splits);
    return 0;
}
