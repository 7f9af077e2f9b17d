/* SPDX-License-Identifier: MIT
 *
 * The tables of the text report: DSL functions, threads or processes. Columns of time are
 * thread-seconds; the last column is the part of the wall split.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/render/text/internal.h"

/* Where the times of lines begin, so that they end with the self times of functions. */
#define TIME_COLUMN 44

static const char *cell_median(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_function *function = value;
    bool hidden = function->total_s < bp_function_total_error(function);
    return function->calls && !function->untold && !hidden
               ? bp_page_time(page, function->median_s, text)
               : "-";
}

static const struct bp_column function_columns[] = {
    BP_LABEL(28),
    BP_COLUMN("calls", 14, bp_cell_count, struct bp_function, calls),
    {"self", 10, bp_cell_self, 0},
    {"total", 10, bp_cell_total, 0},
    {"median", 9, cell_median, 0},
    BP_COLUMN("of wall", 9, bp_cell_share, struct bp_function, wall_s),
    BP_LAST_COLUMN,
};

/* Where threads had to wait for a CPU. */
static const struct bp_column starved_columns[] = {
    BP_LABEL(28),
    BP_COLUMN("calls", 14, bp_cell_count, struct bp_function, calls),
    {"self", 10, bp_cell_self, 0},
    BP_COLUMN("CPU", 9, bp_cell_cpu, struct bp_function, cpu_s),
    {"total", 10, bp_cell_total, 0},
    BP_COLUMN("of wall", 9, bp_cell_share, struct bp_function, wall_s),
    BP_LAST_COLUMN,
};

static const struct bp_column *function_columns_for(const struct bp_model *model) {
    return bp_model_starved_s(model, NULL) > 0 ? starved_columns : function_columns;
}

static const struct bp_column wait_columns[] = {
    BP_LABEL(42),
    BP_COLUMN("", 10, bp_cell_time, struct bp_model, thread_time.dsl_kernel_wait_s),
    BP_COLUMN("", 28, bp_cell_share, struct bp_model, wall.dsl_kernel_wait_s),
    BP_LAST_COLUMN,
};

/* A function of several libraries or lines is told apart by what follows its name. */
static void function_row(const struct bp_page *page, const struct bp_model *model,
                         uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    (function->module[0] ? bp_columns_whole_row : bp_columns_row)(page, function_columns_for(model),
                                                                  "  ", function->label, function);
    if (function->in_flight)
        fprintf(page->out, "    and %llu call%s that %s\n", (unsigned long long)function->in_flight,
                function->in_flight == 1 ? "" : "s",
                model->run.live ? "did not return yet" : "never returned");
    bp_report_overview_lines(page, model, number, TIME_COLUMN);
}

void bp_report_dsl_functions(const struct bp_page *page, const struct bp_model *model,
                             const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t used = 0;
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if (function->category != BP_DSL)
            continue;
        if (used == 0)
            bp_columns_title(page, "DSL functions", function_columns_for(model));
        if (used++ < settings->top)
            function_row(page, model, order[i]);
    }
    bp_columns_more(page, "  ", used, settings->top);
    if (model->thread_time.dsl_kernel_wait_s > 0) {
        if (used == 0)
            bp_page_heading(page, "\nDSL\n");
        bp_columns_row(page, wait_columns, "  ", "(waiting for kernels launched by them)", model);
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

char *bp_report_thread_name(const struct bp_model *model, const struct bp_model_thread *thread) {
    const struct bp_thread *info = &thread->source->info;
    const struct bp_header *header = &model->processes[thread->process].profile->header;
    if (header->state == BP_EXECED && info->tid == header->pid)
        return bp_make_text("%s, before exec", bp_base_name(header->executable));
    return bp_copy_text(info->name);
}

/* Else what it is at least; "-" if that is nothing. */
static const char *cell_all_wait(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_thread *thread = value;
    if (thread->all_wait_s >= 0 || !(thread->all_wait_least_s > 0))
        return bp_page_time(page, thread->all_wait_s, text);
    snprintf(text, 64, "%s%s", page->utf8 ? "≥" : ">", BP_TIME(page, thread->all_wait_least_s));
    return text;
}

static const char *cell_thread_wall(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_share(thread_wall(value), page->whole, text);
}

static const char *cell_thread_cpu(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_thread *thread = value;
    return thread->has_clocks ? bp_page_time(page, thread->cpu_s, text) : "unknown";
}

static void print_threads(const struct bp_page *page, const struct bp_model *model,
                          const uint32_t *order, uint32_t top) {
    bool transfer = model->thread_time.category_s[BP_TRANSFER] > 0;
    bool starved = bp_model_starved_s(model, NULL) > 0;
    const struct bp_column columns[] = {
        BP_LABEL((transfer ? 17 : 26) - (starved ? 5 : 0)),
        BP_COLUMN("lifetime", 9, bp_cell_time, struct bp_model_thread, lifetime_s),
        BP_COLUMN("busy", 9, bp_cell_time, struct bp_model_thread, busy_s),
        {"CPU", starved ? 9 : 0, cell_thread_cpu, 0},
        BP_COLUMN("DSL", model->split.leads ? 0 : 9, bp_cell_time, struct bp_model_thread,
                  category_s[BP_DSL]),
        BP_COLUMN("transfer", transfer ? 9 : 0, bp_cell_time, struct bp_model_thread,
                  category_s[BP_TRANSFER]),
        BP_COLUMN("waiting", 9, bp_cell_time, struct bp_model_thread, waiting_s),
        {"all wait", 9, cell_all_wait, 0},
        {"of wall", 9, cell_thread_wall, 0},
        BP_LAST_COLUMN,
    };
    bp_columns_title(page, "Threads", columns);
    for (uint32_t i = 0; i < model->thread_count && i < top; i++) {
        const struct bp_model_thread *thread = &model->threads[order[i]];
        char *name = bp_report_thread_name(model, thread);
        char *label = bp_make_text("%d %s", thread->source->info.tid, name);
        bp_columns_row(page, columns, "  ", label, thread);
        free(label);
        free(name);
    }
}

void bp_report_threads(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings) {
    uint32_t *order = number(model->thread_count);
    double hidden_s = 0;
    qsort_r(order, model->thread_count, sizeof(*order), compare_thread, model->threads);
    print_threads(page, model, order, settings->top);
    for (uint32_t i = settings->top; i < model->thread_count; i++)
        hidden_s += thread_wall(&model->threads[order[i]]);
    bp_report_hidden_row(page, model->thread_count, settings->top, hidden_s);
    bp_report_rest_rows(page, model, settings);
    if (model->thread_count > 1 && model->thread_time.waiting_s > 0)
        fputs("all wait: the part of the thread's waiting during which no thread was busy\n",
              page->out);
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

static const char *cell_end(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_process *process = value;
    (void)page;
    if (process->live)
        return "running";
    if (process->signal)
        snprintf(text, 64, "signal %d", process->signal);
    else if (process->profile->header.state == BP_EXECED)
        return "exec";
    else if (process->exit_status >= 0)
        snprintf(text, 64, "exit %d", process->exit_status);
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

static const char *cell_process_wall(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_share(process_wall(value), page->whole, text);
}

static const struct bp_column cpu_columns[] = {
    BP_LABEL(28),
    {"end", 10, cell_end, 0},
    BP_COLUMN("threads", 9, bp_cell_number, struct bp_model_process, threads),
    BP_COLUMN("lifetime", 10, bp_cell_time, struct bp_model_process, lifetime_s),
    BP_COLUMN("CPU", 9, bp_cell_cpu, struct bp_model_process, cpu_s),
    {"of wall", 12, cell_process_wall, 0},
    BP_LAST_COLUMN,
};

static const struct bp_column process_columns[] = {
    BP_LABEL(32),
    {"end", 10, cell_end, 0},
    BP_COLUMN("threads", 9, bp_cell_number, struct bp_model_process, threads),
    BP_COLUMN("lifetime", 10, bp_cell_time, struct bp_model_process, lifetime_s),
    BP_COLUMN("DSL", 10, bp_cell_time, struct bp_model_process, category_s[BP_DSL]),
    {"of wall", 9, cell_process_wall, 0},
    BP_LAST_COLUMN,
};

static const struct bp_column *process_columns_for(const struct bp_model *model) {
    return bp_model_starved_s(model, NULL) > 0 ? cpu_columns : process_columns;
}

static void process_row(const struct bp_page *page, const struct bp_column *columns,
                        const struct bp_model_process *process) {
    char *label = bp_make_text("%d %s", process->profile->header.pid,
                               short_command(process->profile->header.command));
    bp_columns_row(page, columns, "  ", label, process);
    free(label);
}

void bp_report_processes(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    uint32_t *order = number(model->process_count);
    double hidden_s = 0;
    qsort_r(order, model->process_count, sizeof(*order), compare_process, model->processes);
    bp_columns_title(page, "Processes", process_columns_for(model));
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[order[i]];
        if (i < settings->top)
            process_row(page, process_columns_for(model), process);
        else
            hidden_s += process_wall(process);
    }
    bp_report_hidden_row(page, model->process_count, settings->top, hidden_s);
    bp_report_rest_rows(page, model, settings);
    bp_report_roles(page, model, settings->top);
    free(order);
}
