/* SPDX-License-Identifier: MIT
 *
 * Shared by what is printed of tasks: task*.c here, and json/task.c.
 */
#ifndef BP_TOOLS_RENDER_TEXT_TASK_H
#define BP_TOOLS_RENDER_TEXT_TASK_H

#include "tools/render/text/internal.h"

/* The id, or where in the run it was: a new text. */
char *bp_task_label(const struct bp_model_task *task);

/* Tasks in no other task by falling time: a new array. */
uint32_t *bp_task_order(const struct bp_model *model, uint32_t *count);

/* Time limits that would let nearly all, all but one in a hundred, and all of these tasks pass. */
struct bp_task_limits {
    double p95_s;
    double p99_s;
    double max_s;
};
struct bp_task_limits bp_task_limits(const struct bp_task_summary *summary);

/* Calls of a function that are no tasks. */
enum bp_task_level {
    BP_LEVEL_OUTER,  /* they wait while tasks run */
    BP_LEVEL_JOINED, /* they work for tasks of other threads */
    BP_LEVEL_INNER,  /* they are within tasks of their thread */
};

struct bp_task_calls {
    const char *name;
    enum bp_task_level level;
    uint32_t count;
    double s;
};

#define BP_LEVELS_SHOWN 5

/* By level, then by falling time: a new array. */
struct bp_task_calls *bp_task_levels(const struct bp_model *model, uint32_t *count);
const char *bp_task_level_name(enum bp_task_level level);
void bp_report_task_levels(const struct bp_page *page, const struct bp_model *model);

/* task_one.c: --search has its id or name. */
bool bp_report_task_is_wanted(const struct bp_model_task *task, const struct bp_words *words);

void bp_report_outliers(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_report_settings *settings);

#endif
