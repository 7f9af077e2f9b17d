/* SPDX-License-Identifier: MIT
 *
 * A run whose files could not grow from the start on. What is in them is no picture of the run, so
 * that is said first, and nothing that would follow from what is missing.
 */
#include <errno.h>
#include <string.h>

#include "tools/model_internal.h"

/* Of the wall: with more of it unknown, the rest tells nothing. */
#define LOST_PART 0.5

static const struct bp_header *find_lost(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++)
        if (model->processes[i].profile->header.flags & BP_LOST_DISK)
            return &model->processes[i].profile->header;
    return NULL;
}

bool bp_model_is_lost(const struct bp_model *model) {
    bool unknown = model->thread_count == 0 || model->unsplit_s > LOST_PART * model->wall_s;
    return unknown && find_lost(model);
}

void bp_model_note_lost(struct bp_model *model) {
    const struct bp_header *header = find_lost(model);
    int reason = header->lost_errno ? (int)header->lost_errno : ENOSPC;
    bp_model_note(model, "the profile is lost: %s could not grow (%s); %s, and run again",
                  model->path, strerror(reason),
                  reason == EFBIG ? "raise the limit on file size (ulimit -f)"
                                  : "free some space, or choose another directory with -o");
    char *note = model->notes[model->note_count - 1];
    memmove(model->notes + 1, model->notes, (model->note_count - 1) * sizeof(*model->notes));
    model->notes[0] = note; /* what reading the files said follows from it */
}
