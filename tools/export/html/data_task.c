/* SPDX-License-Identifier: MIT
 *
 * What functions took in single tasks. Function by function: tasks then follow each other almost
 * without gaps. Task by task the same numbers were twice as long, a sixth of a page of 400 tasks.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/export/html/data.h"

struct entry {
    uint32_t function;
    uint32_t task; /* in the order of the JSON report's tasks.list */
    double self_s;
};

struct entries {
    struct entry *list;
    uint32_t count;
};

static void collect(struct entries *entries, const struct bp_model *model) {
    uint32_t task = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *from = &model->tasks.list[i];
        if (!bp_task_counts(from))
            continue;
        for (uint32_t k = 0; k < from->function_count; k++) {
            const struct bp_task_function *part = &model->tasks.functions[from->first_function + k];
            *BP_APPEND(entries->list, entries->count) =
                (struct entry){part->function, task, part->self_s};
        }
        task++;
    }
}

static int by_function(const void *left, const void *right) {
    const struct entry *a = left;
    const struct entry *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

/* Each function's number, and in how many tasks it was. */
static void write_functions(const struct entries *entries, struct bp_html_numbers *numbers,
                            FILE *out) {
    fputs("\"tasks\":{\"function\":[", out);
    for (uint32_t i = 0, end; i < entries->count; i = end) {
        for (end = i + 1; end < entries->count; end++)
            if (entries->list[end].function != entries->list[i].function)
                break;
        fprintf(out, "%s%u,%u", i ? "," : "", bp_html_number(numbers, entries->list[i].function),
                end - i);
    }
}

/* How far each task is from the function's last one, and the time in it, in microseconds. */
static void write_entries(const struct entries *entries, FILE *out) {
    fputs("],\"task\":[", out);
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->list[i];
        bool again = i > 0 && entry[-1].function == entry->function;
        fprintf(out, "%s%u", i ? "," : "", entry->task - (again ? entry[-1].task : 0));
    }
    fputs("],\"self\":[", out);
    for (uint32_t i = 0; i < entries->count; i++)
        fprintf(out, "%s%.0f", i ? "," : "", fmax(0, entries->list[i].self_s) * 1e6);
    fputs("]},\n", out);
}

void bp_html_tasks(const struct bp_model *model, struct bp_html_numbers *numbers, FILE *out) {
    struct entries entries = {0};
    collect(&entries, model);
    if (entries.count)
        qsort(entries.list, entries.count, sizeof(entries.list[0]), by_function);
    write_functions(&entries, numbers, out);
    write_entries(&entries, out);
    free(entries.list);
}
