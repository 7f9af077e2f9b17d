/* SPDX-License-Identifier: MIT
 *
 * In the order of a life: the file is created, the tree joined; fork gives a child its own of both;
 * exec leaves and may come back; every way to exit ends here, once.
 */
#include "interpose/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/base/log.h"
#include "interpose/base/put.h"
#include "interpose/hook/hook.h"
#include "interpose/ledger/pause.h"
#include "interpose/ledger/task.h"
#include "interpose/process/environment.h"
#include "interpose/process/kill.h"
#include "interpose/python/line/counts.h"
#include "interpose/python/stack/names.h"
#include "interpose/sample/sampler.h"
#include "profile/clock.h"
#include "profile/header.h"
#include "profile/items.h"
#include "profile/live.h"
#include "profile/stop.h"
#include "profile/tree.h"

#define IMAGES 1000 /* programs that one pid may become by exec */
#define MARKS 127   /* four pages, where no command started the run */

static struct {
    struct bp_config config;
    uint64_t fork_mask;    /* signals while the locks are held over fork */
    int fork_error;        /* why the child is to be left alone */
    struct bp_header *run; /* of the file with the wall page, if it is not ours */
    int ended;
    int quick_status; /* what quick_exit was called with */
} state;

static struct {
    void (*_exit)(int);
    void (*quick_exit)(int);
} real;

static size_t put_text(char *to, size_t used, const char *text) {
    return bp_put_text(to, BP_WRITER_PATH, used, text);
}

static size_t put_number(char *to, size_t used, uint32_t number) {
    return bp_put_number(to, BP_WRITER_PATH, used, number);
}

/* battprof.<pid>.bp, or battprof.<pid>.<image>.bp for programs that a pid became by exec. */
static int put_path(char *path, uint32_t image) {
    size_t used = put_text(path, 0, state.config.directory);
    used = put_text(path, used, "/battprof.");
    used = put_number(path, used, (uint32_t)bp_process.pid);
    if (image)
        used = put_number(path, put_text(path, used, "."), image);
    used = put_text(path, used, ".bp");
    return used < BP_WRITER_PATH - 1 ? 0 : -ENAMETOOLONG;
}

static int create_numbered(int (*create)(const char *path), uint32_t *image) {
    char path[BP_WRITER_PATH];
    int error = -EEXIST;
    for (*image = 0; error == -EEXIST && *image < IMAGES; ++*image) {
        error = put_path(path, *image);
        if (error)
            return error;
        error = create(path);
    }
    --*image;
    return error;
}

static int create_new(const char *path) {
    return bp_writer_create(&bp_process.writer, path);
}

static int create_forked(const char *path) {
    return bp_writer_fork(&bp_process.writer, path);
}

/* Before there is a file: without such a page a child that our handlers do not see is not
 * recognised. */
static void set_alive(void) {
    uint32_t *page = bp_thread_new_alive();
    if (page) {
        *page = 1;
        bp_alive = page;
    }
    bp_process.writer.alive = bp_alive;
}

int bp_process_create(const struct bp_config *config, uint64_t start) {
    uint32_t image;
    state.config = *config;
    set_alive();
    bp_process.pid = (int32_t)BP_SYS0(SYS_getpid);
    if (!config->tree) /* make_tree */
        bp_process.writer.more = bp_chunk_size(BP_TREE, 1) + bp_chunk_size(BP_MARKS, MARKS);
    int error = create_numbered(create_new, &image);
    if (error)
        return error;
    struct bp_header *header = bp_process.writer.header;
    bp_header_begin(header, bp_process.clock);
    bp_header_set_program(header, config->arguments);
    bp_header_set_place(header);
    bp_header_set_process(header, start);
    header->image = image;
    bp_header_publish(header);
    return 0;
}

/* The mapping stays: the page is written as long as the process lives. */
static struct bp_tree *map_tree(const char *path) {
    struct bp_live live;
    struct bp_chunk *chunk = NULL;
    struct bp_tree *tree = NULL;
    if (bp_live_open(&live, path, 1))
        return NULL;
    while ((chunk = bp_live_next(&live, chunk)) != NULL)
        if (chunk->kind == BP_TREE && chunk->size >= bp_chunk_size(BP_TREE, 1))
            tree = bp_chunk_items(chunk);
        else if (chunk->kind == BP_MARKS && chunk->item_size == sizeof(struct bp_run_mark))
            bp_process.marks = chunk;
    if (!tree)
        bp_live_close(&live);
    else
        state.run = (struct bp_header *)live.data;
    return tree;
}

struct bp_header *bp_process_run(void) {
    return bp_process.tree ? state.run : NULL;
}

int bp_process_is_run_paused(void) {
    return state.run && __atomic_load_n(&state.run->wanted, __ATOMIC_RELAXED) & BP_WANTED_PAUSED;
}

static struct bp_tree *make_tree(void) {
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk = bp_writer_chunk(&bp_process.writer, BP_TREE, BP_NO_THREAD, 0, 1);
    bp_process.marks = bp_writer_chunk(&bp_process.writer, BP_MARKS, BP_NO_THREAD, 0, MARKS);
    bp_unlock(&bp_process.lock, mask);
    if (!chunk)
        return NULL;
    struct bp_tree *tree = bp_chunk_items(chunk);
    tree->start = bp_process.writer.header->start;
    tree->clock = bp_process.clock;
    chunk->count = 1;
    bp_process.writer.header->flags |= BP_HAS_TREE;
    return tree;
}

static void claim_slot(void) {
    bp_process.slot = NULL;
    if (bp_process.tree)
        bp_process.slot = bp_tree_claim(bp_process.tree, bp_process.pid);
    if (bp_process.slot)
        __atomic_fetch_add(&bp_process.tree->processes, 1, __ATOMIC_RELAXED);
    else
        bp_process.writer.header->flags |= BP_LOST_TREE;
}

void bp_process_join_tree(const struct bp_config *config) {
    struct bp_header *header = bp_process.writer.header;
    if (config->tree) {
        bp_process.tree = map_tree(config->tree);
        bp_put_text(header->tree, sizeof header->tree, 0, config->tree);
    } else {
        bp_process.tree = make_tree();
    }
    if (bp_process.tree && bp_process.tree->clock != bp_process.clock)
        bp_process.tree = NULL;
    bp_environment_set(bp_process.writer.path, config);
    claim_slot();
}

/* The end of this program in this process: nothing is closed, everything is dated. */
static void end_process(enum bp_process_state how, int status) {
    struct bp_header *header = bp_process.writer.header;
    uint64_t now = bp_clock_now(bp_process.clock);
    if (bp_self && how == BP_EXITED)
        bp_task_end_all(bp_self, now, BP_TASK_UNFINISHED);
    if (bp_process.tree && bp_process.slot && !bp_process.tree_off) {
        bp_process.tree_off = 1;
        struct bp_tree_step step = bp_tree_release(bp_process.tree, bp_process.slot, now);
        header->end_v = step.v;
        bp_pause_idle(step.idle, now);
    }
    if (bp_self && how == BP_EXITED) /* here it may lose its CPU: nothing is counted any more */
        bp_thread_note_cpu(bp_self);
    header->last = bp_clock_pair_now(bp_process.clock);
    header->end = now;
    header->exit_status = status;
    header->state = how;
    uint64_t mask = bp_lock(&bp_process.lock);
    bp_writer_trim(&bp_process.writer);
    bp_unlock(&bp_process.lock, mask);
}

static void at_exit(int status, void *unused) {
    (void)unused;
    if (state.ended || (int32_t)BP_SYS0(SYS_getpid) != bp_process.pid)
        return;
    state.ended = 1;
    if (bp_process.finish)
        bp_process.finish();
    bp_sampler_finish();
    end_process(BP_EXITED, status);
    if (state.config.speaks && !(bp_process.writer.header->flags & BP_FORKED))
        bp_summary_print();
}

/* Between vfork and exec the memory is the parent's: nothing of it ends here. */
static void wrap__exit(int status) {
    at_exit(status, NULL);
    real._exit(status);
}

/* quick_exit calls its own list of functions, of which ours is the last, and tells them nothing. */
static void wrap_quick_exit(int status) {
    state.quick_status = status;
    real.quick_exit(status);
}

static void after_quick_exit(void) {
    at_exit(state.quick_status, NULL);
}

/* The busy threads of this image, to come back if exec fails. */
int bp_process_leave_for_exec(void) {
    if ((int32_t)BP_SYS0(SYS_getpid) != bp_process.pid || !bp_process.on)
        return -1;
    int busy = bp_process.slot ? (int)bp_process.slot->busy : 0;
    end_process(BP_EXECED, -1);
    if (bp_process.slot) /* what follows joins again, as the same process */
        __atomic_fetch_sub(&bp_process.tree->processes, 1, __ATOMIC_RELAXED);
    return busy;
}

void bp_process_stay(int busy) {
    if (busy < 0)
        return;
    struct bp_header *header = bp_process.writer.header;
    uint64_t left_v = header->end_v;
    header->state = BP_RUNNING;
    header->end = header->end_v = 0;
    if (bp_process.slot)
        claim_slot();
    if (bp_process.slot)
        bp_wall_come_back(left_v, (uint32_t)busy);
    bp_process.tree_off = 0;
}

static void note_reaped(const struct bp_reaped *what) {
    uint32_t index;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_reaped *record = bp_writer_item(&bp_process.writer, BP_REAPED, &index);
    if (record) {
        *record = *what;
        bp_writer_commit(&bp_process.writer, BP_REAPED);
    }
    bp_unlock(&bp_process.lock, mask);
}

/* A child that ended in order has left the tree and said so in its own file. */
void bp_process_reaped(pid_t pid, int status) {
    struct bp_reaped what = {.pid = pid, .status = status};
    if (bp_orphaned())
        return;
    struct bp_tree_slot *slot = bp_process.tree ? bp_tree_slot_of(bp_process.tree, pid) : NULL;
    if (!slot && WIFEXITED(status))
        return;
    what.ticks = bp_clock_now(bp_process.clock);
    if (WIFSIGNALED(status))
        what.sent = bp_kill_sent(pid, WTERMSIG(status));
    if (slot) {
        struct bp_tree_step step = bp_tree_release(bp_process.tree, slot, what.ticks);
        what.v = step.v;
        if (bp_self)
            bp_self->idle += step.idle;
    }
    note_reaped(&what);
}

/* What these locks guard is whole in the child, whose only thread holds them; other locks it finds
 * free (lock.h). In the order in which they are taken elsewhere. */
void bp_process_before_fork(void) {
    bp_py_names_before_fork();
    uint64_t mask = bp_lock(&bp_pause_lock);
    bp_lock_inner(&bp_hook_lock);
    bp_lock_inner(&bp_process.lock);
    state.fork_mask = mask;
    state.fork_error = bp_orphaned() ? -ECHILD : bp_thread_before_fork();
}

static void unlock_after_fork(void) {
    uint64_t mask = state.fork_mask;
    bp_unlock_inner(&bp_process.lock);
    bp_unlock_inner(&bp_hook_lock);
    bp_unlock(&bp_pause_lock, mask);
    bp_py_names_after_fork();
}

void bp_process_after_fork_parent(void) {
    bp_thread_after_fork_parent();
    unlock_after_fork();
}

/* `parent` is its file if that has the tree, else NULL. */
static void describe_child(uint64_t now, uint32_t image, const char *parent) {
    struct bp_header *header = bp_process.writer.header;
    bp_header_set_process(header, now);
    header->image = image;
    header->flags = (header->flags & ~(BP_HAS_TREE | BP_LOST_TREE | BP_LATE)) | BP_FORKED;
    if (parent)
        bp_put_text(header->tree, sizeof header->tree, 0, parent);
    bp_process.tree_off = 0;
    claim_slot();
    state.ended = 0;
}

/* Move out of the parent's file; 0 or why there is none of our own. */
static int move_out(void) {
    uint64_t now = bp_clock_now(bp_process.clock);
    uint32_t image;
    int had_tree = bp_process.writer.header->flags & BP_HAS_TREE;
    char parent[BP_WRITER_PATH];
    if (had_tree)
        put_text(parent, 0, bp_process.writer.path);
    bp_process.pid = (int32_t)BP_SYS0(SYS_getpid);
    int error = create_numbered(create_forked, &image);
    if (error && bp_writer_detach(&bp_process.writer, error) < 0) {
        state.fork_error = error;
        return error;
    }
    __atomic_store_n(bp_alive, 1, __ATOMIC_RELAXED);
    describe_child(now, image, had_tree ? parent : NULL);
    bp_thread_after_fork_child();
    bp_py_lines_after_fork();
    bp_sampler_after_fork_child();
    bp_header_publish(bp_process.writer.header);
    return error;
}

/* The mappings are still the parent's file: move out before anything is recorded. Where that is
 * not possible the process is one that no handler saw. */
void bp_process_after_fork_child(void) {
    BP_STOP(CHILD);
    bp_generation++;
    int error = state.fork_error ? state.fork_error : move_out();
    if (state.fork_error) {
        __atomic_store_n(bp_alive, 0, __ATOMIC_RELAXED);
        bp_thread_after_fork_parent();
        bp_process.on = 0;
        bp_self = NULL;
    }
    unlock_after_fork();
    if (error && error != -ECHILD && !state.config.quiet)
        bp_log("forked process %d: no profile in %s: %s; the program goes on",
               (int)BP_SYS0(SYS_getpid), state.config.directory, bp_log_reason(-error));
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(_exit),
    BP_WRAP(quick_exit),
};

void bp_process_export(void) {
    bp_environment_export();
}

void bp_process_init(void) {
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
    bp_environment_init();
    bp_kill_init();
    bp_clone_init();
    pthread_atfork(bp_process_before_fork, bp_process_after_fork_parent,
                   bp_process_after_fork_child);
    on_exit(at_exit, NULL);
    at_quick_exit(after_quick_exit);
}
