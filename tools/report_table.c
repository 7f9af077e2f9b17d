/* SPDX-License-Identifier: MIT
 *
 * The tables of the text report: DSL functions, threads or processes. Columns of time are
 * thread-seconds; the last column is the part of the wall split.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/model_internal.h"
#include "tools/report_internal.h"
#include "tools/text.h"

static void cell_time(const struct bp_page *page, double s, int width) {
    char text[32];
    bp_page_right(page, bp_page_time(page, s, text), width);
}

static void cell_count(const struct bp_page *page, uint64_t count, int width) {
    char text[32];
    bp_page_right(page, bp_page_count(count, text), width);
}

static void cell_share(const struct bp_page *page, double part, double whole) {
    char text[32];
    bp_page_right(page, bp_page_share(part, whole, text), 9);
    fputc('\n', page->out);
}

static void say_rest(const struct bp_page *page, uint32_t count, uint32_t top) {
    if (count > top)
        fprintf(page->out, "  and %u more: --top %u\n", count - top, count);
}

/* The same with what those have of the wall. */
static void say_hidden(const struct bp_page *page, const struct bp_model *model, uint32_t count,
                       uint32_t top, double wall_s) {
    char text[64];
    snprintf(text, sizeof(text), "and %u more: --top %u", count - top, count);
    if (count > top)
        bp_report_share_row(page, model, text, wall_s);
}

/* A function of several libraries or lines is told apart by what follows its name. */
static void function_row(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_function *function) {
    char name[300];
    char text[32];
    const char *label = bp_report_name(function, name, sizeof(name));
    fputs("  ", page->out);
    if (function->module[0] && bp_page_columns(label) > 26) { /* its end tells it from others */
        fprintf(page->out, "%s\n  ", label);
        label = "";
    }
    bp_page_left(page, label, 26);
    cell_count(page, function->calls, 14);
    bp_page_right(page, bp_report_self(page, function, text), 10);
    bp_page_right(page, bp_report_total(page, function, text), 10);
    bool hidden = function->total_s < bp_cost_error(function->total_cost_s);
    if (function->calls && !function->untold && !hidden)
        cell_time(page, function->median_s, 9);
    else
        bp_page_right(page, "-", 9);
    cell_share(page, function->wall_s, model->wall_s);
    if (function->in_flight)
        fprintf(page->out, "    and %llu call%s that %s\n", (unsigned long long)function->in_flight,
                function->in_flight == 1 ? "" : "s",
                model->live ? "did not return yet" : "never returned");
}

static void table_functions(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t used = 0;
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if (function->category != BP_DSL)
            continue;
        if (used == 0)
            bp_page_title(page, "DSL functions", 28,
                          BP_COLUMNS({"calls", 14}, {"self", 10}, {"total", 10}, {"median", 9},
                                     {"of wall", 9}));
        if (used++ < settings->top)
            function_row(page, model, function);
    }
    say_rest(page, used, settings->top);
    if (model->dsl_kernel_wait_s > 0) {
        if (used == 0)
            bp_page_heading(page, "\nDSL\n");
        fputs("  ", page->out);
        bp_page_left(page, "(waiting for kernels launched by them)", 40);
        cell_time(page, model->dsl_kernel_wait_s, 10);
        fprintf(page->out, "%*s", 19, "");
        cell_share(page, model->dsl_kernel_wait_wall_s, model->wall_s);
    }
    free(order);
}

static double thread_wall(const struct bp_model_thread *thread) {
    return thread->wall_s + thread->own_idle_s;
}

static int compare_thread(const void *a, const void *b, void *data) {
    const struct bp_model_thread *list = data;
    double x = thread_wall(&list[*(const uint32_t *)a]);
    double y = thread_wall(&list[*(const uint32_t *)b]);
    if (x != y)
        return x > y ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static uint32_t *number(uint32_t count) {
    uint32_t *list = bp_alloc(count, sizeof(*list));
    for (uint32_t i = 0; i < count; i++)
        list[i] = i;
    return list;
}

const char *bp_report_thread_name(const struct bp_model *model,
                                  const struct bp_model_thread *thread, char *text, size_t size) {
    const struct bp_thread *info = &thread->source->info;
    const struct bp_header *header = &model->processes[thread->process].profile->header;
    if (header->state == BP_EXECED && info->tid == header->pid)
        snprintf(text, size, "%.30s, before exec", bp_base_name(header->executable));
    else
        snprintf(text, size, "%s", info->name);
    return text;
}

static bool has_transfer(const struct bp_model *model) {
    return model->category_thread_s[BP_TRANSFER] > 0;
}

/* Else what it is at least; "-" if that is nothing. */
static void cell_all_wait(const struct bp_page *page, const struct bp_model_thread *thread) {
    char time[32];
    char text[40];
    if (thread->all_wait_s >= 0 || !(thread->all_wait_least_s > 0)) {
        cell_time(page, thread->all_wait_s, 9);
        return;
    }
    snprintf(text, sizeof(text), "%s%s", page->utf8 ? "≥" : ">",
             bp_page_time(page, thread->all_wait_least_s, time));
    bp_page_right(page, text, 9);
}

static void thread_row(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_model_thread *thread) {
    char name[64];
    char label[80];
    snprintf(label, sizeof(label), "%d %s", thread->source->info.tid,
             bp_report_thread_name(model, thread, name, sizeof(name)));
    fputs("  ", page->out);
    bp_page_left(page, label, has_transfer(model) ? 15 : 24);
    cell_time(page, thread->lifetime_s, 9);
    cell_time(page, thread->busy_s, 9);
    cell_time(page, thread->category_s[BP_DSL], 9);
    if (has_transfer(model))
        cell_time(page, thread->category_s[BP_TRANSFER], 9);
    cell_time(page, thread->waiting_s, 9);
    cell_all_wait(page, thread);
    cell_share(page, thread_wall(thread), model->wall_s);
}

static void table_threads(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings) {
    uint32_t *order = number(model->thread_count);
    qsort_r(order, model->thread_count, sizeof(*order), compare_thread, model->thread_list);
    if (has_transfer(model))
        bp_page_title(page, "Threads", 17,
                      BP_COLUMNS({"lifetime", 9}, {"busy", 9}, {"DSL", 9}, {"transfer", 9},
                                 {"waiting", 9}, {"all wait", 9}, {"of wall", 9}));
    else
        bp_page_title(page, "Threads", 26,
                      BP_COLUMNS({"lifetime", 9}, {"busy", 9}, {"DSL", 9}, {"waiting", 9},
                                 {"all wait", 9}, {"of wall", 9}));
    double hidden_s = 0;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->thread_list[order[i]];
        if (i < settings->top)
            thread_row(page, model, thread);
        else
            hidden_s += thread_wall(thread);
    }
    say_hidden(page, model, model->thread_count, settings->top, hidden_s);
    bp_report_rest_rows(page, model, "thread");
    if (model->thread_count > 1 && model->waiting_s > 0)
        fputs("all wait: of its waiting, while no thread was busy; else others were\n", page->out);
    free(order);
}

static double process_wall(const struct bp_model_process *process) {
    return process->wall_s + process->idle_s;
}

static int compare_process(const void *a, const void *b, void *data) {
    const struct bp_model_process *list = data;
    double x = process_wall(&list[*(const uint32_t *)a]);
    double y = process_wall(&list[*(const uint32_t *)b]);
    if (x != y)
        return x > y ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static const char *how_ended(const struct bp_model_process *process, char text[32]) {
    if (process->live)
        return "running";
    if (process->signal)
        snprintf(text, 32, "signal %d", process->signal);
    else if (process->profile->header.state == BP_EXECED)
        return "exec";
    else if (process->exit_status >= 0)
        snprintf(text, 32, "exit %d", process->exit_status);
    else if (process->profile->collector &&
             process->profile->collector->state == BP_COLLECTOR_IMPORTED)
        return "imported";
    else
        return "killed?";
    return text;
}

/* The directory of the program would leave no room for its arguments. */
static const char *short_command(const char *command) {
    const char *end = command + strcspn(command, " ");
    while (end > command && end[-1] != '/')
        end--;
    return end;
}

static void process_row(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_model_process *process) {
    char label[1100];
    char text[32];
    snprintf(label, sizeof(label), "%d %s", process->profile->header.pid,
             short_command(process->profile->header.command));
    fputs("  ", page->out);
    bp_page_left(page, label, 30);
    bp_page_right(page, how_ended(process, text), 10);
    cell_count(page, process->threads, 9);
    cell_time(page, process->lifetime_s, 10);
    cell_time(page, process->category_s[BP_DSL], 10);
    cell_share(page, process_wall(process), model->wall_s);
}

static void table_processes(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_report_settings *settings) {
    uint32_t *order = number(model->process_count);
    qsort_r(order, model->process_count, sizeof(*order), compare_process, model->processes);
    bp_page_title(
        page, "Processes", 32,
        BP_COLUMNS({"end", 10}, {"threads", 9}, {"lifetime", 10}, {"DSL", 10}, {"of wall", 9}));
    double hidden_s = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[order[i]];
        if (i < settings->top)
            process_row(page, model, process);
        else
            hidden_s += process_wall(process);
    }
    say_hidden(page, model, model->process_count, settings->top, hidden_s);
    bp_report_rest_rows(page, model, "process");
    bp_report_roles(page, model);
    free(order);
}

void bp_report_table(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings) {
    if (strcmp(settings->by, "thread") == 0)
        table_threads(page, model, settings);
    else if (strcmp(settings->by, "process") == 0)
        table_processes(page, model, settings);
    else if (strcmp(settings->by, "group") == 0)
        bp_report_groups(page, model, settings);
    else if (strcmp(settings->by, BP_OVERVIEW) == 0)
        table_functions(page, model, settings);
}
