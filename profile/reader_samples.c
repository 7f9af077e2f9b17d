/* SPDX-License-Identifier: MIT
 *
 * The sampled stacks of a profile. A frame whose caller is impossible becomes a root, one whose
 * function or node is impossible a truncated one, and a sample without its stack or node is left
 * out; a file from before format 1.2 has none of it.
 */
#include <stdlib.h>

#include "profile/reader_internal.h"

/* Samples before frames, and both before nodes: a target publishes them in the other order. */
int bp_reader_load_samples(struct bp_reader *reader, struct bp_profile_thread *thread) {
    void *items;
    int result = bp_reader_load(reader, bp_reader_find(reader, BP_SAMPLES, thread->slot),
                                sizeof(struct bp_sample), 0, &items, &thread->sample_count);
    if (result)
        return result;
    thread->samples = items;
    result = bp_reader_load(reader, bp_reader_find(reader, BP_FRAMES, thread->slot),
                            sizeof(struct bp_frame), 0, &items, &thread->frame_count);
    if (result == 0)
        thread->frames = items;
    return result;
}

static bool check_frame(const struct bp_profile *profile, const struct bp_profile_thread *thread,
                        uint32_t index) {
    struct bp_frame *frame = &thread->frames[index];
    bool bad_parent = frame->parent != BP_NO_FRAME && frame->parent >= index;
    if (bad_parent)
        frame->parent = BP_NO_FRAME;
    uint32_t unknown = profile->func_count - 1; /* load_funcs has added it */
    bool bad_place = frame->kind > BP_FRAME_TRUNCATED ||
                     (frame->kind == BP_FRAME_PYTHON && frame->func >= unknown) ||
                     (frame->kind == BP_FRAME_LEDGER && frame->func >= thread->node_count) ||
                     (frame->kind == BP_FRAME_TRUNCATED && frame->func >= BP_TRUNCATIONS);
    if (bad_place) {
        frame->kind = BP_FRAME_TRUNCATED;
        frame->func = BP_TRUNCATED_WALK;
    }
    return !bad_parent && !bad_place;
}

void bp_reader_check_samples(struct bp_reader *reader, struct bp_profile_thread *thread) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < thread->frame_count; i++)
        reader->bad_items += !check_frame(reader->profile, thread, i);
    for (uint32_t i = 0; i < thread->sample_count; i++) {
        const struct bp_sample *sample = &thread->samples[i];
        if (sample->node < thread->node_count && sample->frame < thread->frame_count &&
            sample->kind < BP_SAMPLE_KINDS)
            thread->samples[kept++] = *sample;
    }
    reader->bad_items += thread->sample_count - kept;
    thread->sample_count = kept;
}

int bp_reader_load_sampler(struct bp_reader *reader) {
    void *items;
    uint32_t count;
    int result = bp_reader_load(reader, bp_reader_find(reader, BP_SAMPLER, BP_NO_THREAD),
                                sizeof(struct bp_sampler), 0, &items, &count);
    if (result)
        return result;
    if (count == 0) {
        free(items);
        return 0;
    }
    struct bp_sampler *sampler = items;
    bp_reader_clean(sampler->reason, sizeof(sampler->reason));
    reader->profile->sampler = sampler;
    return 0;
}
