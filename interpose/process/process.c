/* SPDX-License-Identifier: MIT */
#include "interpose/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/environment.h"
#include "interpose/hook.h"
#include "interpose/kill.h"
#include "interpose/log.h"
#include "interpose/sample/sampler.h"
#include "interpose/task.h"
#include "profile/clock.h"
#include "profile/tree.h"

#define IMAGES 1000 /* programs that one pid may become by exec */

static struct {
    struct bp_config config;
    uint64_t fork_mask; /* signals while the lock is held over fork */
    int ended;
    int quick_status; /* what quick_exit was called with */
} state;

static struct {
    void (*_exit)(int);
    void (*quick_exit)(int);
    pid_t (*_Fork)(void);
} real;

static void read_text(const char *path, char *text, size_t size) {
    int fd = (int)BP_SYS3(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long length = fd < 0 ? 0 : BP_SYS3(SYS_read, fd, text, size - 1);
    if (fd >= 0)
        BP_SYS1(SYS_close, fd);
    length = length < 0 ? 0 : length;
    while (length && (text[length - 1] == '\n' || text[length - 1] == '\0'))
        length--;
    text[length] = '\0';
    for (long i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
}

static void read_link(const char *path, char *text, size_t size) {
    long length = BP_SYS4(SYS_readlinkat, AT_FDCWD, path, text, size - 1);
    text[length < 0 ? 0 : length] = '\0';
}

/* battprof.<pid>.bp, or battprof.<pid>.<image>.bp for programs that a pid became by exec. */
static int create_numbered(int (*create)(const char *path), uint32_t *image) {
    char path[BP_WRITER_PATH];
    int error = -EEXIST;
    for (*image = 0; error == -EEXIST && *image < IMAGES; ++*image) {
        int length = *image == 0 ? snprintf(path, sizeof path, "%s/battprof.%d.bp",
                                            state.config.directory, bp_process.pid)
                                 : snprintf(path, sizeof path, "%s/battprof.%d.%u.bp",
                                            state.config.directory, bp_process.pid, *image);
        if (length < 0 || (size_t)length >= sizeof path)
            return -ENAMETOOLONG;
        error = create(path);
    }
    --*image;
    return error;
}

static int create_new(const char *path) {
    return bp_writer_create(&bp_process.writer, path);
}

static int create_forked(const char *path) {
    return bp_writer_fork(&bp_process.writer, path, bp_self ? bp_self->index : BP_NO_THREAD);
}

static void describe_program(struct bp_header *header) {
    read_link("/proc/self/exe", header->executable, sizeof header->executable);
    read_text("/proc/self/cmdline", header->command, sizeof header->command);
    read_link("/proc/self/cwd", header->directory, sizeof header->directory);
    read_text("/proc/sys/kernel/random/boot_id", header->boot_id, sizeof header->boot_id);
    read_text("/proc/sys/kernel/hostname", header->host, sizeof header->host);
    snprintf(header->version, sizeof header->version, "%s", BP_VERSION);
}

static void describe_process(struct bp_header *header, uint64_t start) {
    header->pid = bp_process.pid;
    header->parent_pid = (int32_t)BP_SYS0(SYS_getppid);
    header->exit_status = -1;
    header->state = BP_RUNNING;
    header->start = start;
    header->end = header->end_v = 0;
    header->first = bp_clock_pair_now(bp_process.clock);
    memset(&header->last, 0, sizeof header->last);
}

int bp_process_create(const struct bp_config *config, uint64_t start) {
    uint32_t image;
    state.config = *config;
    bp_process.pid = (int32_t)BP_SYS0(SYS_getpid);
    int error = create_numbered(create_new, &image);
    if (error)
        return error;
    struct bp_header *header = bp_process.writer.header;
    header->major = BP_MAJOR;
    header->minor = BP_MINOR;
    header->header_size = BP_PAGE;
    header->byte_order = BP_BYTE_ORDER;
    header->clock = bp_process.clock;
    header->image = image;
    describe_program(header);
    describe_process(header, start);
    memcpy(header->magic, BP_MAGIC, sizeof header->magic); /* last: now it is a profile */
    return 0;
}

static struct bp_tree *map_tree(const char *path) {
    struct stat status;
    void *file = MAP_FAILED;
    int fd = (int)BP_SYS3(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && BP_SYS2(SYS_fstat, fd, &status) == 0 && status.st_size > BP_PAGE)
        file = (void *)BP_SYS6(SYS_mmap, NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                               fd, 0);
    if (fd >= 0)
        BP_SYS1(SYS_close, fd);
    if (bp_sys_failed(file))
        return NULL;
    uint64_t end = (uint64_t)status.st_size, at = BP_PAGE;
    while (at + sizeof(struct bp_chunk) + sizeof(struct bp_tree) <= end) {
        struct bp_chunk *chunk = (struct bp_chunk *)((char *)file + at);
        if (chunk->magic != BP_CHUNK_MAGIC || chunk->size < BP_PAGE)
            break;
        if (chunk->kind == BP_TREE)
            return bp_chunk_items(chunk);
        at += chunk->size;
    }
    munmap(file, end);
    return NULL;
}

static struct bp_tree *make_tree(void) {
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_chunk *chunk = bp_writer_chunk(&bp_process.writer, BP_TREE, BP_NO_THREAD, 0, 1);
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
        snprintf(header->tree, sizeof header->tree, "%s", config->tree);
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
        header->end_v = bp_tree_release(bp_process.tree, bp_process.slot, now).v;
    }
    if (bp_self && how == BP_EXITED) /* here it may lose its CPU: nothing is counted any more */
        bp_thread_note_cpu(bp_self);
    header->last = bp_clock_pair_now(bp_process.clock);
    header->end = now;
    header->exit_status = status;
    header->state = how;
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

static void before_fork(void) {
    bp_sampler_before_fork();
    uint64_t mask = bp_lock(&bp_process.lock);
    state.fork_mask = mask;
    bp_thread_before_fork();
}

static void after_fork_parent(void) {
    bp_thread_after_fork_parent();
    bp_unlock(&bp_process.lock, state.fork_mask);
    bp_sampler_after_fork();
}

/* The mappings are still the parent's file: move out before anything is recorded. */
static void after_fork_child(void) {
    uint64_t mask = state.fork_mask;
    uint64_t now = bp_clock_now(bp_process.clock);
    uint32_t image;
    int had_tree = bp_process.writer.header->flags & BP_HAS_TREE;
    char parent[BP_WRITER_PATH];
    snprintf(parent, sizeof parent, "%s", bp_process.writer.path);
    bp_process.pid = (int32_t)BP_SYS0(SYS_getpid);
    bp_hook_lock.word = 0;
    int error = create_numbered(create_forked, &image);
    struct bp_header *header = bp_process.writer.header;
    describe_process(header, now);
    header->image = image;
    header->flags = (header->flags & ~(BP_HAS_TREE | BP_LOST_TREE)) | BP_FORKED;
    header->threads_folded = header->node_limit_hits = 0;
    header->startup = header->startup_queued[0] = header->startup_queued[1] = 0;
    if (had_tree)
        snprintf(header->tree, sizeof header->tree, "%.511s", parent);
    bp_process.tree_off = 0;
    claim_slot();
    state.ended = 0;
    bp_thread_after_fork_child();
    bp_sampler_after_fork_child();
    bp_unlock(&bp_process.lock, mask);
    bp_sampler_after_fork();
    if (error && !state.config.quiet)
        bp_log("forked process %d: no profile in %s: %s; the program goes on", bp_process.pid,
               state.config.directory, bp_log_reason(-error));
}

/* _Fork calls no handlers. */
static pid_t wrap__Fork(void) {
    before_fork();
    pid_t pid = real._Fork();
    if (pid == 0)
        after_fork_child();
    else
        after_fork_parent();
    return pid;
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(_exit),
    BP_WRAP(quick_exit),
    BP_WRAP(_Fork),
};

void bp_process_export(void) {
    bp_environment_export();
}

void bp_process_init(void) {
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
    bp_environment_init();
    bp_kill_init();
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    on_exit(at_exit, NULL);
    at_quick_exit(after_quick_exit);
}
