/* SPDX-License-Identifier: MIT
 *
 * --by function: all that is known of each function, DSL and framework apart. Two lines a function:
 * what it cost the run, and what a call took.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/report_internal.h"

static void print_title(const struct bp_page *page, const char *text) {
    bp_page_title(page, text, 32,
                  BP_COLUMNS({"calls", 14}, {"self", 12}, {"total", 12}, {"of wall", 10}));
}

const char *bp_report_self(const struct bp_page *page, const struct bp_function *function,
                           char text[32]) {
    return bp_page_bound(page, function->self_s, bp_cost_error(function->cost_s), text);
}

const char *bp_report_total(const struct bp_page *page, const struct bp_function *function,
                            char text[32]) {
    return bp_page_bound(page, function->total_s, bp_cost_error(function->total_cost_s), text);
}

/* Calls of a thread's own code and of folded contexts are not counted. */
static void print_calls(const struct bp_page *page, const struct bp_function *function) {
    char mean[32];
    char median[32];
    char p99[32];
    char max[32];
    char first[48] = "";
    char text[32];
    double error_s = bp_cost_error(function->total_cost_s);
    if (function->calls == 0)
        return;
    if (function->total_s < error_s) {
        bp_page_time(page, function->total_cost_s / (double)function->calls, text);
        bp_page_bound(page, bp_function_mean(function), error_s / (double)function->calls, mean);
        fprintf(page->out, "    call: mean %s, after own cost of %s\n", mean, text);
        return;
    }
    bp_page_time(page, bp_function_mean(function), mean);
    if (function->untold) {
        fprintf(page->out, "    call: mean %s, median -, p99 -, max - (%s)\n", mean,
                function->by_pieces ? "it runs by pieces" : "none returned");
        return;
    }
    if (function->first_s > 0)
        snprintf(first, sizeof(first), ", first %s", bp_page_time(page, function->first_s, text));
    fprintf(page->out, "    call: mean %s, median %s, p99 %s, max %s%s\n", mean,
            bp_page_time(page, function->median_s, median),
            bp_page_time(page, function->p99_s, p99), bp_page_time(page, function->max_s, max),
            first);
}

static void print_tasks(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_function *function) {
    char text[32];
    double error_s =
        bp_function_in_tasks(function) * bp_cost_error(function->cost_s) / fmax(function->tasks, 1);
    if (function->tasks)
        fprintf(page->out, "    task: self %s, in %u of %u tasks\n",
                bp_page_bound(page, function->task_s / function->tasks, error_s, text),
                function->tasks, model->task_summary.count);
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_function *function) {
    char name[300];
    char label[400];
    char text[32];
    const char *own = bp_report_name(function, name, sizeof(name));
    snprintf(label, sizeof(label), "%s", own);
    if (function->kind == BP_FUNC_ROOT)
        snprintf(label, sizeof(label), "own code of %s", function->library);
    if (function->kind == BP_FUNC_WAIT || function->kind == BP_FUNC_IO) /* a write may be either */
        snprintf(label, sizeof(label), "%s [%s]", own,
                 function->kind == BP_FUNC_IO ? "io" : "wait");
    fputs("  ", page->out);
    if (bp_page_columns(label) > 30) { /* its end tells it from others */
        fprintf(page->out, "%s\n  ", label);
        label[0] = 0;
    }
    bp_page_left(page, label, 30);
    bp_page_right(page, function->calls ? bp_page_count(function->calls, text) : "", 14);
    bp_page_right(page, bp_report_self(page, function, text), 12);
    bp_page_right(page, bp_report_total(page, function, text), 12);
    bp_page_right(page, bp_page_share(function->wall_s + function->idle_s, model->wall_s, text),
                  10);
    fputc('\n', page->out);
    print_calls(page, function);
    print_tasks(page, model, function);
}

static void print_functions(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_report_settings *settings, bool dsl) {
    uint32_t count;
    uint32_t shown = 0;
    double hidden_s = 0;
    char text[64];
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if ((function->category == BP_DSL) != dsl || !bp_report_wanted(settings, function))
            continue;
        if (shown == 0)
            print_title(page, dsl ? "DSL functions" : "Other functions");
        if (shown++ < settings->top)
            print_row(page, model, function);
        else
            hidden_s += function->wall_s + function->idle_s;
    }
    snprintf(text, sizeof(text), "and %u more: --top %u", shown - settings->top, shown);
    if (shown > settings->top)
        bp_report_share_row(page, model, text, hidden_s);
    free(order);
}

void bp_report_functions(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    print_functions(page, model, settings, true);
    print_functions(page, model, settings, false);
    if (settings->search.count)
        bp_report_misses(page, model, settings);
    else
        bp_report_rest_rows(page, model, "function");
}
