/* SPDX-License-Identifier: MIT
 *
 * What the user should know before believing the numbers: one file for each subject.
 */
#ifndef BP_TOOLS_ANALYZE_NOTE_NOTE_H
#define BP_TOOLS_ANALYZE_NOTE_NOTE_H

#include "tools/analyze/analysis.h"

/* All notes, in the order of their weight. */
void bp_notes_make(struct bp_analysis *analysis);

/* By file. Those about one process are made once for all that are alike. */
void bp_notes_lost(struct bp_analysis *analysis);
void bp_notes_reading(struct bp_analysis *analysis);
void bp_notes_end(struct bp_analysis *analysis, const struct bp_model_process *process);
void bp_notes_untimed(struct bp_analysis *analysis, const struct bp_model_process *process);
void bp_notes_patterns(struct bp_analysis *analysis);
void bp_notes_estimated(struct bp_analysis *analysis);
void bp_notes_samples(struct bp_analysis *analysis);
/* Returns true if there were patterns of the DSL. */
bool bp_notes_dsl(struct bp_analysis *analysis);
/* Returns true if it is a Python program without a DSL, which it then notes. */
bool bp_notes_python(struct bp_analysis *analysis);

#endif
