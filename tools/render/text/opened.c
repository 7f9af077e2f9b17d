/* SPDX-License-Identifier: MIT
 *
 * --search NAME opens the functions that it found, if they are few: who calls each and what it
 * calls, how long its calls took, in how many tasks it is, and its lines. Callers are exact where
 * calls are intercepted; else the sampled stacks say them.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/walk.h"
#include "tools/render/text/internal.h"

#define ROWS 6
/* Rows of a histogram; more are joined. */
#define MOST_RANGES 12
#define BAR 28

/* Another function beside the opened one. */
struct neighbour {
    uint32_t function; /* BP_NO_FUNCTION: unknown */
    uint64_t calls;
    double s;
};

struct opened {
    const struct bp_model *model;
    uint32_t function;
    struct neighbour *callers;
    uint32_t caller_count;
    struct neighbour *callees;
    uint32_t callee_count;
    double sampled_s; /* of stacks that it is on */
};

static void add(struct neighbour **list, uint32_t *count, uint32_t function, uint64_t calls,
                double s) {
    uint32_t i = 0;
    while (i < *count && (*list)[i].function != function)
        i++;
    if (i == *count)
        *BP_APPEND(*list, *count) = (struct neighbour){.function = function};
    (*list)[i].calls += calls;
    (*list)[i].s += s;
}

static void add_contexts(struct opened *opened) {
    const struct bp_model *model = opened->model;
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        if (context->parent == 0)
            continue;
        uint32_t parent = model->contexts[context->parent].function;
        if (context->function == opened->function)
            add(&opened->callers, &opened->caller_count, parent, context->calls, context->total_s);
        else if (parent == opened->function)
            add(&opened->callees, &opened->callee_count, context->function, context->calls,
                context->total_s);
    }
}

/* In a recursion the outermost call has the caller, and the innermost what it calls. */
static bool add_stack(const struct bp_walk_row *row, void *data) {
    struct opened *opened = data;
    uint32_t first = 0;
    uint32_t last = row->depth;
    while (first <= row->depth && row->functions[first] != opened->function)
        first++;
    if (first > row->depth)
        return true;
    while (row->functions[last] != opened->function)
        last--;
    opened->sampled_s += row->self_s;
    if (first > 0)
        add(&opened->callers, &opened->caller_count, row->functions[first - 1], 0, row->self_s);
    if (last < row->depth)
        add(&opened->callees, &opened->callee_count, row->functions[last + 1], 0, row->self_s);
    return true;
}

static int compare(const void *a, const void *b) {
    const struct neighbour *x = a;
    const struct neighbour *y = b;
    return x->s != y->s ? (x->s > y->s ? -1 : 1) : 0;
}

static const struct bp_column columns[] = {
    BP_LABEL(46),
    BP_COLUMN("calls", 13, bp_cell_some, struct neighbour, calls),
    BP_COLUMN("time", 11, bp_cell_time, struct neighbour, s),
    BP_COLUMN("share", 10, bp_cell_share, struct neighbour, s),
    BP_LAST_COLUMN,
};

static void print_neighbours(const struct bp_page *page, const struct bp_model *model,
                             const char *title, struct neighbour *list, uint32_t count) {
    if (count == 0)
        return;
    qsort(list, count, sizeof(*list), compare);
    bp_columns_names(page, title, columns);
    for (uint32_t i = 0; i < count && i < ROWS; i++)
        bp_columns_row(page, columns, "    ",
                       list[i].function == BP_NO_FUNCTION
                           ? "(unknown)"
                           : bp_function_frame(&model->functions[list[i].function]),
                       &list[i]);
    bp_columns_more_by(page, "    ", count, ROWS, "", "");
}

/* A bucket holds half of an octave: its lower end is 2^(i / 2) ticks. */
static double edge_s(const struct bp_model *model, uint32_t octave) {
    return (double)(1ull << octave) * model->run.tick_s;
}

static void print_range(const struct bp_page *page, const struct bp_model *model, uint32_t octave,
                        uint32_t step, uint64_t count, uint64_t most) {
    char *range = bp_make_text("    %s to %s", BP_TIME(page, edge_s(model, octave)),
                               BP_TIME(page, edge_s(model, octave + step)));
    bp_page_left(page, range, 28);
    bp_page_right(page, BP_COUNT(count), 12);
    fputs(count ? "  " : "", page->out);
    if (count)
        bp_page_bar_alone(page, (double)count / (double)most, BAR, 0);
    fputc('\n', page->out);
    free(range);
}

static uint64_t sum_range(const struct bp_call_times *times, uint32_t octave, uint32_t step) {
    uint64_t sum = 0;
    for (uint32_t i = 2 * octave; i < 2 * (octave + step) && i < BP_BUCKETS; i++)
        sum += times->histogram[i];
    return sum;
}

static void print_histogram(const struct bp_page *page, const struct bp_model *model,
                            uint32_t function) {
    const struct bp_call_times *times = &model->call_times[function];
    uint32_t first = 0;
    uint32_t end = BP_BUCKETS / 2;
    uint32_t step = 1;
    uint64_t most = 1;
    if (times->returned < 2 || model->functions[function].untold)
        return;
    while (first < end && sum_range(times, first, 1) == 0)
        first++;
    while (end > first && sum_range(times, end - 1, 1) == 0)
        end--;
    while ((end - first + step - 1) / step > MOST_RANGES)
        step++;
    for (uint32_t i = first; i < end; i += step)
        most = sum_range(times, i, step) > most ? sum_range(times, i, step) : most;
    bp_page_heading(page, "  how long a call took");
    fputc('\n', page->out);
    for (uint32_t i = first; i < end; i += step)
        print_range(page, model, i, step, sum_range(times, i, step), most);
}

static void print_tasks(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_function *function) {
    if (function->tasks)
        fprintf(page->out, "  in %u of %u tasks, %s of self time in each\n", function->tasks,
                model->tasks.summary.count, BP_TIME(page, function->task_s / function->tasks));
}

void bp_report_open_function(const struct bp_page *page, const struct bp_model *model,
                             uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    struct opened opened = {.model = model, .function = number};
    struct bp_page table = *page;
    bool exact = bp_function_used(function);
    if (exact)
        add_contexts(&opened);
    else
        bp_walk_stacks(model, BP_ALL_THREADS, add_stack, &opened);
    table.whole = exact ? function->total_s : opened.sampled_s;
    fputc('\n', page->out);
    bp_page_heading(page, function->label);
    if (function->file[0])
        fprintf(page->out, ", %s:%u", function->file, function->line);
    fputs(exact ? "\n" : ", CPU time by samples\n", page->out);
    print_neighbours(&table, model, "  called from", opened.callers, opened.caller_count);
    print_neighbours(&table, model, "  calls", opened.callees, opened.callee_count);
    print_histogram(page, model, number);
    print_tasks(page, model, function);
    bp_report_lines_of(page, model, number);
    free(opened.callers);
    free(opened.callees);
}
