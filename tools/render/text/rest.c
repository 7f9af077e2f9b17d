/* SPDX-License-Identifier: MIT
 *
 * The rows that close a table: what is of the wall, but of none of its rows. With them the last
 * column of a page adds up to the wall.
 */
#include "tools/render/text/internal.h"

/* Share of the wall; less is a rounding error. */
#define LEAST_REST 0.0005
/* Share of the wall, as in the overview. */
#define LEAST_UNKNOWN 0.005

/* Waits that are some function's are not the rest. */
static double unclaimed_idle(const struct bp_model *model) {
    double s = model->wall.idle_s;
    for (uint32_t i = 0; i < model->function_count; i++)
        s -= model->functions[i].idle_s;
    return s;
}

/* Threads and processes have their part of it; functions and groups do not. */
double bp_report_overhead_before(const struct bp_model *model) {
    double s = model->wall.overhead_s;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        s -= thread->busy_s > 0 ? thread->overhead_s * thread->wall_s / thread->busy_s : 0;
    }
    return s;
}

static double outside_of_phases(const struct bp_model *model) {
    double s = model->wall.total_s - unclaimed_idle(model);
    for (uint32_t i = 0; i < model->phase_count; i++)
        s -= bp_phase_wall(&model->phases[i]);
    return s;
}

static void add(const struct bp_model *model, struct bp_rest *rest, const char *name, double wall_s,
                double least) {
    if (wall_s >= least * model->wall.total_s && wall_s > 0)
        rest->rows[rest->count++] = (struct bp_rest_row){name, wall_s};
}

static struct bp_rest find_idle(const struct bp_model *model) {
    struct bp_rest rest = {0};
    add(model, &rest, "waiting, while no thread was busy", unclaimed_idle(model), LEAST_REST);
    return rest;
}

static struct bp_rest find_rest(const struct bp_model *model, const char *overhead,
                                double overhead_s) {
    struct bp_rest rest = find_idle(model);
    add(model, &rest, "starting and ending, while no thread was there", model->wall.start_s,
        LEAST_REST);
    add(model, &rest, "recording was paused", model->wall.paused_s, LEAST_REST);
    add(model, &rest, overhead, overhead_s, LEAST_REST);
    add(model, &rest, "unknown", model->wall.unsplit_s, LEAST_UNKNOWN);
    return rest;
}

struct bp_rest bp_rest_of_functions(const struct bp_model *model) {
    return find_rest(model, "overhead", model->wall.overhead_s);
}

struct bp_rest bp_rest_of_threads(const struct bp_model *model) {
    return find_rest(model, "overhead, before the first thread", bp_report_overhead_before(model));
}

struct bp_rest bp_rest_of_phases(const struct bp_model *model) {
    struct bp_rest rest = find_idle(model);
    add(model, &rest, "outside of phases", outside_of_phases(model), 0);
    return rest;
}

/* A row that has nothing but a share of the wall. */
static void print_share(const struct bp_page *page, const char *text, double wall_s) {
    static const struct bp_column columns[] = {
        BP_LABEL(70), {"", 10, bp_cell_share, 0}, BP_LAST_COLUMN};
    bp_columns_row(page, columns, "  ", text, &wall_s);
}

void bp_report_hidden_row(const struct bp_page *page, uint32_t count, uint32_t shown,
                          double wall_s) {
    char text[64];
    snprintf(text, sizeof(text), "and %u more: --top %u", count - shown, count);
    if (count > shown)
        print_share(page, text, wall_s);
}

void bp_report_rest_rows(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    struct bp_rest rest = bp_views[settings->by].rest(model);
    for (uint32_t i = 0; i < rest.count; i++)
        print_share(page, rest.rows[i].name, rest.rows[i].wall_s);
}
