/* SPDX-License-Identifier: MIT
 *
 * --by task --search ID: single tasks, with all that they did, beside what the median task does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/priority.h"
#include "tools/base/text.h"
#include "tools/model/task/typical.h"
#include "tools/render/text/internal.h"
#include "tools/render/text/task.h"

/* The time of all threads that worked for the task, without its wait for them. */
static double time_of(const struct bp_model_task *task) {
    return task->duration_s + task->inner_s - task->handed_s;
}

static void print_title(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_model_task *task) {
    char *label = bp_task_label(task);
    fputc('\n', page->out);
    bp_page_heading(page, label);
    free(label);
    fprintf(page->out, "  %s", task->name);
    if (task->thread != BP_NO_THREAD)
        fprintf(page->out, ", thread %d", (int)model->threads[task->thread].source->info.tid);
    fprintf(page->out, ", began at %s%s%s%s%s\n", BP_TIME(page, task->start_s),
            task->unfinished ? ", unfinished" : "", task->limited ? ", at a time limit" : "",
            task->failed ? ", failed" : "", task->outlier ? ", an outlier" : "");
    fprintf(page->out, "  %s, %s of the wall", BP_TIME(page, task->duration_s),
            BP_SHARE(bp_task_cost(task), model->wall.total_s));
    if (task->detailed)
        fprintf(page->out, ": DSL %s, framework %s, transfer %s",
                BP_TIME(page, task->category_s[BP_DSL]),
                BP_TIME(page, task->category_s[BP_FRAMEWORK]),
                BP_TIME(page, task->category_s[BP_TRANSFER]));
    fputc('\n', page->out);
    if (task->inner)
        fprintf(page->out, "  with %u call%s in other threads or processes, %s together\n",
                task->inner, task->inner == 1 ? "" : "s", BP_TIME(page, task->inner_s));
    else if (bp_task_is_elsewhere(task))
        fputs("  mostly waited: what others did for it meanwhile is not in here\n", page->out);
}

/* A row of a phase or of a function. */
struct row {
    uint64_t calls;
    double total_s;
    double self_s;
    double usual_s;
    bool phase;
    double part_s; /* of self_s; a wait without what others worked for the task meanwhile */
};

static const char *cell_calls(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    return row->phase ? "" : bp_cell_count(page, &row->calls, text);
}

static const char *cell_total(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    return row->phase ? "" : bp_page_time(page, row->total_s, text);
}

static const struct bp_column columns[] = {
    BP_LABEL(26),
    {"calls", 9, cell_calls, 0},
    {"total", 10, cell_total, 0},
    BP_COLUMN("self", 10, bp_cell_time, struct row, self_s),
    BP_COLUMN("of it", 8, bp_cell_share, struct row, part_s),
    BP_COLUMN("usually", 10, bp_cell_time, struct row, usual_s),
    BP_LAST_COLUMN,
};

/* What a DSL function's self time is of the task decides, as it does of the run (--by candidate).
 */
static void print_priority(const struct bp_page *page, const struct bp_levels *levels,
                           const struct bp_function *function, double self_s) {
    double percent = page->whole > 0 ? 100 * self_s / page->whole : 0;
    enum bp_priority priority = bp_priority_of(levels, percent);
    if (function->category == BP_DSL && priority != BP_MINIMAL)
        fprintf(page->out, " %s", bp_priority_name(priority));
    fputc('\n', page->out);
}

static void print_phases(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_task_typical *typical, const struct bp_model_task *task) {
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *part = &model->tasks.phases[task->first_phase + i];
        struct row row = {.self_s = part->s,
                          .part_s = part->s,
                          .usual_s = typical->phase_s[part->phase],
                          .phase = true};
        char *label = bp_make_text("phase %s", model->phases[part->phase].name);
        bp_columns_row(page, columns, "    ", label, &row);
        free(label);
    }
}

/* What others worked for the task while it waited is in their rows. */
static double handed_part(const struct bp_model_task *task, const struct bp_function *function) {
    double part = task->waiting_s > 0 ? task->handed_s / task->waiting_s : 0;
    return function->kind == BP_FUNC_WAIT ? fmin(part, 1) : 0;
}

static void print_parts(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_task_typical *typical, const struct bp_model_task *task,
                        const struct bp_report_settings *settings) {
    struct bp_page table = *page;
    table.whole = time_of(task);
    bp_columns_names(page, "", columns);
    print_phases(&table, model, typical, task);
    for (uint32_t i = 0; i < task->function_count && i < settings->top; i++) {
        const struct bp_task_function *from = &model->tasks.functions[task->first_function + i];
        const struct bp_function *function = &model->functions[from->function];
        struct row row = {
            .calls = from->calls,
            .total_s = from->total_s,
            .self_s = from->self_s,
            .usual_s = typical->function_s[from->function],
            .part_s = from->self_s * (1 - handed_part(task, function)),
        };
        bp_columns_begin(&table, columns, "    ", bp_function_part_label(function), &row);
        print_priority(&table, &settings->levels, function, from->self_s);
    }
    bp_columns_more(page, "    ", task->function_count, settings->top);
}

bool bp_report_task_is_wanted(const struct bp_model_task *task, const struct bp_words *words) {
    for (size_t i = 0; i < words->count; i++)
        if (bp_report_matches(words->word[i], task->id) ||
            bp_report_matches(words->word[i], task->name))
            return true;
    return false;
}

void bp_report_task_search(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings) {
    struct bp_task_typical typical;
    uint32_t shown = 0;
    uint32_t count;
    uint32_t *order = bp_task_order(model, &count);
    bp_task_typical_init(&typical, model);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_model_task *task = &model->tasks.list[order[i]];
        if (!bp_report_task_is_wanted(task, &settings->search) || shown++ >= settings->top)
            continue;
        print_title(page, model, task);
        if (task->detailed)
            print_parts(page, model, &typical, task, settings);
    }
    bp_columns_more(page, "\n", shown, settings->top);
    if (shown == 0)
        fprintf(page->out, "\nno such task among %u: ids are found by a part of them\n", count);
    bp_task_typical_fini(&typical);
    free(order);
}
