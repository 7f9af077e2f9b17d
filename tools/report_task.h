/* SPDX-License-Identifier: MIT
 *
 * Shared by what is printed of tasks: report_task.c, report_task_outlier.c, report_task_phase.c,
 * report_json_task.c.
 */
#ifndef BP_TOOLS_REPORT_TASK_H
#define BP_TOOLS_REPORT_TASK_H

#include "tools/report_internal.h"

/* The id, or where in the run it was. */
const char *bp_task_label(const struct bp_model_task *task, char *text, size_t size);

/* Tasks in no other task by falling time: a new array. */
uint32_t *bp_task_order(const struct bp_model *model, uint32_t *count);

/* Time limits that would let nearly all, all but one in a hundred, and all of these tasks pass. */
struct bp_task_limits {
    double p95_s;
    double p99_s;
    double max_s;
};
struct bp_task_limits bp_task_limits(const struct bp_task_summary *summary);

void bp_report_outliers(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_report_settings *settings);

#endif
