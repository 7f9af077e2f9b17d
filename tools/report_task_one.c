/* SPDX-License-Identifier: MIT
 *
 * --by task --search ID: single tasks, with all that they did, beside what the median task does.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/report_internal.h"
#include "tools/report_task.h"

static void print_title(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_model_task *task) {
    char label[300];
    char text[3][32];
    fputc('\n', page->out);
    bp_page_heading(page, bp_task_label(task, label, sizeof(label)));
    fprintf(page->out, "  %s", task->name);
    if (task->thread != BP_NO_THREAD)
        fprintf(page->out, ", thread %d", (int)model->thread_list[task->thread].source->info.tid);
    fprintf(page->out, ", began at %s%s%s%s%s\n", bp_page_time(page, task->start_s, text[0]),
            task->unfinished ? ", unfinished" : "", task->limited ? ", at a time limit" : "",
            task->failed ? ", failed" : "", task->outlier ? ", an outlier" : "");
    fprintf(page->out, "  %s, %s of the wall", bp_page_time(page, task->duration_s, text[0]),
            bp_page_share(bp_task_cost(task), model->wall_s, text[1]));
    if (task->detailed)
        fprintf(page->out, ": DSL %s, framework %s, transfer %s",
                bp_page_time(page, task->category_s[BP_DSL], text[0]),
                bp_page_time(page, task->category_s[BP_FRAMEWORK], text[1]),
                bp_page_time(page, task->category_s[BP_TRANSFER], text[2]));
    fputc('\n', page->out);
}

static void print_heading(const struct bp_page *page) {
    bp_page_left(page, "", 38);
    bp_page_right(page, "calls", 10);
    bp_page_right(page, "self", 10);
    bp_page_right(page, "of it", 9);
    bp_page_right(page, "usually", 11);
    fputc('\n', page->out);
}

/* `calls` may be empty. */
static void print_line(const struct bp_page *page, const char *name, const char *calls, double s,
                       const struct bp_model_task *task, double usual_s) {
    char text[32];
    fputs("    ", page->out);
    bp_page_left(page, name, 34);
    bp_page_right(page, calls, 10);
    bp_page_right(page, bp_page_time(page, s, text), 10);
    bp_page_right(page, bp_page_share(s, task->duration_s, text), 9);
    bp_page_right(page, bp_page_time(page, usual_s, text), 11);
    fputc('\n', page->out);
}

static void print_parts(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_task_typical *typical, const struct bp_model_task *task,
                        unsigned top) {
    print_heading(page);
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *part = &model->task_phases[task->first_phase + i];
        char label[80];
        snprintf(label, sizeof(label), "phase %.70s", model->phases[part->phase].name);
        print_line(page, label, "", part->s, task, typical->phase_s[part->phase]);
    }
    for (uint32_t i = 0; i < task->function_count && i < top; i++) {
        const struct bp_task_function *row = &model->task_functions[task->first_function + i];
        const struct bp_function *function = &model->functions[row->function];
        char name[300];
        char calls[32];
        print_line(page,
                   function->kind == BP_FUNC_ROOT ? "own code"
                                                  : bp_report_name(function, name, sizeof(name)),
                   bp_page_count(row->calls, calls), row->self_s, task,
                   typical->function_s[row->function]);
    }
    if (task->function_count > top)
        fprintf(page->out, "    and %u more: --top %u\n", task->function_count - top,
                task->function_count);
}

static bool is_wanted(const struct bp_model_task *task, const struct bp_words *words) {
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
        const struct bp_model_task *task = &model->tasks[order[i]];
        if (!is_wanted(task, &settings->search) || shown++ >= settings->top)
            continue;
        print_title(page, model, task);
        if (task->detailed)
            print_parts(page, model, &typical, task, settings->top);
    }
    if (shown > settings->top)
        fprintf(page->out, "\nand %u more tasks: --top %u\n", shown - settings->top, shown);
    if (shown == 0)
        fprintf(page->out, "\nno such task among %u: ids are found by a part of them\n", count);
    bp_task_typical_fini(&typical);
    free(order);
}
