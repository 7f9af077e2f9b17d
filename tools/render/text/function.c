/* SPDX-License-Identifier: MIT
 *
 * --by function: all that is known of each function, DSL and framework apart. Two lines a function:
 * what it cost the run, and what a call took.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/text.h"
#include "tools/render/text/internal.h"

const char *bp_cell_self(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_function *function = value;
    return bp_page_bound(page, function->self_s, bp_function_self_error(function), text);
}

const char *bp_cell_total(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_function *function = value;
    return bp_page_bound(page, function->total_s, bp_function_total_error(function), text);
}

const char *bp_cell_function_wall(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_function *function = value;
    return bp_page_share(function->wall_s + function->idle_s, page->whole, text);
}

const char *bp_cell_cpu(const struct bp_page *page, const void *value, char text[64]) {
    double cpu_s = *(const double *)value;
    return cpu_s < 0 ? "unknown" : bp_page_time(page, cpu_s, text);
}

static const struct bp_column columns[] = {
    BP_LABEL(32),
    BP_COLUMN("calls", 14, bp_cell_some, struct bp_function, calls),
    {"self", 12, bp_cell_self, 0},
    {"total", 12, bp_cell_total, 0},
    {"of wall", 10, bp_cell_function_wall, 0},
    BP_LAST_COLUMN,
};

/* Where threads had to wait for a CPU. */
static const struct bp_column cpu_columns[] = {
    BP_LABEL(28),
    BP_COLUMN("calls", 12, bp_cell_some, struct bp_function, calls),
    {"self", 10, bp_cell_self, 0},
    BP_COLUMN("CPU", 10, bp_cell_cpu, struct bp_function, cpu_s),
    {"total", 10, bp_cell_total, 0},
    {"of wall", 10, bp_cell_function_wall, 0},
    BP_LAST_COLUMN,
};

static const struct bp_column *columns_for(const struct bp_model *model) {
    return bp_model_starved_s(model, NULL) > 0 ? cpu_columns : columns;
}

/* Calls of a thread's own code and of folded contexts are not counted. */
static void print_calls(const struct bp_page *page, const struct bp_function *function) {
    char mean[32];
    char first[48] = "";
    char text[32];
    double error_s = bp_function_total_error(function);
    if (function->calls == 0)
        return;
    if (function->total_s < error_s) {
        bp_page_time(page, function->total_overhead_s / (double)function->calls, text);
        bp_page_bound(page, bp_function_mean(function), error_s / (double)function->calls, mean);
        fprintf(page->out, "    call: mean %s, after overhead of %s\n", mean, text);
        return;
    }
    bp_page_time(page, bp_function_mean(function), mean);
    if (function->untold) {
        fprintf(page->out, "    call: mean %s, median -, p99 -, max - (%s)\n", mean,
                function->by_pieces ? "it runs in pieces" : "none returned");
        return;
    }
    if (function->first_s > 0)
        snprintf(first, sizeof(first), ", first %s", bp_page_time(page, function->first_s, text));
    fprintf(page->out, "    call: mean %s, median %s, p99 %s, max %s%s\n", mean,
            BP_TIME(page, function->median_s), BP_TIME(page, function->p99_s),
            BP_TIME(page, function->max_s), first);
}

static void print_tasks(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_function *function) {
    double error_s = bp_function_in_tasks(function) * bp_function_self_error(function) /
                     fmax(function->tasks, 1);
    if (function->tasks)
        fprintf(page->out, "    task: self %s, in %u of %u tasks\n",
                BP_BOUND(page, function->task_s / function->tasks, error_s), function->tasks,
                model->tasks.summary.count);
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_function *function) {
    char *label = bp_make_text("%s%s", function->label,
                               function->kind == BP_FUNC_IO     ? " [io]"
                               : function->kind == BP_FUNC_WAIT ? " [wait]" /* a write is either */
                                                                : "");
    bp_columns_whole_row(page, columns_for(model), "  ", label, function);
    free(label);
    print_calls(page, function);
    print_tasks(page, model, function);
}

static void print_functions(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_report_settings *settings, bool dsl) {
    uint32_t count;
    uint32_t shown = 0;
    double hidden_s = 0;
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if ((function->category == BP_DSL) != dsl || !bp_report_wanted(settings, function))
            continue;
        if (shown == 0)
            bp_columns_title(page,
                             model->split.leads ? "Functions"
                             : dsl              ? "DSL functions"
                                                : "Other functions",
                             columns_for(model));
        if (shown++ < settings->top)
            print_row(page, model, function);
        else
            hidden_s += function->wall_s + function->idle_s;
    }
    bp_report_hidden_row(page, shown, settings->top, hidden_s);
    free(order);
}

void bp_report_functions(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    print_functions(page, model, settings, true);
    print_functions(page, model, settings, false);
    bp_report_sampled_functions(page, model, settings);
    if (settings->search.count)
        bp_report_misses(page, model, settings);
    else
        bp_report_rest_rows(page, model, settings);
}
