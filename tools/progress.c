/* SPDX-License-Identifier: MIT
 *
 * Looks at the chunks of tasks and strings only, through a mapping of the file. An item that the
 * target has announced stays where it is, and its `end` is written last.
 */
#include "tools/progress.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/format.h"
#include "tools/error.h"
#include "tools/memory.h"

#define OPEN_TASKS                                                                                 \
    64 /* of a process at once; one that is open longer than so many others is lost */

struct file {
    char name[64];
    uint32_t next;             /* the first task that was not looked at */
    uint32_t open[OPEN_TASKS]; /* those that had not ended */
    uint32_t open_count;
};

struct bp_progress {
    const char *directory;
    uint64_t ticks_per_s;
    struct file *files;
    size_t count;
    unsigned long ended;
};

/* A profile as it is now. */
struct view {
    const char *data;
    uint64_t size;
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
    free(progress);
}

static bool view_open(struct view *view, const char *directory, const char *name) {
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *data = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= BP_PAGE)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED)
        return false;
    *view = (struct view){data, (uint64_t)status.st_size};
    return true;
}

static void view_close(struct view *view) {
    munmap((void *)view->data, view->size);
}

/* The item of a kind and index, and how many bytes of such items follow it in its chunk. */
static const void *view_find(const struct view *view, uint16_t kind, uint32_t index,
                             uint64_t *bytes) {
    for (uint64_t at = BP_PAGE; at + sizeof(struct bp_chunk) <= view->size;) {
        const struct bp_chunk *chunk = (const struct bp_chunk *)(view->data + at);
        uint32_t count = __atomic_load_n(&chunk->count, __ATOMIC_ACQUIRE);
        if (chunk->magic != BP_CHUNK_MAGIC || chunk->size < BP_PAGE ||
            chunk->size > view->size - at)
            return NULL;
        uint64_t room = chunk->size - sizeof(*chunk);
        if (chunk->kind == kind && chunk->thread == BP_NO_THREAD && index >= chunk->first &&
            index - chunk->first < count && (uint64_t)count * chunk->item_size <= room) {
            uint64_t offset = (uint64_t)(index - chunk->first) * chunk->item_size;
            *bytes = (uint64_t)count * chunk->item_size - offset;
            return (const char *)(chunk + 1) + offset;
        }
        at += chunk->size;
    }
    return NULL;
}

static const struct bp_task *find_task(const struct view *view, uint32_t index) {
    uint64_t bytes;
    const struct bp_task *task = view_find(view, BP_TASKS, index, &bytes);
    return task && bytes >= sizeof(*task) ? task : NULL;
}

static void copy_string(const struct view *view, uint32_t index, char *to, size_t size) {
    uint64_t bytes = 0;
    const char *text = index ? view_find(view, BP_STRINGS, index, &bytes) : NULL;
    size_t i = 0;
    for (; text && i + 1 < size && i < bytes && text[i]; i++)
        to[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    to[i] = 0;
}

/* A task within a task is a part of it. */
static bool is_shown(const struct view *view, const struct bp_task *task) {
    if (task->flags & BP_TASK_PHASE)
        return false;
    for (unsigned depth = 0; task->parent != BP_NO_TASK && depth < OPEN_TASKS; depth++) {
        task = find_task(view, task->parent);
        if (!task || !(task->flags & BP_TASK_PHASE))
            return false;
    }
    return true;
}

static void print_task(struct bp_progress *progress, const struct view *view,
                       const struct bp_task *task, uint64_t end) {
    char id[80], length[32];
    uint64_t bytes;
    copy_string(view, task->id, id, sizeof(id));
    const struct bp_func *func =
        id[0] || task->func == BP_NO_FUNC ? NULL : view_find(view, BP_FUNCS, task->func, &bytes);
    if (func)
        copy_string(view, func->name, id, sizeof(id));
    double seconds = (double)(end - task->start) / (double)progress->ticks_per_s;
    if (seconds < 10)
        snprintf(length, sizeof(length), "%.*f ms", seconds < 0.01 ? 2 : 0, seconds * 1e3);
    else
        snprintf(length, sizeof(length), "%.1f s", seconds);
    fprintf(stderr, "[%lu] %s %s%s\n", ++progress->ended, id[0] ? id : "task", length,
            task->flags & BP_TASK_FAILED ? " failed" : "");
}

/* True if the task has ended; then it is printed. */
static bool look(struct bp_progress *progress, const struct view *view, uint32_t index) {
    const struct bp_task *task = find_task(view, index);
    uint64_t end = task ? __atomic_load_n(&task->end, __ATOMIC_ACQUIRE) : 0;
    if (end && is_shown(view, task))
        print_task(progress, view, task, end);
    return !task || end;
}

static void poll_file(struct bp_progress *progress, struct file *file) {
    struct view view;
    uint32_t kept = 0;
    if (!view_open(&view, progress->directory, file->name))
        return;
    for (uint32_t i = 0; i < file->open_count; i++)
        if (!look(progress, &view, file->open[i]))
            file->open[kept++] = file->open[i];
    file->open_count = kept;
    for (; find_task(&view, file->next); file->next++)
        if (!look(progress, &view, file->next) && file->open_count < OPEN_TASKS)
            file->open[file->open_count++] = file->next;
    view_close(&view);
}

static struct file *find_file(struct bp_progress *progress, const char *name) {
    for (size_t i = 0; i < progress->count; i++)
        if (strcmp(progress->files[i].name, name) == 0)
            return &progress->files[i];
    struct file *file = BP_APPEND(progress->files, progress->count);
    snprintf(file->name, sizeof(file->name), "%s", name);
    return file;
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
}
