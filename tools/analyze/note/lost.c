/* SPDX-License-Identifier: MIT
 *
 * A run whose files could not grow from the start on. What is in them is no picture of the run, so
 * that is said first, and nothing that would follow from what is missing.
 */
#include <errno.h>
#include <string.h>

#include "tools/analyze/note/note.h"

void bp_notes_lost(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const struct bp_header *header = bp_model_lost(model);
    int reason = header->lost_errno ? (int)header->lost_errno : ENOSPC;
    bp_analysis_note(analysis, "the profile is lost: %s could not grow (%s); %s, and run again",
                     model->run.path, strerror(reason),
                     reason == EFBIG ? "raise the limit on file size (ulimit -f)"
                                     : "free some space, or choose another directory with -o");
}
