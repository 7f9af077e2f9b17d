/* SPDX-License-Identifier: MIT
 *
 * What was under way when the run ended, or is now: tasks that did not end, and the calls that each
 * thread was in. In a run that was stopped because it hung they are the answer.
 */
#include <stdlib.h>

#include "tools/report_internal.h"
#include "tools/report_task.h"

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
    char line[700];
    char label[300];
    char name[300];
    char text[32];
    snprintf(line, sizeof(line), "  unfinished: %s, %s so far%s%s",
             bp_task_label(task, label, sizeof(label)), bp_page_time(page, task->duration_s, text),
             function ? ", in " : "", function ? bp_report_name(function, name, sizeof(name)) : "");
    bp_page_wrap(page, line, 4);
}

void bp_report_unfinished(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count, open = 0;
    uint32_t *order = bp_task_order(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_model_task *task = &model->tasks[order[i]];
        if (task->unfinished && open++ < MOST_TASKS)
            print_task(page, model, task);
    }
    if (open > MOST_TASKS)
        fprintf(page->out, "  and %u more: --by task\n", open - MOST_TASKS);
    free(order);
}

/* The task that the call is, which its function's name need not tell. */
static const struct bp_model_task *task_of(const struct bp_model *model,
                                           const struct bp_in_flight *item) {
    for (uint32_t i = 0; i < model->task_count; i++) {
        const struct bp_model_task *task = &model->tasks[i];
        if (task->unfinished && task->thread == item->thread && task->function == item->function)
            return task;
    }
    return NULL;
}

static void print_call(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_in_flight *item) {
    const struct bp_model_thread *thread = &model->thread_list[item->thread];
    const struct bp_model_task *task = task_of(model, item);
    char label[400];
    char text[32];
    snprintf(label, sizeof(label), "thread %d (%s): %.200s%s%.80s", thread->source->info.tid,
             thread->source->info.name, model->functions[item->function].name,
             task ? ", task " : "",
             !task         ? ""
             : task->id[0] ? task->id
                           : task->name);
    fputs("  ", page->out);
    bp_page_left(page, label, 60);
    bp_page_right(page, bp_page_time(page, item->for_s, text), 18);
    fputc('\n', page->out);
}

void bp_report_in_flight(const struct bp_page *page, const struct bp_model *model) {
    if (model->in_flight_count == 0)
        return;
    fputc('\n', page->out);
    bp_page_heading(page, model->live ? "Calls open now\n" : "Calls that never returned\n");
    for (uint32_t i = 0; i < model->in_flight_count && i < MOST_CALLS; i++)
        print_call(page, model, &model->in_flight[i]);
    if (model->in_flight_count > MOST_CALLS)
        fprintf(page->out, "  and %u more: --json\n", model->in_flight_count - MOST_CALLS);
}
