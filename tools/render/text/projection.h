/* SPDX-License-Identifier: MIT
 *
 * What fits into a time; shared by the text and the JSON.
 */
#ifndef BP_TOOLS_RENDER_TEXT_PROJECTION_H
#define BP_TOOLS_RENDER_TEXT_PROJECTION_H

#include "tools/analyze/projection.h"
#include "tools/render/text/internal.h"

struct bp_budget_row {
    char *what; /* was changed */
    double run_s;
    uint64_t runs;  /* that fit */
    uint64_t tasks; /* that fit into one run; 0 if unknown */
};

struct bp_budget {
    double s;
    double run_s;   /* a run as it is, at the scale that was asked for */
    uint64_t tasks; /* of such a run */
    bool known;     /* there is a projection */
    struct bp_projection projection;
    struct bp_budget_row *rows;
    uint32_t count;
};

/* What a phase has of the wall at the scale that was asked for. */
double bp_phase_scaled(const struct bp_model_phase *phase, const struct bp_projection *projection,
                       const struct bp_report_settings *settings);

void bp_budget_init(struct bp_budget *budget, const struct bp_analysis *analysis,
                    const struct bp_report_settings *settings);
void bp_budget_fini(struct bp_budget *budget);

#endif
