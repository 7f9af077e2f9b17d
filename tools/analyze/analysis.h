/* SPDX-License-Identifier: MIT
 *
 * What follows from a model, in words: what to change first, and what the user should know before
 * believing the numbers. A comparison of runs needs neither, so a model is built without them.
 */
#ifndef BP_TOOLS_ANALYZE_ANALYSIS_H
#define BP_TOOLS_ANALYZE_ANALYSIS_H

#include "tools/model/model.h"

/* What to change first. `what` and `why` are the analysis's; other texts are borrowed. */
struct bp_advice {
    const char *level; /* "high", "medium", "low": by the share of the wall; "warning", "remark" */
    char *what;
    char *why;
    double saves_s;  /* an estimate, of the wall */
    double in_tasks; /* the part of it that more tasks would save more of, 0 to 1 */
    uint64_t bytes;
    uint32_t function; /* that causes it, or BP_NO_FUNCTION */
    const char *cause; /* of an advice about lines (causes.def): its word; else NULL */
    const char *file;  /* the first of them */
    uint32_t line;
    bool first;      /* of warnings: before all others */
    bool of_devices; /* it belongs on the page of transfers, too */
};

struct bp_analysis {
    const struct bp_model *model; /* borrowed */
    struct bp_advice *advice;     /* warnings, then by falling saves_s, then remarks */
    uint32_t advice_count;
    char **notes; /* the most important first */
    uint32_t note_count;
    const char *unmatched; /* of the notes: a pattern of --dsl found nothing; NULL */
};

/* The model must outlive the analysis. */
void bp_analysis_init(struct bp_analysis *analysis, const struct bp_model *model);
void bp_analysis_fini(struct bp_analysis *analysis);

void bp_analysis_note(struct bp_analysis *analysis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
