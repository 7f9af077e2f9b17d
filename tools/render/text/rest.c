/* SPDX-License-Identifier: MIT
 *
 * The rows that close a table: what is of the wall, but of none of its rows. With them the last
 * column of a page adds up to the wall.
 */
#include <string.h>

#include "tools/report_internal.h"

/* Of the wall; less is a rounding error. */
#define LEAST_REST 0.0005
/* Of the wall, as the overview has it. */
#define LEAST_UNKNOWN 0.005

/* Waits that are some function's are not the rest. */
static double unclaimed_idle(const struct bp_model *model) {
    double s = model->idle_s;
    for (uint32_t i = 0; i < model->function_count; i++)
        s -= model->functions[i].idle_s;
    return s;
}

/* Threads and processes have their part of it; functions and groups do not. */
double bp_report_cost_before(const struct bp_model *model) {
    double s = model->overhead_wall_s;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->thread_list[i];
        s -= thread->busy_s > 0 ? thread->overhead_s * thread->wall_s / thread->busy_s : 0;
    }
    return s;
}

static double outside_of_phases(const struct bp_model *model) {
    double s = model->wall_s - unclaimed_idle(model);
    for (uint32_t i = 0; i < model->phase_count; i++)
        s -= model->phases[i].wall_s + model->phases[i].idle_s;
    return s;
}

static void add(const struct bp_model *model, struct bp_rest *rest, const char *name, double wall_s,
                double least) {
    if (wall_s >= least * model->wall_s && wall_s > 0)
        rest->rows[rest->count++] = (struct bp_rest_row){name, wall_s};
}

struct bp_rest bp_report_rest(const struct bp_model *model, const char *by) {
    struct bp_rest rest = {0};
    bool of_threads = strcmp(by, "thread") == 0 || strcmp(by, "process") == 0;
    add(model, &rest, "waiting, while no thread was busy", unclaimed_idle(model), LEAST_REST);
    if (strcmp(by, "phase") == 0) {
        add(model, &rest, "outside of phases", outside_of_phases(model), 0);
        return rest;
    }
    add(model, &rest, "starting and ending, while no thread was there", model->start_s, LEAST_REST);
    add(model, &rest, of_threads ? "profiler, before the first thread" : "profiler",
        of_threads ? bp_report_cost_before(model) : model->overhead_wall_s, LEAST_REST);
    add(model, &rest, "unknown", model->unsplit_s, LEAST_UNKNOWN);
    return rest;
}

void bp_report_share_row(const struct bp_page *page, const struct bp_model *model, const char *text,
                         double wall_s) {
    char share[32];
    fputs("  ", page->out);
    bp_page_left(page, text, 68);
    bp_page_right(page, bp_page_share(wall_s, model->wall_s, share), 10);
    fputc('\n', page->out);
}

void bp_report_rest_rows(const struct bp_page *page, const struct bp_model *model, const char *by) {
    struct bp_rest rest = bp_report_rest(model, by);
    for (uint32_t i = 0; i < rest.count; i++)
        bp_report_share_row(page, model, rest.rows[i].name, rest.rows[i].wall_s);
}
