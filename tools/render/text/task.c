/* SPDX-License-Identifier: MIT
 *
 * --by task: how long tasks took and how that is distributed, the slowest ones, those that stand
 * out and what they were doing, and what a time limit could be.
 */
#include "tools/report_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/report_internal.h"
#include "tools/statistics.h"

#define BUCKETS 8
#define BAR 44
#define LABEL 18

static void cell_time(const struct bp_page *page, double s, int width) {
    char text[32];
    bp_page_right(page, bp_page_time(page, s, text), width);
}

const char *bp_task_label(const struct bp_model_task *task, char *text, size_t size) {
    if (task->id[0])
        snprintf(text, size, "%s", task->id);
    else
        snprintf(text, size, "%s at %.3f s", task->name, task->start_s);
    return text;
}

/* The start is told as exactly as there is room for it, or not at all: half a number is none. */
static const char *fit_label(const struct bp_model_task *task, char *text, size_t size, int width) {
    bp_task_label(task, text, size);
    for (int digits = 2; bp_page_columns(text) > width && !task->id[0] && digits >= 0; digits--)
        snprintf(text, size, "%s at %.*f s", task->name, digits, task->start_s);
    if (bp_page_columns(text) > width && !task->id[0])
        snprintf(text, size, "%s", task->name);
    return text;
}

static void count_word(const struct bp_page *page, uint64_t count, const char *word) {
    char text[32];
    if (count)
        fprintf(page->out, ", %s %s", bp_page_count(count, text), word);
}

static void print_counts(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    char text[32];
    fputc('\n', page->out);
    bp_page_heading(page, "Tasks");
    fprintf(page->out, "  %s ended", bp_page_count(summary->ended, text));
    count_word(page, summary->failed, "failed");
    count_word(page, summary->limited, "at a time limit");
    count_word(page, summary->unfinished, "unfinished");
    count_word(page, summary->samples, summary->samples == 1 ? "sample" : "samples");
    if (summary->slots > 1)
        fprintf(page->out, ", up to %u at once", summary->slots);
    fputc('\n', page->out);
    if (summary->folded)
        fprintf(page->out, "  and %s more, %s together, not kept singly\n",
                bp_page_count(summary->folded, text),
                bp_page_time(page, summary->folded_s, (char[32]){0}));
}

static void print_quantiles(const struct bp_page *page, const struct bp_task_summary *summary) {
    const struct {
        const char *name;
        double s;
    } columns[] = {
        {"mean", summary->mean_s}, {"P50", summary->median_s}, {"P75", summary->p75_s},
        {"P90", summary->p90_s},   {"P95", summary->p95_s},    {"P99", summary->p99_s},
        {"max", summary->max_s},
    };
    fputs("          ", page->out);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        bp_page_right(page, columns[i].name, 10);
    fputs("\n  a task  ", page->out);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        cell_time(page, columns[i].s, 10);
    fputc('\n', page->out);
}

static void print_histogram(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    uint32_t counts[BUCKETS];
    uint32_t count;
    double *values = bp_task_durations(model, &count);
    double low = fmax(summary->min_s, 1e-9);
    double most = 0;
    bp_histogram(values, count, low, summary->max_s, BUCKETS, counts);
    for (int i = 0; i < BUCKETS; i++)
        most = fmax(most, counts[i]);
    for (int i = 0; summary->max_s > 1.05 * low && i < BUCKETS; i++) {
        double step = log(summary->max_s / low) / BUCKETS;
        char text[32];
        fputs("  from ", page->out);
        cell_time(page, low * exp(step * i), 8);
        fputs("  ", page->out);
        bp_page_bar(page, counts[i] / most, BAR, 36);
        bp_page_right(page, bp_page_count(counts[i], text), 10);
        fputc('\n', page->out);
    }
    free(values);
}

/* The formulas of those who set limits by hand; what a limit would cost is theirs to judge. */
static void print_limits(const struct bp_page *page, const struct bp_model *model) {
    struct bp_task_limits limits = bp_task_limits(&model->task_summary);
    char p95[32];
    char p99[32];
    char max[32];
    if (model->task_summary.ended == 0)
        return;
    fprintf(page->out, "  time limit: %s (P95 x 1.2), %s (P99 x 1.2), %s (max x 1.5)\n",
            bp_page_time(page, limits.p95_s, p95), bp_page_time(page, limits.p99_s, p99),
            bp_page_time(page, limits.max_s, max));
}

struct bp_task_limits bp_task_limits(const struct bp_task_summary *summary) {
    return (struct bp_task_limits){1.2 * summary->p95_s, 1.2 * summary->p99_s,
                                   1.5 * summary->max_s};
}

#define NAMED 5

static void print_failed(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    char line[600] = "  failed:";
    size_t length = strlen(line);
    uint32_t named = 0;
    for (uint32_t i = 0; i < model->task_count && named < NAMED; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        char label[80];
        if (!task->failed || task->parent != BP_NO_TASK || task->dropped)
            continue;
        length += (size_t)snprintf(line + length, sizeof(line) - length, "%s %s", named ? "," : "",
                                   bp_task_label(task, label, sizeof(label)));
        named++;
    }
    if (summary->failed > named)
        snprintf(line + length, sizeof(line) - length, " and %u more: --csv",
                 summary->failed - named);
    if (named)
        bp_page_wrap(page, line, 4);
}

static int compare_tasks(const void *a, const void *b, void *data) {
    const struct bp_model_task *x = &((const struct bp_model_task *)data)[*(const uint32_t *)a];
    const struct bp_model_task *y = &((const struct bp_model_task *)data)[*(const uint32_t *)b];
    if (x->duration_s != y->duration_s)
        return x->duration_s > y->duration_s ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

uint32_t *bp_task_order(const struct bp_model *model, uint32_t *count) {
    uint32_t *order = bp_alloc(model->task_count, sizeof(*order));
    *count = 0;
    for (uint32_t i = 0; i < model->task_count; i++)
        if (model->tasks[i].parent == BP_NO_TASK && !model->tasks[i].dropped)
            order[(*count)++] = i;
    qsort_r(order, *count, sizeof(*order), compare_tasks, model->tasks);
    return order;
}

static const char *marks(const struct bp_model_task *task) {
    if (task->unfinished)
        return ">";
    if (task->limited)
        return "L";
    if (task->failed)
        return "x";
    return task->outlier ? "*" : " ";
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_model_task *task) {
    char text[300];
    fprintf(page->out, "%s ", marks(task));
    bp_page_left(page, fit_label(task, text, sizeof(text), LABEL), LABEL);
    snprintf(text, sizeof(text), "%d",
             task->thread == BP_NO_THREAD ? 0 : model->thread_list[task->thread].source->info.tid);
    bp_page_right(page, task->thread == BP_NO_THREAD ? "?" : text, 8);
    cell_time(page, task->duration_s, 9);
    if (task->detailed) {
        cell_time(page, task->category_s[BP_DSL], 9);
        cell_time(page, task->category_s[BP_FRAMEWORK], 10);
        cell_time(page, task->category_s[BP_TRANSFER], 9);
    } else {
        fprintf(page->out, "%*s", 28, "");
    }
    bp_page_right(page, task->samples ? bp_page_count(task->samples, text) : "", 7);
    bp_page_right(page, bp_page_share(bp_task_cost(task), model->wall_s, text), 8);
    fputc('\n', page->out);
}

static void print_legend(const struct bp_page *page, const struct bp_task_summary *summary) {
    const char *between = "  ";
    const struct {
        uint32_t count;
        const char *text;
    } marks[] = {{summary->unfinished, "> unfinished"},
                 {summary->limited, "L at a time limit"},
                 {summary->failed, "x failed"},
                 {summary->outliers, "* outlier"}};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (!marks[i].count)
            continue;
        fprintf(page->out, "%s%s", between, marks[i].text);
        between = ", ";
    }
    if (between[0] == ',')
        fputc('\n', page->out);
}

static void print_rows(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings) {
    const struct bp_task_summary *summary = &model->task_summary;
    uint32_t count;
    uint32_t *order = bp_task_order(model, &count);
    bp_page_title(page, "Slowest tasks", 20,
                  BP_COLUMNS({"thread", 8}, {"time", 9}, {"DSL", 9}, {"framework", 10},
                             {"transfer", 9}, {"samp.", 7}, {"wall", 8}));
    for (uint32_t i = 0; i < count && i < settings->top; i++)
        print_row(page, model, &model->tasks[order[i]]);
    free(order);
    if (count > settings->top)
        fprintf(page->out, "  and %u more: --top %u\n", count - settings->top, count);
    print_legend(page, summary);
    if (summary->plain)
        fprintf(page->out, "  of %u tasks only the time is recorded\n", summary->plain);
}

void bp_report_tasks(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings) {
    if (model->task_summary.count + model->task_summary.folded == 0) {
        fputc('\n', page->out);
        bp_page_wrap(page,
                     "No tasks were recorded: name the function whose calls are tasks, "
                     "battprof run --task FUNCTION -- COMMAND",
                     0);
        return;
    }
    print_counts(page, model);
    bp_report_unfinished(page, model);
    print_quantiles(page, &model->task_summary);
    print_histogram(page, model);
    print_limits(page, model);
    print_failed(page, model);
    print_rows(page, model, settings);
    bp_report_outliers(page, model, settings);
}

void bp_report_task_lines(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    char text[3][32];
    char line[300];
    int length;
    if (summary->count == 0)
        return;
    print_counts(page, model);
    length = snprintf(line, sizeof(line), "  median %s, P90 %s, max %s",
                      bp_page_time(page, summary->median_s, text[0]),
                      bp_page_time(page, summary->p90_s, text[1]),
                      bp_page_time(page, summary->max_s, text[2]));
    if (summary->outliers)
        snprintf(line + length, sizeof(line) - (size_t)length, "; %u outlier%s took %s of the wall",
                 summary->outliers, summary->outliers == 1 ? "" : "s",
                 bp_page_share(summary->outlier_wall_s, model->wall_s, text[0]));
    bp_page_wrap(page, line, 2);
    bp_report_unfinished(page, model);
}
