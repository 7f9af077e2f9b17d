/* SPDX-License-Identifier: MIT
 *
 * Which files are of the run, which processes live, and a look at all of them.
 */
#include "tools/live/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/base/runs.h"
#include "tools/base/text.h"
#include "tools/live/tasks.h"

#define CLOCKS_NS 1000000000u      /* between readings of what costs system calls for each thread */
#define SHORTEST_PAIR_NS 10000000u /* two readings of the clock give its rate from here on */
#define MOST_THREADS 65536         /* of a process: more are damage */

/* Wall pages are in `run`'s own file, or in that of the first process of a tree. */
static const struct bp_tree *find_tree(const struct bp_live_file *file) {
    uint32_t count;
    for (uint32_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == BP_TREE) {
            const char *items =
                bp_live_file_items(file, &file->chunks[i], sizeof(struct bp_tree), &count);
            return items && count ? (const struct bp_tree *)items : NULL;
        }
    return NULL;
}

static const struct bp_live_process *root_process(const struct bp_look *look) {
    for (uint32_t i = 0; i < look->process_count; i++)
        if (!look->processes[i]->closed && strcmp(look->processes[i]->name, look->root) == 0)
            return look->processes[i];
    return NULL;
}

const struct bp_live_file *bp_look_root(const struct bp_look *look) {
    const struct bp_live_process *root = look->has_session ? NULL : root_process(look);
    return look->has_session ? &look->session : root ? &root->file : NULL;
}

const char *bp_look_program(const struct bp_look *look) {
    const struct bp_live_process *root = root_process(look);
    return look->command && look->command[0] ? look->command : root ? root->program : "";
}

static const struct bp_tree *tree_of(const struct bp_look *look) {
    const struct bp_live_file *root = bp_look_root(look);
    return root ? find_tree(root) : NULL;
}

static bool is_profile_name(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".bp") == 0;
}

static bool is_member(const struct bp_look *look, const struct bp_header *header,
                      const char *name) {
    char tree[sizeof(header->tree)];
    snprintf(tree, sizeof(tree), "%.*s", (int)sizeof(tree) - 1, header->tree);
    return strcmp(name, look->root) == 0 || strcmp(bp_base_name(tree), look->root) == 0;
}

/* A file that begins is looked at again; what is no profile, or of another run, is not. */
static void add_file(struct bp_look *look, const char *name) {
    if (bp_keys_get(&look->names, name, strlen(name)) != BP_KEYS_NONE)
        return;
    struct bp_live_process *process = bp_alloc(1, sizeof(*process));
    char *path = bp_make_text("%s/%s", look->directory, name);
    int result = bp_live_file_open(&process->file, path);
    bool begins = result == -EPROTO || result == -EINVAL;
    free(path);
    if (!begins)
        bp_keys_put(&look->names, name, strlen(name));
    look->left_out += begins;
    const struct bp_header *header = result ? NULL : bp_live_file_header(&process->file);
    if (!header || header->flags & BP_SESSION || !is_member(look, header, name)) {
        if (header)
            bp_live_file_close(&process->file);
        free(process);
        return;
    }
    process->name = bp_copy_text(name);
    process->program = bp_make_text("%.*s", 500, bp_base_name(header->executable));
    process->pid = header->pid;
    *BP_APPEND(look->processes, look->process_count) = process;
}

static void find_files(struct bp_look *look) {
    DIR *directory = opendir(look->directory);
    look->left_out = 0;
    for (const struct dirent *entry; directory && (entry = readdir(directory)) != NULL;)
        if (is_profile_name(entry->d_name) && strcmp(entry->d_name, BP_SESSION_FILE) != 0)
            add_file(look, entry->d_name);
    if (directory)
        closedir(directory);
}

/* The youngest run of a directory that has several, by LD_PRELOAD. */
static char *youngest_root(const char *directory) {
    char *root = NULL;
    uint64_t youngest = 0;
    DIR *list = opendir(directory);
    for (const struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        struct bp_live_file file;
        char *path = bp_make_text("%s/%s", directory, entry->d_name);
        if (is_profile_name(entry->d_name) && bp_live_file_open(&file, path) == 0) {
            const struct bp_header *header = bp_live_file_header(&file);
            if (header->flags & BP_HAS_TREE && header->first.realtime_ns >= youngest) {
                youngest = header->first.realtime_ns;
                free(root);
                root = bp_copy_text(entry->d_name);
            }
            bp_live_file_close(&file);
        }
        free(path);
    }
    if (list)
        closedir(list);
    return root;
}

/* The name of the file with the wall page that a file's process shares: a new text. */
static char *root_of(const char *path) {
    struct bp_live_file file;
    if (bp_live_file_open(&file, path))
        return NULL;
    const struct bp_header *header = bp_live_file_header(&file);
    char *tree = bp_make_text("%.*s", (int)sizeof(header->tree) - 1, header->tree);
    char *root = bp_copy_text(bp_base_name(tree[0] ? tree : path));
    bp_live_file_close(&file);
    free(tree);
    return root;
}

static void open_session(struct bp_look *look) {
    char *path = bp_make_text("%s/%s", look->directory, BP_SESSION_FILE);
    look->has_session =
        strcmp(look->root, BP_SESSION_FILE) == 0 && bp_live_file_open(&look->session, path) == 0;
    free(path);
    if (!look->has_session)
        return;
    bp_live_file_update(&look->session);
    const struct bp_header *header = bp_live_file_header(&look->session);
    look->command = bp_make_text("%.*s", (int)sizeof(header->command) - 1, header->command);
}

int bp_look_init(struct bp_look *look, const char *path, const char *rules,
                 struct bp_error *error) {
    struct stat status;
    *look = (struct bp_look){0};
    if (stat(path, &status))
        return bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
    look->given = bp_rules_new(rules, error);
    if (!look->given)
        return -1;
    bool is_directory = S_ISDIR(status.st_mode);
    char *session = bp_make_text("%s/%s", path, BP_SESSION_FILE);
    size_t length = (size_t)(bp_base_name(path) - path);
    look->directory = is_directory ? bp_copy_text(path)
                      : length     ? bp_make_text("%.*s", (int)length - 1, path)
                                   : bp_copy_text(".");
    look->root = !is_directory                ? root_of(path)
                 : access(session, R_OK) == 0 ? bp_copy_text(BP_SESSION_FILE)
                                              : youngest_root(path);
    free(session);
    if (!look->root)
        return bp_error_set(error, BP_FAILED, "%s: no profile (*.bp) %s", path,
                            is_directory ? "in it" : "that this version can read");
    open_session(look);
    look->tasks = bp_task_watch_new(look->directory);
    return 0;
}

static void process_free(struct bp_live_process *process) {
    if (!process->closed)
        bp_live_file_close(&process->file);
    for (uint32_t i = 0; i < process->thread_count; i++)
        free(process->threads[i].nodes);
    free(process->threads);
    free(process->map);
    free(process->name);
    free(process->program);
    free(process);
}

void bp_look_fini(struct bp_look *look) {
    for (uint32_t i = 0; i < look->process_count; i++)
        process_free(look->processes[i]);
    free(look->processes);
    bp_keys_fini(&look->names);
    if (look->has_session)
        bp_live_file_close(&look->session);
    bp_live_functions_fini(&look->functions);
    bp_rules_free(look->rules);
    bp_rules_free(look->given);
    bp_task_watch_free(look->tasks);
    free(look->directory);
    free(look->root);
    free(look->command);
}

static double tick_of(const struct bp_header *header, enum bp_live_state state) {
    struct bp_clock_pair now =
        state == BP_LIVE_RUNS ? bp_clock_pair_now(header->clock) : header->last;
    if (header->clock == BP_CLOCK_MONOTONIC)
        return 1e-9;
    if (now.monotonic_ns > header->first.monotonic_ns + SHORTEST_PAIR_NS &&
        now.ticks > header->first.ticks)
        return 1e-9 * (double)(now.monotonic_ns - header->first.monotonic_ns) /
               (double)(now.ticks - header->first.ticks);
    return header->ticks_per_s ? 1 / (double)header->ticks_per_s : 0;
}

static void map_functions(struct bp_look *look, struct bp_live_process *process) {
    uint32_t count;
    for (uint32_t i = 0; i < process->file.chunk_count; i++) {
        const struct bp_live_chunk *chunk = &process->file.chunks[i];
        if (chunk->kind != BP_FUNCS || chunk->first > process->map_count)
            continue;
        const char *items =
            bp_live_file_items(&process->file, chunk, sizeof(struct bp_func), &count);
        while (items && process->map_count - chunk->first < count) {
            const struct bp_func *func =
                (const void *)(items +
                               (size_t)(process->map_count - chunk->first) * chunk->item_size);
            uint32_t row = bp_live_functions_put(&look->functions, &process->file, func);
            *BP_APPEND(process->map, process->map_count) = row;
        }
    }
}

static struct bp_live_thread *put_thread(struct bp_live_process *process, uint32_t slot) {
    for (uint32_t i = 0; i < process->thread_count; i++)
        if (process->threads[i].slot == slot)
            return &process->threads[i];
    struct bp_live_thread *thread = BP_APPEND(process->threads, process->thread_count);
    thread->slot = slot;
    thread->cpu_s = thread->ready_s = -1;
    return thread;
}

static void look_at_threads(struct bp_live_process *process, const struct bp_live_view *view) {
    uint32_t count;
    for (uint32_t i = 0; i < process->file.chunk_count; i++) {
        const struct bp_live_chunk *chunk = &process->file.chunks[i];
        if (chunk->kind != BP_THREADS || chunk->first > MOST_THREADS)
            continue;
        const char *items = bp_live_file_items(&process->file, chunk,
                                               offsetof(struct bp_thread, paused_seen), &count);
        for (uint32_t n = 0; items && n < count; n++) {
            const struct bp_thread *source = (const void *)(items + (size_t)n * chunk->item_size);
            if (source->state == BP_THREAD_UNUSED || source->index != chunk->first + n)
                continue;
            bp_live_thread_look(put_thread(process, source->index), view, source);
        }
    }
}

static enum bp_live_state state_of(const struct bp_live_process *process, bool sure) {
    const struct bp_header *header = bp_live_file_header(&process->file);
    if (header->state != BP_RUNNING && header->end)
        return header->state == BP_EXECED ? BP_LIVE_REPLACED : BP_LIVE_ENDED;
    if (sure)
        return bp_runs_is_alive(header) ? BP_LIVE_RUNS : BP_LIVE_GONE;
    return process->state;
}

/* Whether a process lives is asked when it is new, and once a second: it costs two files. */
static void look_at_process(struct bp_look *look, struct bp_live_process *process, bool sure) {
    bp_live_file_update(&process->file);
    process->state = state_of(process, sure || !process->map_count);
    const struct bp_header *header = bp_live_file_header(&process->file);
    bool ended = process->state == BP_LIVE_ENDED || process->state == BP_LIVE_REPLACED;
    map_functions(look, process);
    struct bp_live_view view = {.file = &process->file,
                                .functions = &look->functions,
                                .map = process->map,
                                .map_count = process->map_count,
                                .clock = header->clock,
                                .end = ended                            ? header->end
                                       : process->state == BP_LIVE_GONE ? process->seen
                                                                        : 0,
                                .stopped = process->state == BP_LIVE_GONE && !process->seen,
                                .tick_s = tick_of(header, process->state),
                                .tree = tree_of(look)};
    if (process->state == BP_LIVE_RUNS)
        process->seen = bp_live_view_now(&view);
    look_at_threads(process, &view);
    process->paused_idle_s = bp_live_paused_idle(&view);
    bp_live_devices_look(&process->devices, &view, process->threads, process->thread_count);
}

/* A process that has ended changes no more; what is in its threads stays. The file with the wall
 * page is needed as long as the others run. */
static void settle(struct bp_look *look, struct bp_live_process *process) {
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct bp_live_thread *thread = &process->threads[i];
        thread->before = thread->now;
        thread->alive = false;
        thread->call_count = thread->depth = 0;
    }
    if (!process->closed && (look->has_session || strcmp(process->name, look->root) != 0)) {
        bp_live_file_close(&process->file);
        process->closed = true;
    }
}

void bp_look_again(struct bp_look *look) {
    uint64_t now = bp_clock_ns(CLOCK_MONOTONIC);
    bool sure = now - look->clocks_ns >= CLOCKS_NS;
    find_files(look);
    bp_look_choose_rules(look);
    bp_live_functions_begin(&look->functions);
    for (uint32_t i = 0; i < look->process_count; i++) {
        struct bp_live_process *process = look->processes[i];
        if (process->done)
            settle(look, process);
        else
            look_at_process(look, process, sure);
        process->done = process->state != BP_LIVE_RUNS;
    }
    bp_live_functions_end(&look->functions);
    if (sure) {
        look->clocks_ns = now;
        bp_task_watch_poll(look->tasks);
        bp_look_read_clocks(look);
    }
    bp_look_sum(look, tree_of(look), now);
    look->looks++;
}

bool bp_look_is_running(const struct bp_look *look) {
    return look->since_start.running > 0 ||
           (look->has_session && bp_runs_is_alive(bp_live_file_header(&look->session)));
}
