/* SPDX-License-Identifier: MIT
 *
 * Looks at the chunks of tasks and strings only. An item that the target has announced stays where
 * it is, and its `end` is written last.
 *
 * What the report counts is known when the run is over; while it goes on, a call is a part of a
 * task if that has the same id, runs in another thread of the same or of an ancestor's process, and
 * began earlier. Functions whose calls may still turn out to be parts are counted each on its own.
 */
#include "tools/run/progress.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/live.h"
#include "tools/base/error.h"
#include "tools/base/memory.h"

#define MOST_DEPTH 64 /* of items within items */
#define TEXT 80

struct file {
    char name[64];
    int32_t pid;
    int32_t parent_pid;
    uint32_t next; /* the first item that was not looked at */
};

/* A task that runs, or ended in this poll or the one before: its parts are in other files, which
 * may have been read before they ended. */
struct item {
    size_t file;
    uint32_t index;
    uint32_t thread;
    uint64_t start;
    uint64_t end; /* 0: it runs */
    bool old;     /* ended before this poll */
    bool failed;
    bool part; /* of another task */
    char id[TEXT];
    char function[TEXT];
};

/* Tasks of a function that have ended; ranges have none and are one row. */
struct row {
    char function[TEXT];
    unsigned long ended;
};

struct bp_progress {
    const char *directory;
    uint64_t ticks_per_s;
    struct file *files;
    size_t count;
    struct item *items;
    size_t item_count;
    struct row *rows;
    size_t row_count;
};

struct bp_progress *bp_progress_new(const char *directory, uint64_t ticks_per_s) {
    struct bp_progress *progress = bp_alloc(1, sizeof(*progress));
    progress->directory = directory;
    progress->ticks_per_s = ticks_per_s ? ticks_per_s : 1;
    return progress;
}

void bp_progress_free(struct bp_progress *progress) {
    if (!progress)
        return;
    free(progress->files);
    free(progress->items);
    free(progress->rows);
    free(progress);
}

static bool open_file(struct bp_live *live, const char *directory, const char *name) {
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path) &&
           bp_live_open(live, path, 0) == 0;
}

static const struct bp_task *find_task(const struct bp_live *live, uint32_t index) {
    uint64_t bytes;
    const struct bp_task *task = bp_live_find(live, BP_TASKS, index, &bytes);
    return task && bytes >= sizeof(*task) ? task : NULL;
}

static void copy_string(const struct bp_live *live, uint32_t index, char *to, size_t size) {
    uint64_t bytes = 0;
    const char *text = index ? bp_live_find(live, BP_STRINGS, index, &bytes) : NULL;
    size_t i = 0;
    for (; text && i + 1 < size && i < bytes && text[i]; i++)
        to[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    to[i] = 0;
}

/* A task within a task is a part of it. */
static bool is_shown(const struct bp_live *live, const struct bp_task *task) {
    if (task->flags & BP_TASK_PHASE)
        return false;
    for (unsigned depth = 0; task->parent != BP_NO_TASK && depth < MOST_DEPTH; depth++) {
        task = find_task(live, task->parent);
        if (!task || !(task->flags & BP_TASK_PHASE))
            return false;
    }
    return true;
}

static void add_item(struct bp_progress *progress, const struct bp_live *live, size_t file,
                     const struct bp_task *task) {
    uint64_t bytes;
    struct item *item = BP_APPEND(progress->items, progress->item_count);
    *item = (struct item){.file = file,
                          .index = progress->files[file].next,
                          .thread = task->thread,
                          .start = task->start};
    copy_string(live, task->id, item->id, sizeof(item->id));
    const struct bp_func *func =
        task->func == BP_NO_FUNC ? NULL : bp_live_find(live, BP_FUNCS, task->func, &bytes);
    if (func && bytes >= sizeof(*func))
        copy_string(live, func->name, item->function, sizeof(item->function));
}

static void look(struct item *item, const struct bp_live *live) {
    const struct bp_task *task = find_task(live, item->index);
    item->end = task ? __atomic_load_n(&task->end, __ATOMIC_ACQUIRE) : 0;
    item->failed = item->end && task->flags & BP_TASK_FAILED;
}

static void poll_file(struct bp_progress *progress, size_t number) {
    struct file *file = &progress->files[number];
    const struct bp_task *task;
    struct bp_live live;
    if (!open_file(&live, progress->directory, file->name))
        return;
    file->pid = ((const struct bp_header *)live.data)->pid;
    file->parent_pid = ((const struct bp_header *)live.data)->parent_pid;
    for (; (task = find_task(&live, file->next)); file->next++)
        if (is_shown(&live, task))
            add_item(progress, &live, number, task);
    for (size_t i = 0; i < progress->item_count; i++)
        if (progress->items[i].file == number && !progress->items[i].end)
            look(&progress->items[i], &live);
    bp_live_close(&live);
}

/* Whether a process is another, or was started by it or by one that it started. */
static bool descends(const struct bp_progress *progress, size_t file, size_t from) {
    int32_t pid = progress->files[file].pid;
    for (size_t depth = 0; depth <= progress->count; depth++) {
        size_t i = 0;
        if (pid == progress->files[from].pid)
            return true;
        while (i < progress->count && progress->files[i].pid != pid)
            i++;
        if (i == progress->count)
            return false;
        pid = progress->files[i].parent_pid;
    }
    return false;
}

static bool is_part(const struct bp_progress *progress, const struct item *part) {
    for (size_t i = 0; part->id[0] && i < progress->item_count; i++) {
        const struct item *item = &progress->items[i];
        bool same_thread = item->file == part->file && item->thread == part->thread;
        if (!same_thread && item->start < part->start && (!item->end || item->end >= part->end) &&
            strcmp(item->id, part->id) == 0 && descends(progress, part->file, item->file))
            return true;
    }
    return false;
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
static void print_item(struct bp_progress *progress, const struct item *item) {
    char length[32];
    struct row *row = find_row(progress, item->function);
    double seconds = (double)(item->end - item->start) / (double)progress->ticks_per_s;
    bool named = item->function[0] && (progress->row_count > 1 || !item->id[0]);
    if (seconds < 10)
        snprintf(length, sizeof(length), "%.*f ms", seconds < 0.01 ? 2 : 0, seconds * 1e3);
    else
        snprintf(length, sizeof(length), "%.1f s", seconds);
    fprintf(stderr, "[%lu] %s%s%s %s%s\n", ++row->ended, named ? item->function : "",
            named && item->id[0] ? " " : "", item->id[0] || named ? item->id : "task", length,
            item->failed ? " failed" : "");
}

static bool ends_now(const struct item *item) {
    return item->end && !item->old && !item->part;
}

/* All rows are made before the first line is printed: whether lines have the function's name
 * depends on how many there are. */
static void print_ended(struct bp_progress *progress) {
    for (size_t i = 0; i < progress->item_count; i++) {
        struct item *item = &progress->items[i];
        item->part = item->end && !item->old && is_part(progress, item);
        if (ends_now(item))
            find_row(progress, item->function);
    }
    for (size_t i = 0; i < progress->item_count; i++)
        if (ends_now(&progress->items[i]))
            print_item(progress, &progress->items[i]);
}

/* Forgets those that ended in the poll before. */
static void forget_old(struct bp_progress *progress) {
    size_t kept = 0;
    for (size_t i = 0; i < progress->item_count; i++) {
        if (progress->items[i].old)
            continue;
        progress->items[kept] = progress->items[i];
        progress->items[kept].old = progress->items[kept].end != 0;
        kept++;
    }
    progress->item_count = kept;
}

static size_t find_file(struct bp_progress *progress, const char *name) {
    for (size_t i = 0; i < progress->count; i++)
        if (strcmp(progress->files[i].name, name) == 0)
            return i;
    struct file *file = BP_APPEND(progress->files, progress->count);
    snprintf(file->name, sizeof(file->name), "%s", name);
    return progress->count - 1;
}

void bp_progress_poll(struct bp_progress *progress) {
    DIR *directory = opendir(progress->directory);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, "battprof.", 9) == 0 &&
            length < sizeof(((struct file *)0)->name) &&
            strcmp(entry->d_name + length - 3, ".bp") == 0)
            poll_file(progress, find_file(progress, entry->d_name));
    }
    if (directory)
        closedir(directory);
    print_ended(progress);
    forget_old(progress);
}
