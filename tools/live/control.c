/* SPDX-License-Identifier: MIT
 *
 * In order: the files that are meant are found and mapped, the word is written into each that a
 * process writes, and those who have not answered in time are named. Marks come last.
 */
#include "tools/live/control.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "profile/live.h"
#include "profile/mark.h"
#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/paths.h"
#include "tools/base/runs.h"
#include "tools/base/text.h"
#include "tools/live/find.h"

#define OLDEST_MINOR 10  /* of the format: before it processes know no such word */
#define PATIENCE_NS 3e9  /* for all processes together */
#define WAIT_NS 20000000 /* at a time: a process may end meanwhile */
#define MOST_NAMED 8     /* processes in a message */

struct target {
    char *path;
    struct bp_live live;
    struct bp_header *header;
    uint64_t cpu; /* clock ticks that the process had used when it was asked */
    bool asked;
    bool done;
};

struct targets {
    struct target *list;
    uint32_t count;
    uint32_t too_old;
    uint32_t refused; /* files that may not be written */
    int reason;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_process(const struct bp_header *header) {
    return !(header->flags & BP_SESSION);
}

/* 0, or -errno. */
static int open_target(struct target *target, const char *path) {
    int error = bp_live_open(&target->live, path, 1);
    if (error)
        return error;
    target->header = (struct bp_header *)target->live.data;
    if (memcmp(target->header->magic, BP_MAGIC, sizeof target->header->magic) != 0 ||
        target->header->major != BP_MAJOR)
        error = -EPROTO;
    if (error)
        bp_live_close(&target->live);
    else
        target->path = bp_copy_text(path);
    return error;
}

static bool runs(const struct bp_header *header) {
    return header->state == BP_RUNNING && (!is_process(header) || bp_runs_is_alive(header));
}

/* A process that is not being recorded any more needs no word. */
static void add_target(struct targets *targets, const char *path) {
    struct target target = {0};
    for (uint32_t i = 0; i < targets->count; i++)
        if (strcmp(targets->list[i].path, path) == 0)
            return;
    int error = open_target(&target, path);
    if (error == 0 && runs(target.header) && target.header->minor >= OLDEST_MINOR) {
        *BP_APPEND(targets->list, targets->count) = target;
        return;
    }
    targets->refused += error == -EACCES || error == -EPERM || error == -EROFS;
    targets->reason = error ? -error : targets->reason;
    if (error)
        return;
    targets->too_old += runs(target.header);
    bp_live_close(&target.live);
    free(target.path);
}

/* The run's own file first: programs that begin now find the word there. */
static void add_directory(struct targets *targets, const char *directory) {
    struct bp_paths paths = {0};
    char *session = bp_make_text("%s/" BP_SESSION_FILE, directory);
    char *pattern = bp_make_text("%s/battprof.*.bp", directory);
    if (access(session, F_OK) == 0)
        add_target(targets, session);
    bp_paths_add(&paths, pattern);
    for (uint32_t i = 0; i < paths.count; i++)
        add_target(targets, paths.path[i]);
    bp_paths_fini(&paths);
    free(pattern);
    free(session);
}

static void close_targets(struct targets *targets) {
    for (uint32_t i = 0; i < targets->count; i++) {
        bp_live_close(&targets->list[i].live);
        free(targets->list[i].path);
    }
    free(targets->list);
}

static char *directory_of(const char *path) {
    char *directory = bp_copy_text(path);
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = 0;
    else
        strcpy(directory, ".");
    return directory;
}

/* The directory that is meant, a new text; NULL if `path` is the profile of one process. */
static char *directory_meant(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return bp_copy_text(path);
    return strcmp(bp_base_name(path), BP_SESSION_FILE) == 0 ? directory_of(path) : NULL;
}

static uint64_t cpu_of(const struct bp_header *header) {
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)header->pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    const char *at = length ? strrchr(text, ')') : NULL;
    if (at)
        sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    return user + system;
}

static void ask(struct target *target, bool paused) {
    uint32_t wanted = __atomic_load_n(&target->header->wanted, __ATOMIC_ACQUIRE), next;
    if (target->asked)
        return;
    target->asked = true;
    target->cpu = cpu_of(target->header);
    do {
        if ((wanted & BP_WANTED_PAUSED) == (paused ? BP_WANTED_PAUSED : 0))
            return;
        next = ((wanted & ~BP_WANTED_PAUSED) + BP_WANTED_STEP) | (paused ? BP_WANTED_PAUSED : 0);
    } while (!__atomic_compare_exchange_n(&target->header->wanted, &wanted, next, 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    if (!is_process(target->header))
        target->header->obeyed = next;
}

/* Whether it has done what it was asked for, waiting a little. A process that is gone has. */
static bool obeys(struct target *target) {
    struct bp_header *header = target->header;
    struct timespec time = {0, WAIT_NS};
    uint32_t obeyed = __atomic_load_n(&header->obeyed, __ATOMIC_ACQUIRE);
    if (obeyed == __atomic_load_n(&header->wanted, __ATOMIC_ACQUIRE) || !runs(header))
        return true;
    syscall(SYS_futex, &header->obeyed, FUTEX_WAIT, obeyed, &time, NULL, 0);
    return __atomic_load_n(&header->obeyed, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&header->wanted, __ATOMIC_ACQUIRE);
}

static bool wait_for(struct targets *targets, uint64_t until) {
    for (uint32_t i = 0; i < targets->count; i++)
        while (!(targets->list[i].done = targets->list[i].done || obeys(&targets->list[i])) &&
               now_ns() < until)
            ;
    for (uint32_t i = 0; i < targets->count; i++)
        if (!targets->list[i].done)
            return false;
    return true;
}

static void ask_all(struct targets *targets, const char *directory, bool paused) {
    uint64_t until = now_ns() + (uint64_t)PATIENCE_NS;
    uint32_t before;
    do { /* processes may have begun meanwhile */
        before = targets->count;
        for (uint32_t i = 0; i < targets->count; i++)
            ask(&targets->list[i], paused);
        wait_for(targets, until);
        if (directory)
            add_directory(targets, directory);
    } while (targets->count > before);
}

static const char *program_of(const struct bp_header *header) {
    return bp_base_name(header->executable);
}

/* One that has used no CPU has not been able to notice. */
static uint32_t report_silent(const struct targets *targets, bool paused, FILE *out) {
    uint32_t busy = 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->list[i];
        if (target->done)
            continue;
        bool idle = cpu_of(target->header) <= target->cpu + 1;
        busy += !idle;
        fprintf(out,
                idle ? "process %d (%s) is waiting: it is %s as soon as it runs\n"
                     : "process %d (%s) has not answered: it is %s as soon as one of its threads "
                       "is sampled, so never where sampling is off\n",
                (int)target->header->pid, program_of(target->header),
                paused ? "paused" : "recorded");
    }
    return busy;
}

static void report_done(const struct targets *targets, bool paused, FILE *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < targets->count; i++)
        if (targets->list[i].done && is_process(targets->list[i].header) && count++ < MOST_NAMED)
            fprintf(out, "process %d (%s) is %s\n", (int)targets->list[i].header->pid,
                    program_of(targets->list[i].header), paused ? "paused" : "being recorded");
    if (count > MOST_NAMED)
        fprintf(out, "and %u more\n", count - MOST_NAMED);
}

static int set_nobody(const struct targets *targets, const char *path, struct bp_error *error) {
    if (targets->too_old)
        return bp_error_set(error, BP_FAILED,
                            "%s: written by an older libbattprof.so, which cannot be paused", path);
    if (targets->refused)
        return bp_error_set(error, BP_FAILED, "%s: %s; it belongs to another user", path,
                            strerror(targets->reason));
    return bp_error_set(error, BP_FAILED, "%s: none of its processes runs any more", path);
}

static uint32_t count_processes(const struct targets *targets) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < targets->count; i++)
        count += is_process(targets->list[i].header);
    return count;
}

int bp_control_switch(const char *word, bool paused, FILE *out, struct bp_error *error) {
    char *path = bp_find_run(word, error);
    if (!path)
        return -1;
    char *directory = directory_meant(path);
    struct targets targets = {0};
    if (directory)
        add_directory(&targets, directory);
    else
        add_target(&targets, path);
    int result = 0;
    if (count_processes(&targets) == 0) {
        result = set_nobody(&targets, path, error);
    } else {
        ask_all(&targets, directory, paused);
        report_done(&targets, paused, out);
        if (report_silent(&targets, paused, out))
            result = bp_error_set(error, BP_FAILED, "not all processes have answered");
    }
    close_targets(&targets);
    free(directory);
    free(path);
    return result;
}

/* Where the marks of the run are: its file with the wall page. A new text, or NULL. */
static char *find_root(const char *directory, const char *path) {
    struct bp_paths paths = {0};
    struct target target = {0};
    char *root = NULL;
    if (!directory) {
        if (open_target(&target, path))
            return NULL;
        root = bp_copy_text(target.header->tree[0] ? target.header->tree : path);
        bp_live_close(&target.live);
        free(target.path);
        return root;
    }
    root = bp_make_text("%s/" BP_SESSION_FILE, directory);
    if (access(root, F_OK) == 0)
        return root;
    free(root);
    root = NULL;
    char *pattern = bp_make_text("%s/battprof.*.bp", directory);
    bp_paths_add(&paths, pattern);
    for (uint32_t i = 0; i < paths.count && !root; i++)
        if (open_target(&target, paths.path[i]) == 0) {
            if (target.header->flags & BP_HAS_TREE && runs(target.header))
                root = bp_copy_text(paths.path[i]);
            bp_live_close(&target.live);
            free(target.path);
        }
    bp_paths_fini(&paths);
    free(pattern);
    return root;
}

static int put(struct target *root, int32_t pid, const char *text, struct bp_error *error) {
    struct bp_chunk *chunk = NULL;
    while ((chunk = bp_live_next(&root->live, chunk)) && chunk->kind != BP_MARKS)
        ;
    if (!chunk || chunk->item_size != sizeof(struct bp_run_mark) ||
        chunk->size < sizeof *chunk + (uint64_t)chunk->capacity * sizeof(struct bp_run_mark))
        return bp_error_set(error, BP_FAILED, "%s: has no room for marks", root->path);
    if (!runs(root->header))
        return bp_error_set(error, BP_FAILED, "%s: the run has ended", root->path);
    if (!bp_mark_put(chunk, bp_clock_now(root->header->clock), pid, BP_MARK_TEXT, text))
        return bp_error_set(error, BP_FAILED, "%s: all %u marks are used", root->path,
                            chunk->capacity);
    return 0;
}

int bp_control_mark(const char *word, const char *text, FILE *out, struct bp_error *error) {
    struct target root = {0};
    char *path = bp_find_run(word, error);
    if (!path)
        return -1;
    char *directory = directory_meant(path), *file = find_root(directory, path);
    int reason = file ? open_target(&root, file) : -ENOENT, result = -1;
    int32_t pid = 0;
    struct target own = {0};
    if (!directory && open_target(&own, path) == 0) {
        pid = own.header->pid;
        bp_live_close(&own.live);
        free(own.path);
    }
    if (reason)
        bp_error_set(error, BP_FAILED, "%s: no run is going on: %s", path, strerror(-reason));
    else
        result = put(&root, pid, text, error);
    if (result == 0)
        fprintf(out, "marked: %s\n", text);
    if (!reason) {
        bp_live_close(&root.live);
        free(root.path);
    }
    free(file);
    free(directory);
    free(path);
    return result;
}
