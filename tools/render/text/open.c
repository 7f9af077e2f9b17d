/* SPDX-License-Identifier: MIT
 *
 * What was under way when the run ended, or is now: tasks that did not end, and the calls that each
 * thread was in. In a run that was stopped because it hung they are the answer.
 */
#include <stdlib.h>

#include "tools/base/text.h"
#include "tools/render/text/internal.h"
#include "tools/render/text/task.h"

#define MOST_CALLS 8
#define MOST_TASKS 3

/* The innermost open call of the task's thread, but not the task's own; NULL if there is none. */
static const struct bp_function *innermost(const struct bp_model *model,
                                           const struct bp_model_task *task) {
    for (uint32_t i = 0; i < model->in_flight_count; i++)
        if (model->in_flight[i].thread == task->thread && model->in_flight[i].depth == 0 &&
            model->in_flight[i].function != task->function)
            return &model->functions[model->in_flight[i].function];
    return NULL;
}

static void print_task(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_model_task *task) {
    const struct bp_function *function = innermost(model, task);
    char *label = bp_task_label(task);
    bp_page_say(page, 4, "  unfinished: %s, %s so far%s%s", label, BP_TIME(page, task->duration_s),
                function ? ", in " : "", function ? function->label : "");
    free(label);
}

void bp_report_unfinished(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count, open = 0;
    uint32_t *order = bp_task_order(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_model_task *task = &model->tasks.list[order[i]];
        if (task->unfinished && open++ < MOST_TASKS)
            print_task(page, model, task);
    }
    bp_columns_more_by(page, "  ", open, MOST_TASKS, "", "--by task");
    free(order);
}

/* The task that the call is, which its function's name need not tell. */
static const struct bp_model_task *task_of(const struct bp_model *model,
                                           const struct bp_in_flight *item) {
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (task->unfinished && task->thread == item->thread && task->function == item->function)
            return task;
    }
    return NULL;
}

static const struct bp_column columns[] = {
    BP_LABEL(62),
    BP_COLUMN("", 18, bp_cell_time, struct bp_in_flight, for_s),
    BP_LAST_COLUMN,
};

static void print_call(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_in_flight *item) {
    const struct bp_model_thread *thread = &model->threads[item->thread];
    const struct bp_model_task *task = task_of(model, item);
    char *label =
        bp_make_text("thread %d (%s): %s%s%s", thread->source->info.tid, thread->source->info.name,
                     model->functions[item->function].name, task ? ", task " : "",
                     !task         ? ""
                     : task->id[0] ? task->id
                                   : task->name);
    bp_columns_row(page, columns, "  ", label, item);
    free(label);
}

void bp_report_in_flight(const struct bp_page *page, const struct bp_model *model) {
    if (model->in_flight_count == 0)
        return;
    fputc('\n', page->out);
    bp_page_heading(page, model->run.live ? "Calls open now\n" : "Calls that never returned\n");
    for (uint32_t i = 0; i < model->in_flight_count && i < MOST_CALLS; i++)
        print_call(page, model, &model->in_flight[i]);
    bp_columns_more_by(page, "  ", model->in_flight_count, MOST_CALLS, "", "--json");
}
