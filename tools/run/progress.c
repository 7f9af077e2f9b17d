/* SPDX-License-Identifier: MIT
 *
 * Functions whose calls may still turn out to be parts of others are counted each on its own.
 */
#include "tools/run/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/live/tasks.h"

/* Tasks of a function that have ended; ranges have none and are one row. */
struct row {
    char function[BP_WATCHED_TEXT];
    unsigned long ended;
};

struct bp_progress {
    struct bp_task_watch *watch;
    uint64_t ticks_per_s;
    struct row *rows;
    size_t row_count;
};

struct bp_progress *bp_progress_new(const char *directory, uint64_t ticks_per_s) {
    struct bp_progress *progress = bp_alloc(1, sizeof(*progress));
    progress->watch = bp_task_watch_new(directory);
    progress->ticks_per_s = ticks_per_s ? ticks_per_s : 1;
    return progress;
}

void bp_progress_free(struct bp_progress *progress) {
    if (!progress)
        return;
    bp_task_watch_free(progress->watch);
    free(progress->rows);
    free(progress);
}

static struct row *find_row(struct bp_progress *progress, const char *function) {
    for (size_t i = 0; i < progress->row_count; i++)
        if (strcmp(progress->rows[i].function, function) == 0)
            return &progress->rows[i];
    struct row *row = BP_APPEND(progress->rows, progress->row_count);
    snprintf(row->function, sizeof(row->function), "%s", function);
    return row;
}

/* With the function where there are several: each has its own numbers. */
static void print_task(struct bp_progress *progress, const struct bp_watched_task *task) {
    char length[32];
    struct row *row = find_row(progress, task->function);
    double seconds = (double)(task->end - task->start) / (double)progress->ticks_per_s;
    bool named = task->function[0] && (progress->row_count > 1 || !task->id[0]);
    if (seconds < 10)
        snprintf(length, sizeof(length), "%.*f ms", seconds < 0.01 ? 2 : 0, seconds * 1e3);
    else
        snprintf(length, sizeof(length), "%.1f s", seconds);
    fprintf(stderr, "[%lu] %s%s%s %s%s\n", ++row->ended, named ? task->function : "",
            named && task->id[0] ? " " : "", task->id[0] || named ? task->id : "task", length,
            task->failed ? " failed" : "");
}

/* All rows are made before the first line is printed: whether lines have the function's name
 * depends on how many there are. */
void bp_progress_poll(struct bp_progress *progress) {
    const struct bp_watched_task *task = NULL;
    bp_task_watch_poll(progress->watch);
    while ((task = bp_task_watch_next(progress->watch, task)) != NULL)
        find_row(progress, task->function);
    while ((task = bp_task_watch_next(progress->watch, task)) != NULL)
        print_task(progress, task);
}
