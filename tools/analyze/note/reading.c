/* SPDX-License-Identifier: MIT
 *
 * What reading the files of a run has left out or assumed, and what --drop-outliers took out.
 */
#include "tools/analyze/advise/advise.h"
#include "tools/analyze/note/note.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

static void note_missing(struct bp_analysis *analysis, const struct bp_model_process *list,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i].profile->missing[0])
            bp_analysis_note(analysis, "%s: %s", bp_base_name(list[i].path),
                             list[i].profile->missing);
}

static void note_dropped(struct bp_analysis *analysis) {
    const struct bp_task_summary *summary = &analysis->model->tasks.summary;
    double wall_s = analysis->model->wall.total_s;
    char times[2][32];
    if (!(summary->whole_wall_s > 0))
        return;
    bp_analysis_note(analysis,
                     "without %u outlier%s, which took %s of %s wall; quantiles of calls and "
                     "transfers are those of the whole run",
                     summary->dropped, summary->dropped == 1 ? "" : "s",
                     bp_sentence_time(summary->whole_wall_s - wall_s, times[0]),
                     bp_sentence_time(summary->whole_wall_s, times[1]));
    uint32_t kept = summary->outliers_kept;
    if (kept)
        bp_analysis_note(analysis,
                         "%u outlier%s could not be dropped: what they did is not recorded", kept,
                         kept == 1 ? "" : "s");
}

static void note_coarse(struct bp_analysis *analysis) {
    const struct bp_site_counts *counts = &analysis->model->cuda.site_counts;
    if (counts->coarse)
        bp_analysis_note(analysis,
                         "for %s of %s copies the function is known, not the line, and copies from "
                         "several lines of a function are one place: threads keep lines for their "
                         "first call paths only, %s here",
                         BP_COUNT(counts->coarse), BP_COUNT(counts->copies),
                         BP_COUNT(counts->fine));
}

void bp_notes_reading(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    note_missing(analysis, model->processes, model->process_count);
    note_missing(analysis, model->sessions, model->session_count);
    for (uint32_t i = 0; i < model->run.left_out_count; i++)
        bp_analysis_note(analysis, "%s left out: %s", model->run.left_out[i].name,
                         model->run.left_out[i].reason);
    if (model->run.clock_assumed)
        bp_analysis_note(analysis, "the rate of the clock is not recorded; taken as 1 GHz");
    note_dropped(analysis);
    note_coarse(analysis);
}
