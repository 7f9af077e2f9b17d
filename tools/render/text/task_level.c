/* SPDX-License-Identifier: MIT
 *
 * What is no task beside those that are: calls within tasks, of their own thread or of others that
 * work for them, and calls that only wait while tasks run.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/render/text/task.h"

static enum bp_task_level level_of(const struct bp_model_task *task) {
    if (task->outer)
        return BP_LEVEL_OUTER;
    return task->joined ? BP_LEVEL_JOINED : BP_LEVEL_INNER;
}

static struct bp_task_calls *find(struct bp_task_calls *list, uint32_t count,
                                  const struct bp_model_task *task) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i].level == level_of(task) && strcmp(list[i].name, task->name) == 0)
            return &list[i];
    return NULL;
}

static int compare(const void *a, const void *b) {
    const struct bp_task_calls *x = a;
    const struct bp_task_calls *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->s > y->s ? -1 : x->s < y->s;
}

struct bp_task_calls *bp_task_levels(const struct bp_model *model, uint32_t *count) {
    struct bp_task_calls *list = NULL;
    *count = 0;
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (bp_task_counts(task) || task->dropped)
            continue;
        struct bp_task_calls *calls = find(list, *count, task);
        if (!calls) {
            calls = BP_APPEND(list, *count);
            calls->name = task->name;
            calls->level = level_of(task);
        }
        calls->count++;
        calls->s += task->duration_s;
    }
    if (*count)
        qsort(list, *count, sizeof(*list), compare);
    return list;
}

const char *bp_task_level_name(enum bp_task_level level) {
    static const char *const names[] = {"outer", "joined", "inner"};
    return names[level];
}

void bp_report_task_levels(const struct bp_page *page, const struct bp_model *model) {
    static const char *const texts[] = {
        "waited while the tasks ran",
        "in other threads or processes, in the rows of the tasks that waited for them",
        "within tasks",
    };
    uint32_t count;
    struct bp_task_calls *list = bp_task_levels(model, &count);
    for (uint32_t i = 0; i < count && i < BP_LEVELS_SHOWN; i++) {
        bp_page_say(page, 4, "  %s: %s, %s call%s, %s together: %s",
                    list[i].level == BP_LEVEL_OUTER ? "outer" : "inner", list[i].name,
                    BP_COUNT(list[i].count), list[i].count == 1 ? "" : "s",
                    BP_TIME(page, list[i].s), texts[list[i].level]);
    }
    bp_columns_more_by(page, "  ", count, BP_LEVELS_SHOWN, " functions within tasks", "");
    free(list);
}
