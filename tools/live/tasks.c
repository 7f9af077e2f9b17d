/* SPDX-License-Identifier: MIT
 *
 * Looks at the chunks of tasks and strings only. An item that the target has announced stays where
 * it is, and its `end` is written last.
 *
 * What the report counts is known when the run is over; while it goes on, a call is a part of a
 * task if that has the same id, runs in another thread of the same or of an ancestor's process, and
 * began earlier. Functions whose calls may still turn out to be parts are counted each on its own.
 */
#include "tools/live/tasks.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/live.h"
#include "tools/base/memory.h"

#define MOST_DEPTH 64 /* of items within items */

struct file {
    char name[64];
    int32_t pid;
    int32_t parent_pid;
    uint32_t next; /* the first item that was not looked at */
};

struct bp_task_watch {
    const char *directory;
    struct file *files;
    size_t count;
    struct bp_watched_task *items;
    size_t item_count;
    struct bp_task_counts counts;
};

struct bp_task_watch *bp_task_watch_new(const char *directory) {
    struct bp_task_watch *watch = bp_alloc(1, sizeof(*watch));
    watch->directory = directory;
    return watch;
}

void bp_task_watch_free(struct bp_task_watch *watch) {
    if (!watch)
        return;
    free(watch->files);
    free(watch->items);
    free(watch);
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

static void add_item(struct bp_task_watch *watch, const struct bp_live *live, size_t file,
                     const struct bp_task *task) {
    uint64_t bytes;
    struct bp_watched_task *item = BP_APPEND(watch->items, watch->item_count);
    *item = (struct bp_watched_task){.file = file,
                                     .index = watch->files[file].next,
                                     .thread = task->thread,
                                     .start = task->start};
    copy_string(live, task->id, item->id, sizeof(item->id));
    const struct bp_func *func =
        task->func == BP_NO_FUNC ? NULL : bp_live_find(live, BP_FUNCS, task->func, &bytes);
    if (func && bytes >= sizeof(*func))
        copy_string(live, func->name, item->function, sizeof(item->function));
}

static void look(struct bp_watched_task *item, const struct bp_live *live) {
    const struct bp_task *task = find_task(live, item->index);
    item->end = task ? __atomic_load_n(&task->end, __ATOMIC_ACQUIRE) : 0;
    item->failed = item->end && task->flags & BP_TASK_FAILED;
}

static void poll_file(struct bp_task_watch *watch, size_t number) {
    struct file *file = &watch->files[number];
    const struct bp_task *task;
    struct bp_live live;
    if (!open_file(&live, watch->directory, file->name))
        return;
    file->pid = ((const struct bp_header *)live.data)->pid;
    file->parent_pid = ((const struct bp_header *)live.data)->parent_pid;
    for (; (task = find_task(&live, file->next)); file->next++)
        if (is_shown(&live, task))
            add_item(watch, &live, number, task);
    for (size_t i = 0; i < watch->item_count; i++)
        if (watch->items[i].file == number && !watch->items[i].end)
            look(&watch->items[i], &live);
    bp_live_close(&live);
}

/* Whether a process is another, or was started by it or by one that it started. */
static bool descends(const struct bp_task_watch *watch, size_t file, size_t from) {
    int32_t pid = watch->files[file].pid;
    for (size_t depth = 0; depth <= watch->count; depth++) {
        size_t i = 0;
        if (pid == watch->files[from].pid)
            return true;
        while (i < watch->count && watch->files[i].pid != pid)
            i++;
        if (i == watch->count)
            return false;
        pid = watch->files[i].parent_pid;
    }
    return false;
}

static bool is_part(const struct bp_task_watch *watch, const struct bp_watched_task *part) {
    for (size_t i = 0; part->id[0] && i < watch->item_count; i++) {
        const struct bp_watched_task *item = &watch->items[i];
        bool same_thread = item->file == part->file && item->thread == part->thread;
        if (!same_thread && item->start < part->start && (!item->end || item->end >= part->end) &&
            strcmp(item->id, part->id) == 0 && descends(watch, part->file, item->file))
            return true;
    }
    return false;
}

static bool ends_now(const struct bp_watched_task *item) {
    return item->end && !item->old && !item->part;
}

const struct bp_watched_task *bp_task_watch_next(const struct bp_task_watch *watch,
                                                 const struct bp_watched_task *task) {
    for (size_t i = task ? (size_t)(task - watch->items) + 1 : 0; i < watch->item_count; i++)
        if (ends_now(&watch->items[i]))
            return &watch->items[i];
    return NULL;
}

static void count_items(struct bp_task_watch *watch) {
    watch->counts.running = 0;
    for (size_t i = 0; i < watch->item_count; i++) {
        struct bp_watched_task *task = &watch->items[i];
        task->part = !task->old && is_part(watch, task);
        watch->counts.running += !task->end && !task->part;
        watch->counts.ended += ends_now(task);
        watch->counts.failed += ends_now(task) && task->failed;
    }
}

struct bp_task_counts bp_task_watch_counts(const struct bp_task_watch *watch) {
    return watch->counts;
}

/* Forgets those that ended in the poll before. */
static void forget_old(struct bp_task_watch *watch) {
    size_t kept = 0;
    for (size_t i = 0; i < watch->item_count; i++) {
        if (watch->items[i].old)
            continue;
        watch->items[kept] = watch->items[i];
        watch->items[kept].old = watch->items[kept].end != 0;
        kept++;
    }
    watch->item_count = kept;
}

static size_t find_file(struct bp_task_watch *watch, const char *name) {
    for (size_t i = 0; i < watch->count; i++)
        if (strcmp(watch->files[i].name, name) == 0)
            return i;
    struct file *file = BP_APPEND(watch->files, watch->count);
    snprintf(file->name, sizeof(file->name), "%s", name);
    return watch->count - 1;
}

void bp_task_watch_poll(struct bp_task_watch *watch) {
    forget_old(watch);
    DIR *directory = opendir(watch->directory);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, "battprof.", 9) == 0 &&
            length < sizeof(((struct file *)0)->name) &&
            strcmp(entry->d_name + length - 3, ".bp") == 0)
            poll_file(watch, find_file(watch, entry->d_name));
    }
    if (directory)
        closedir(directory);
    count_items(watch);
}
