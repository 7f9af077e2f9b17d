/* SPDX-License-Identifier: MIT
 *
 * --by phase: what each phase took, per task and per sample, and in which tasks it took longest.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/render/text/internal.h"
#include "tools/render/text/task.h"

#define SLOWEST 5

struct slow {
    const struct bp_model_task *task;
    double s;
};

static int compare_slow(const void *a, const void *b) {
    const struct slow *x = a;
    const struct slow *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

static int compare_phases(const void *a, const void *b, void *data) {
    const struct bp_model_phase *x = &((const struct bp_model_phase *)data)[*(const uint32_t *)a];
    const struct bp_model_phase *y = &((const struct bp_model_phase *)data)[*(const uint32_t *)b];
    if (x->thread_s != y->thread_s)
        return x->thread_s > y->thread_s ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static struct slow *find_slow(const struct bp_model *model, uint32_t phase, uint32_t *count) {
    struct slow *list = bp_alloc(model->tasks.count, sizeof(*list));
    *count = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!bp_task_counts(task) || task->dropped)
            continue;
        for (uint32_t k = 0; k < task->phase_count; k++) {
            const struct bp_task_phase *part = &model->tasks.phases[task->first_phase + k];
            if (part->phase == phase)
                list[(*count)++] = (struct slow){task, part->s};
        }
    }
    if (*count)
        qsort(list, *count, sizeof(*list), compare_slow);
    return list;
}

/* A line is broken between tasks, never between a figure and its unit. */
static void print_slowest(const struct bp_page *page, const struct bp_model *model,
                          uint32_t phase) {
    uint32_t count;
    struct slow *list = find_slow(model, phase, &count);
    int column = count ? fprintf(page->out, "    slowest:") : 0;
    for (uint32_t i = 0; i < count && i < SLOWEST; i++) {
        char *label = bp_task_label(list[i].task);
        char *item = bp_make_text(" %s %s%s", label, BP_TIME(page, list[i].s),
                                  i + 1 < count && i + 1 < SLOWEST ? "," : "");
        if (i > 0 && column + bp_page_columns(item) > page->width)
            column = fprintf(page->out, "\n            ") - 1;
        fputs(item, page->out);
        column += bp_page_columns(item);
        free(item);
        free(label);
    }
    if (count)
        fputc('\n', page->out);
    free(list);
}

static const char *cell_tasks(const struct bp_page *page, const void *value, char text[64]) {
    return *(const uint32_t *)value ? bp_cell_number(page, value, text) : "";
}

static const char *cell_per_task(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_phase *phase = value;
    return phase->tasks ? bp_page_time(page, phase->task_s / phase->tasks, text) : "";
}

static const char *cell_per_sample(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_phase *phase = value;
    return phase->samples ? bp_page_time(page, phase->task_s / (double)phase->samples, text) : "";
}

static const char *cell_wall(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_share(bp_phase_wall(value), page->whole, text);
}

static const struct bp_column columns[] = {
    BP_LABEL(24),
    BP_COLUMN("entered", 9, bp_cell_count, struct bp_model_phase, count),
    BP_COLUMN("time", 10, bp_cell_time, struct bp_model_phase, thread_s),
    BP_COLUMN("tasks", 8, cell_tasks, struct bp_model_phase, tasks),
    {"a task", 10, cell_per_task, 0},
    {"a sample", 10, cell_per_sample, 0},
    {"of wall", 9, cell_wall, 0},
    BP_LAST_COLUMN,
};

/* What it waited for is the work of others; those that it started are its own. */
static void print_started(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_model_phase *phase) {
    char text[3][32];
    if (!(phase->started_s > 0.001 * model->wall.total_s))
        return;
    bp_page_say(
        page, 6, "    open for %s; waiting for children and threads %s; of the wall, %s are theirs",
        bp_page_time(page, phase->open_s, text[0]), bp_page_time(page, phase->waiting_s, text[1]),
        bp_page_share(phase->started_s, model->wall.total_s, text[2]));
}

static const struct bp_column idle_columns[] = {
    BP_LABEL(43),
    BP_COLUMN("", 37, bp_cell_share, struct bp_rest_row, wall_s),
    BP_LAST_COLUMN,
};

/* What is in no phase is time of threads, too. */
struct outside {
    double thread_s;
    double wall_s;
};

static const struct bp_column outside_columns[] = {
    BP_LABEL(24),
    BP_COLUMN("", 19, bp_cell_time, struct outside, thread_s),
    BP_COLUMN("", 37, bp_cell_share, struct outside, wall_s),
    BP_LAST_COLUMN,
};

static void print_rest(const struct bp_page *page, const struct bp_model *model) {
    struct bp_rest rest = bp_rest_of_phases(model);
    double thread_s = model->thread_time.total_s;
    for (uint32_t i = 0; i < model->phase_count; i++)
        thread_s -= model->phases[i].thread_s;
    for (uint32_t i = 0; i + 1 < rest.count; i++)
        bp_columns_row(page, idle_columns, "  ", rest.rows[i].name, &rest.rows[i]);
    if (rest.count) {
        struct outside outside = {thread_s, rest.rows[rest.count - 1].wall_s};
        bp_columns_row(page, outside_columns, "  ", rest.rows[rest.count - 1].name, &outside);
    }
}

void bp_report_phases(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    uint32_t *order = bp_alloc(model->phase_count, sizeof(*order));
    if (model->phase_count == 0) {
        bp_report_propose(page, model, "No phases were recorded: name the functions that are",
                          "--phase");
        free(order);
        return;
    }
    for (uint32_t i = 0; i < model->phase_count; i++)
        order[i] = i;
    qsort_r(order, model->phase_count, sizeof(*order), compare_phases, model->phases);
    bp_columns_title(page, "Phases", columns);
    for (uint32_t i = 0; i < model->phase_count && i < settings->top; i++) {
        const struct bp_model_phase *phase = &model->phases[order[i]];
        bp_columns_row(page, columns, "  ", phase->name[0] ? phase->name : "(unnamed)", phase);
        print_started(page, model, phase);
        print_slowest(page, model, order[i]);
    }
    print_rest(page, model);
    free(order);
}
