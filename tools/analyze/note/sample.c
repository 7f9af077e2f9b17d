/* SPDX-License-Identifier: MIT
 *
 * What the user should know about samples: summed over processes, since they all run the same
 * program on the same machine.
 */
#include <stdio.h>
#include <string.h>

#include "tools/analyze/note/note.h"

/* Fewer lost or cut samples than this part change no figure that is shown. */
#define WORTH_SAYING 0.01
#define FEW 10
#define MOST_FILES 3

static double part(uint64_t count, uint64_t whole) {
    return whole ? (double)count / (double)whole : 0;
}

static void note_state(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    uint32_t off = 0;
    const char *reason = "";
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_sampler *sampler = model->processes[i].profile->sampler;
        if (!sampler || sampler->state == BP_SAMPLER_ON || !sampler->reason[0])
            continue;
        off++;
        reason = sampler->reason;
    }
    if (off == 1)
        bp_analysis_note(analysis, "samples are missing: %s", reason);
    else if (off > 1)
        bp_analysis_note(analysis, "samples of %u processes are missing, the last because: %s", off,
                         reason);
}

static void note_truncated(struct bp_analysis *analysis, const struct bp_sampler *sum) {
    const uint64_t *truncated = sum->truncated;
    if (part(truncated[BP_TRUNCATED_DEPTH], sum->taken) > WORTH_SAYING)
        bp_analysis_note(
            analysis,
            "%.0f %% of the sampled stacks were too deep: their outermost callers are unknown",
            100 * part(truncated[BP_TRUNCATED_DEPTH], sum->taken));
    uint64_t cut = truncated[BP_TRUNCATED_WALK] + truncated[BP_TRUNCATED_STACK];
    if (part(cut, sum->taken) > WORTH_SAYING)
        bp_analysis_note(analysis,
                         "%.0f %% of the sampled stacks could not be followed to their end",
                         100 * part(cut, sum->taken));
}

static void note_lost(struct bp_analysis *analysis, const struct bp_sampler *sum) {
    uint64_t dropped = sum->dropped_full + sum->dropped_busy;
    if (dropped >= FEW && part(dropped, sum->taken) > WORTH_SAYING)
        bp_analysis_note(analysis,
                         "%llu of %llu samples are lost: no room for more stacks, or a thread "
                         "that was just starting or ending",
                         (unsigned long long)dropped, (unsigned long long)sum->taken);
    if (part(sum->python_lost, sum->taken) > WORTH_SAYING)
        bp_analysis_note(analysis, "the Python functions of %.0f %% of the samples are unknown",
                         100 * part(sum->python_lost, sum->taken));
    if (sum->threads_failed)
        bp_analysis_note(analysis, "%llu threads could not be sampled: %s",
                         (unsigned long long)sum->threads_failed, strerror((int)sum->timer_errno));
}

static void note_symbols(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    for (uint32_t i = 0; i < model->samples.unnamed_count && i < MOST_FILES; i++)
        bp_analysis_note(analysis, "%s", model->samples.unnamed[i]);
    if (model->samples.unnamed_count <= MOST_FILES)
        return;
    uint32_t more = model->samples.unnamed_count - MOST_FILES;
    bp_analysis_note(analysis, "the functions of %u more file%s have no names", more,
                     more == 1 ? "" : "s");
}

void bp_notes_samples(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct bp_sampler sum = {0};
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_sampler *sampler = model->processes[i].profile->sampler;
        if (!sampler)
            continue;
        sum.taken += sampler->taken;
        sum.dropped_full += sampler->dropped_full;
        sum.dropped_busy += sampler->dropped_busy;
        sum.python_lost += sampler->python_lost;
        sum.threads_failed += sampler->threads_failed;
        if (sampler->timer_errno)
            sum.timer_errno = sampler->timer_errno;
        for (int k = 0; k < BP_TRUNCATIONS; k++)
            sum.truncated[k] += sampler->truncated[k];
    }
    note_state(analysis);
    note_lost(analysis, &sum);
    note_truncated(analysis, &sum);
    note_symbols(analysis);
}
