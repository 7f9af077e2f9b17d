/* SPDX-License-Identifier: MIT
 *
 * --by phase: what each phase took, per task and per sample, and in which tasks it took longest.
 */
#include <stdlib.h>

#include "tools/memory.h"
#include "tools/report_internal.h"
#include "tools/report_task.h"

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
    struct slow *list = bp_alloc(model->task_count, sizeof(*list));
    *count = 0;
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        if (task->parent != BP_NO_TASK || task->dropped)
            continue;
        for (uint32_t k = 0; k < task->phase_count; k++) {
            const struct bp_task_phase *part = &model->task_phases[task->first_phase + k];
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
        char label[100];
        char time[32];
        char item[160];
        snprintf(item, sizeof(item), " %s %s%s", bp_task_label(list[i].task, label, sizeof(label)),
                 bp_page_time(page, list[i].s, time), i + 1 < count && i + 1 < SLOWEST ? "," : "");
        if (i > 0 && column + bp_page_columns(item) > BP_PAGE_WIDTH)
            column = fprintf(page->out, "\n            ") - 1;
        fputs(item, page->out);
        column += bp_page_columns(item);
    }
    if (count)
        fputc('\n', page->out);
    free(list);
}

static void cell_rate(const struct bp_page *page, double s, double count, int width) {
    char text[32];
    bp_page_right(page, count > 0 ? bp_page_time(page, s / count, text) : "", width);
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_model_phase *phase) {
    char text[32];
    fputs("  ", page->out);
    bp_page_left(page, phase->name[0] ? phase->name : "(unnamed)", 22);
    bp_page_right(page, bp_page_count(phase->count, text), 9);
    bp_page_right(page, bp_page_time(page, phase->thread_s, text), 10);
    bp_page_right(page, phase->tasks ? bp_page_count(phase->tasks, text) : "", 8);
    cell_rate(page, phase->task_s, phase->tasks, 10);
    cell_rate(page, phase->task_s, (double)phase->samples, 10);
    bp_page_right(page, bp_page_share(phase->wall_s + phase->idle_s, model->wall_s, text), 9);
    fputc('\n', page->out);
}

static void print_rest(const struct bp_page *page, const struct bp_model *model) {
    struct bp_rest rest = bp_report_rest(model, "phase");
    double thread_s = model->thread_s;
    char text[32];
    for (uint32_t i = 0; i < model->phase_count; i++)
        thread_s -= model->phases[i].thread_s;
    for (uint32_t i = 0; i < rest.count; i++) {
        bool is_time = i + 1 == rest.count; /* of threads, too */
        fputs("  ", page->out);
        bp_page_left(page, rest.rows[i].name, is_time ? 22 : 41);
        if (is_time)
            bp_page_right(page, bp_page_time(page, thread_s, text), 19);
        bp_page_right(page, bp_page_share(rest.rows[i].wall_s, model->wall_s, text), 37);
        fputc('\n', page->out);
    }
}

void bp_report_phases(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    uint32_t *order = bp_alloc(model->phase_count, sizeof(*order));
    if (model->phase_count == 0) {
        fputc('\n', page->out);
        bp_page_wrap(page,
                     "No phases were recorded: name the functions that are, "
                     "battprof run --phase NAME=FUNCTION -- COMMAND",
                     0);
        free(order);
        return;
    }
    for (uint32_t i = 0; i < model->phase_count; i++)
        order[i] = i;
    qsort_r(order, model->phase_count, sizeof(*order), compare_phases, model->phases);
    bp_page_title(page, "Phases", 24,
                  BP_COLUMNS({"entered", 9}, {"time", 10}, {"tasks", 8}, {"a task", 10},
                             {"a sample", 10}, {"of wall", 9}));
    for (uint32_t i = 0; i < model->phase_count && i < settings->top; i++) {
        print_row(page, model, &model->phases[order[i]]);
        print_slowest(page, model, order[i]);
    }
    print_rest(page, model);
    free(order);
}
