/* SPDX-License-Identifier: MIT
 *
 * --by task: how long tasks took and how that is distributed, the slowest ones, those that stand
 * out and what they were doing, and what a time limit could be.
 */
#include "tools/render/text/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/render/text/internal.h"

#define BUCKETS 8
#define BAR 44
#define LABEL 18

char *bp_task_label(const struct bp_model_task *task) {
    return task->id[0] ? bp_copy_text(task->id)
                       : bp_make_text("%s at %.3f s", task->name, task->start_s);
}

/* The start is told as exactly as there is room for it, or not at all: half a number is none. A new
 * text. */
static char *fit_label(const struct bp_model_task *task) {
    char *text = bp_task_label(task);
    for (int digits = 2; bp_page_columns(text) > LABEL && !task->id[0] && digits >= -1; digits--) {
        free(text);
        text = digits < 0 ? bp_copy_text(task->name)
                          : bp_make_text("%s at %.*f s", task->name, digits, task->start_s);
    }
    return text;
}

static void count_word(const struct bp_page *page, uint64_t count, const char *word) {
    if (count)
        fprintf(page->out, ", %s %s", BP_COUNT(count), word);
}

static void print_counts(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    fputc('\n', page->out);
    bp_page_heading(page, "Tasks");
    fprintf(page->out, "  %s ended", BP_COUNT(summary->ended));
    count_word(page, summary->failed, "failed");
    count_word(page, summary->limited, "at a time limit");
    count_word(page, summary->unfinished, "unfinished");
    count_word(page, summary->samples, summary->samples == 1 ? "sample" : "samples");
    if (summary->slots > 1)
        fprintf(page->out, ", up to %u at once", summary->slots);
    fputc('\n', page->out);
    if (summary->folded)
        fprintf(page->out, "  and %s more, %s together, not kept singly\n",
                BP_COUNT(summary->folded), BP_TIME(page, summary->folded_s));
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
        bp_page_right(page, BP_TIME(page, columns[i].s), 10);
    fputc('\n', page->out);
}

static void print_histogram(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
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
        fputs("  from ", page->out);
        bp_page_right(page, BP_TIME(page, low * exp(step * i)), 8);
        fputs("  ", page->out);
        bp_page_bar(page, counts[i] / most, BAR, 36);
        bp_page_right(page, BP_COUNT(counts[i]), 10);
        fputc('\n', page->out);
    }
    free(values);
}

/* The formulas of those who set limits by hand; what a limit would cost is theirs to judge. */
static void print_limits(const struct bp_page *page, const struct bp_model *model) {
    struct bp_task_limits limits = bp_task_limits(&model->tasks.summary);
    if (model->tasks.summary.ended == 0)
        return;
    fprintf(page->out, "  time limit: %s (P95 x 1.2), %s (P99 x 1.2), %s (max x 1.5)\n",
            BP_TIME(page, limits.p95_s), BP_TIME(page, limits.p99_s), BP_TIME(page, limits.max_s));
}

struct bp_task_limits bp_task_limits(const struct bp_task_summary *summary) {
    return (struct bp_task_limits){1.2 * summary->p95_s, 1.2 * summary->p99_s,
                                   1.5 * summary->max_s};
}

#define NAMED 5

static void print_failed(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    struct bp_text text = {0};
    uint32_t named = 0;
    for (uint32_t i = 0; i < model->tasks.count && named < NAMED; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!task->failed || !bp_task_counts(task) || task->dropped)
            continue;
        char *label = bp_task_label(task);
        bp_text_add(&text, "%s %s", named++ ? "," : "", label);
        free(label);
    }
    if (summary->failed > named)
        bp_text_add(&text, " and %u more: --csv", summary->failed - named);
    if (named)
        bp_page_say(page, 4, "  failed:%s", bp_text_get(&text));
    bp_text_fini(&text);
}

static int compare_tasks(const void *a, const void *b, void *data) {
    const struct bp_model_task *x = &((const struct bp_model_task *)data)[*(const uint32_t *)a];
    const struct bp_model_task *y = &((const struct bp_model_task *)data)[*(const uint32_t *)b];
    if (x->duration_s != y->duration_s)
        return x->duration_s > y->duration_s ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

uint32_t *bp_task_order(const struct bp_model *model, uint32_t *count) {
    uint32_t *order = bp_alloc(model->tasks.count, sizeof(*order));
    *count = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (bp_task_counts(&model->tasks.list[i]) && !model->tasks.list[i].dropped)
            order[(*count)++] = i;
    qsort_r(order, *count, sizeof(*order), compare_tasks, model->tasks.list);
    return order;
}

struct row {
    struct bp_model_task task;
    const struct bp_model_thread *thread; /* NULL: it is lost */
};

static const char *marks(const struct bp_model_task *task) {
    if (task->unfinished)
        return "> ";
    if (task->limited)
        return "L ";
    if (task->failed)
        return "x ";
    if (task->outlier)
        return "* ";
    return bp_task_is_elsewhere(task) ? "w " : "  ";
}

/* Where categories are not known their cells are empty. */
static const char *cell_part(const struct bp_page *page, const struct bp_model_task *task,
                             enum bp_category category, char text[64]) {
    return task->detailed ? bp_page_time(page, task->category_s[category], text) : "";
}

static const char *cell_dsl(const struct bp_page *page, const void *value, char text[64]) {
    return cell_part(page, &((const struct row *)value)->task, BP_DSL, text);
}

static const char *cell_framework(const struct bp_page *page, const void *value, char text[64]) {
    return cell_part(page, &((const struct row *)value)->task, BP_FRAMEWORK, text);
}

static const char *cell_transfer(const struct bp_page *page, const void *value, char text[64]) {
    return cell_part(page, &((const struct row *)value)->task, BP_TRANSFER, text);
}

static const char *cell_wall(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_share(bp_task_cost(&((const struct row *)value)->task), page->whole, text);
}

static const char *cell_thread(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    (void)page;
    if (!row->thread)
        return "?";
    snprintf(text, 64, "%d", row->thread->source->info.tid);
    return text;
}

static const struct bp_column task_columns[] = {
    BP_LABEL(2 + LABEL),
    {"thread", 8, cell_thread, 0},
    BP_COLUMN("time", 9, bp_cell_time, struct row, task.duration_s),
    {"DSL", 9, cell_dsl, 0},
    {"framework", 10, cell_framework, 0},
    {"transfer", 9, cell_transfer, 0},
    BP_COLUMN("samp.", 7, bp_cell_some, struct row, task.samples),
    {"wall", 8, cell_wall, 0},
    BP_LAST_COLUMN,
};

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_model_task *task) {
    char *label = fit_label(task);
    struct row row = {*task, task->thread == BP_NO_THREAD ? NULL : &model->threads[task->thread]};
    bp_columns_row(page, task_columns, marks(task), label, &row);
    free(label);
}

static uint32_t count_elsewhere(const struct bp_model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++)
        count += bp_task_counts(&model->tasks.list[i]) && !model->tasks.list[i].dropped &&
                 bp_task_is_elsewhere(&model->tasks.list[i]);
    return count;
}

static void print_legend(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    const char *between = "  ";
    const struct {
        uint32_t count;
        const char *text;
    } marks[] = {{summary->unfinished, "> unfinished"},
                 {summary->limited, "L at a time limit"},
                 {summary->failed, "x failed"},
                 {summary->outliers, "* outlier"},
                 {count_elsewhere(model), "w mostly waited: work elsewhere is not in its row"}};
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
    const struct bp_task_summary *summary = &model->tasks.summary;
    uint32_t count;
    uint32_t *order = bp_task_order(model, &count);
    bp_columns_title(page, "Slowest tasks", task_columns);
    for (uint32_t i = 0; i < count && i < settings->top; i++)
        print_row(page, model, &model->tasks.list[order[i]]);
    free(order);
    bp_columns_more(page, "  ", count, settings->top);
    print_legend(page, model);
    if (summary->plain)
        fprintf(page->out, "  for %u tasks only the time was recorded\n", summary->plain);
}

void bp_report_tasks(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings) {
    if (model->tasks.summary.count + model->tasks.summary.folded == 0) {
        bp_report_propose(page, model,
                          "No tasks were recorded: name the function whose calls are tasks",
                          "--task");
        return;
    }
    print_counts(page, model);
    bp_report_task_levels(page, model);
    bp_report_unfinished(page, model);
    print_quantiles(page, &model->tasks.summary);
    print_histogram(page, model);
    print_limits(page, model);
    print_failed(page, model);
    print_rows(page, model, settings);
    bp_report_outliers(page, model, settings);
}

void bp_report_task_lines(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    struct bp_text text = {0};
    if (summary->count == 0)
        return;
    print_counts(page, model);
    bp_text_add(&text, "  median %s, P90 %s, max %s", BP_TIME(page, summary->median_s),
                BP_TIME(page, summary->p90_s), BP_TIME(page, summary->max_s));
    if (summary->outliers)
        bp_text_add(&text, "; %u outlier%s took %s of the wall", summary->outliers,
                    summary->outliers == 1 ? "" : "s",
                    BP_SHARE(summary->outlier_wall_s, model->wall.total_s));
    bp_page_wrap(page, bp_text_get(&text), 2);
    bp_text_fini(&text);
    bp_report_unfinished(page, model);
}
