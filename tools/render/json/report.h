/* SPDX-License-Identifier: MIT
 *
 * Parts of the JSON report that live in files of their own; each returns a new value.
 */
#ifndef BP_TOOLS_RENDER_JSON_REPORT_H
#define BP_TOOLS_RENDER_JSON_REPORT_H

#include <jansson.h>

#include "tools/render/report.h"

/* The whole report. */
json_t *bp_report_json_make(const struct bp_analysis *analysis,
                            const struct bp_report_settings *settings);

/* A list of objects as CSV; of its first `top`, if there is such a limit. */
void bp_csv_write(json_t *list, unsigned top, FILE *out);

/* line.c: sets lines and doing, of a function. */
void bp_report_json_lines(json_t *object, const struct bp_model *model, uint32_t function);
/* Functions that samples found and that are not intercepted. */
json_t *bp_report_json_sampled(const struct bp_model *model,
                               const struct bp_report_settings *settings);

/* The rows of --lines --csv: one per line, exact and sampled alike, of the functions that are asked
 * for. */
json_t *bp_report_json_line_rows(const struct bp_model *model,
                                 const struct bp_report_settings *settings);

/* split.c: the wall by whose code it was; what was taken as the user's, null where a DSL is. The
 * last sets null for what is negative: unknown. */
json_t *bp_report_json_recording(const struct bp_model *model);
json_t *bp_report_json_split(const struct bp_model *model);
json_t *bp_report_json_choice(const struct bp_model *model);
void bp_report_json_set_known(json_t *object, const char *key, double s);

/* candidate.c */
json_t *bp_report_json_candidates(const struct bp_model *model,
                                  const struct bp_report_settings *settings);

/* projection.c */
json_t *bp_report_json_projection(const struct bp_model *model,
                                  const struct bp_report_settings *settings);
json_t *bp_report_json_budget(const struct bp_analysis *analysis,
                              const struct bp_report_settings *settings);

/* task.c */
json_t *bp_report_json_tasks(const struct bp_model *model,
                             const struct bp_report_settings *settings);
json_t *bp_report_json_phases(const struct bp_model *model);

/* The named device that was busy most, or null. */
json_t *bp_report_json_device(const struct bp_model *model);

/* site.c */
json_t *bp_report_json_sites(const struct bp_model *model);

/* Sets transfers, transfer_list, copy_sites, kernels, devices and cuda. */
void bp_report_json_devices(json_t *root, const struct bp_model *model);

/* group.c */
json_t *bp_report_json_groups(const struct bp_model *model);
json_t *bp_report_json_framework_functions(const struct bp_model *model);

json_t *bp_report_json_advice(const struct bp_analysis *analysis);

/* roles and machines */
void bp_report_json_roles(json_t *root, const struct bp_model *model);

#endif
