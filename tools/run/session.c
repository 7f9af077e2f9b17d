/* SPDX-License-Identifier: MIT
 *
 * See session.h. The file is preallocated, so neither we nor a target can meet SIGBUS on a full
 * disk; and it stays locked while the run goes on (output.c asks).
 */
#include "tools/run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "profile/header.h"
#include "profile/items.h"
#include "profile/tree.h"
#include "tools/base/runs.h"
#include "tools/base/text.h"

/* The strings of a session: "", the name of its one variable, and the rules. */
static uint32_t strings_size(const char *rules) {
    return (uint32_t)(1 + sizeof BP_RULES_VARIABLE + strlen(rules) + 1);
}

static uint64_t file_size(const struct bp_session_about *about) {
    uint64_t size = BP_PAGE + bp_chunk_size(BP_TREE, 1) + bp_chunk_size(BP_REAPED, 1) +
                    bp_chunk_size(BP_MARKS, BP_MARKS_KEPT);
    if (about->rules[0])
        size +=
            bp_chunk_size(BP_STRINGS, strings_size(about->rules)) + bp_chunk_size(BP_VARIABLES, 1);
    return size;
}

static int map_file(struct bp_session *session, struct bp_error *error) {
    session->fd = open(session->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (session->fd < 0)
        return bp_error_set(error, BP_FAILED, "%s: %s; choose another directory with -o",
                            session->path, strerror(errno));
    /* Beyond `ulimit -f` the kernel would kill us for asking. */
    sighandler_t before = signal(SIGXFSZ, SIG_IGN);
    int failed = posix_fallocate(session->fd, 0, (off_t)session->size);
    signal(SIGXFSZ, before);
    if (failed)
        return bp_error_set(error, BP_FAILED,
                            "%s: %s; free some space or choose another directory with -o",
                            session->path, strerror(failed));
    void *memory = mmap(NULL, session->size, PROT_READ | PROT_WRITE, MAP_SHARED, session->fd, 0);
    if (memory == MAP_FAILED)
        return bp_error_set(error, BP_FAILED,
                            "%s: cannot be mapped: %s; choose a directory on another file system "
                            "with -o",
                            session->path, strerror(errno));
    session->header = memory;
    flock(session->fd, LOCK_EX | LOCK_NB); /* where locks are unknown we do without */
    return 0;
}

static void read_line(const char *path, char *to, size_t size) {
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (!fgets(to, (int)size, file))
        to[0] = 0;
    to[strcspn(to, "\n")] = 0;
    fclose(file);
}

static void fill_header(struct bp_header *header, const struct bp_session_about *about) {
    bp_header_begin(header, bp_clock_kind(getenv("BATTPROF_CLOCK")));
    bp_header_set_process(header, 0);
    bp_header_set_place(header);
    header->flags = BP_HAS_TREE | BP_SESSION;
    snprintf(header->executable, sizeof header->executable, "%s", about->executable);
    snprintf(header->hooks, sizeof header->hooks, "%s", about->hooks);
    snprintf(header->project, sizeof header->project, "%s", about->project);
    char *command = bp_quote_words(about->command);
    snprintf(header->command, sizeof header->command, "%s", command);
    free(command);
    header->used = BP_PAGE;
    header->wanted = header->obeyed = about->paused ? BP_WANTED_STEP | BP_WANTED_PAUSED : 0;
}

static struct bp_chunk *add_chunk(struct bp_header *header, enum bp_chunk_kind kind,
                                  uint32_t items) {
    struct bp_chunk *chunk = (struct bp_chunk *)((char *)header + header->used);
    bp_chunk_fill(chunk, kind, BP_NO_THREAD, bp_chunk_size(kind, items));
    header->used += chunk->size;
    return chunk;
}

/* Reports of this run find the rules there. */
static void add_rules(struct bp_header *header, const char *rules) {
    if (!rules[0])
        return;
    struct bp_chunk *strings = add_chunk(header, BP_STRINGS, strings_size(rules));
    struct bp_chunk *variables = add_chunk(header, BP_VARIABLES, 1);
    char *text = (char *)(strings + 1);
    memcpy(text + 1, BP_RULES_VARIABLE, sizeof BP_RULES_VARIABLE);
    memcpy(text + 1 + sizeof BP_RULES_VARIABLE, rules, strlen(rules) + 1);
    strings->count = strings_size(rules);
    *(struct bp_variable *)(variables + 1) =
        (struct bp_variable){.name = 1, .value = 1 + sizeof BP_RULES_VARIABLE};
    variables->count = 1;
}

int bp_session_init(struct bp_session *session, const struct bp_session_about *about,
                    struct bp_error *error) {
    memset(session, 0, sizeof *session);
    session->fd = -1;
    session->path = bp_make_text("%s/" BP_SESSION_FILE, about->directory);
    session->size = file_size(about);
    if (map_file(session, error)) {
        if (session->fd >= 0)
            unlink(session->path);
        bp_session_fini(session);
        return -1;
    }
    fill_header(session->header, about);
    session->tree_chunk = add_chunk(session->header, BP_TREE, 1);
    session->reaped_chunk = add_chunk(session->header, BP_REAPED, 1);
    add_chunk(session->header, BP_MARKS, BP_MARKS_KEPT);
    add_rules(session->header, about->rules);
    bp_header_publish(session->header);
    session->tree = (struct bp_tree *)(session->tree_chunk + 1);
    session->reaped = (struct bp_reaped *)(session->reaped_chunk + 1);
    session->tree->clock = session->header->clock;
    session->tree_chunk->count = 1;
    bp_session_begin(session);
    return 0;
}

uint64_t bp_session_now(const struct bp_session *session) {
    return bp_clock_now(session->header->clock);
}

void bp_session_begin(struct bp_session *session) {
    session->header->start = bp_session_now(session);
    session->tree->start = session->header->start;
}

/* Doubt is 50 ns: in the millisecond that fork and exec take, 50 ppm. */
void bp_session_started(struct bp_session *session) {
    struct bp_header *header = session->header;
    struct bp_clock_pair now = bp_clock_pair_now(header->clock);
    uint64_t ns = now.monotonic_ns - header->first.monotonic_ns;
    uint64_t ticks = now.ticks - header->first.ticks;
    header->ticks_per_s = ns ? (uint64_t)((double)ticks * 1e9 / (double)ns) : 0;
}

/* A zombie nobody waits for is as dead as one that is gone: its threads run no more. */
static bool is_gone(pid_t pid) {
    char path[64], stat[512] = "";
    if (kill(pid, 0) && errno == ESRCH)
        return true;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_line(path, stat, sizeof stat);
    const char *name_end = strrchr(stat, ')');
    return name_end && (name_end[2] == 'Z' || name_end[2] == 'X');
}

static unsigned release_dead(struct bp_tree *tree, uint64_t ticks) {
    unsigned running = 0;
    for (unsigned i = 0; i < BP_TREE_SLOTS; i++) {
        struct bp_tree_slot *slot = &tree->slots[i];
        int32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);
        if (pid <= 0)
            continue;
        if (is_gone(pid))
            bp_tree_release(tree, slot, ticks);
        else
            running++;
    }
    return running;
}

unsigned bp_session_end(struct bp_session *session, pid_t pid, int status, uint64_t ticks) {
    struct bp_header *header = session->header;
    uint64_t v = bp_tree_close(session->tree, ticks).v;
    *session->reaped = (struct bp_reaped){.pid = pid, .status = status, .ticks = ticks, .v = v};
    session->reaped_chunk->count = 1;
    unsigned running = release_dead(session->tree, ticks);
    header->end = ticks;
    header->end_v = v;
    header->last = bp_clock_pair_now(header->clock);
    /* As a shell would put it; the exact status is in the reaped record. */
    header->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    header->state = BP_EXITED;
    return running;
}

void bp_session_fini(struct bp_session *session) {
    if (session->header)
        munmap(session->header, session->size);
    if (session->fd >= 0)
        close(session->fd);
    free(session->path);
    *session = (struct bp_session){.fd = -1};
}
