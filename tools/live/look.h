/* SPDX-License-Identifier: MIT
 *
 * A run while it goes on: looks at the files of its processes, and what has changed between two of
 * them. Numbers only; screen.c shows them. The targets know nothing of it.
 *
 * Times are as recorded: the profiler's own part, which a report estimates and takes out, is in
 * them.
 */
#ifndef BP_TOOLS_LIVE_LOOK_H
#define BP_TOOLS_LIVE_LOOK_H

#include "tools/base/error.h"
#include "tools/live/device.h"
#include "tools/live/thread.h"

struct bp_task_watch;

enum bp_live_state {
    BP_LIVE_RUNS,
    BP_LIVE_ENDED,
    BP_LIVE_REPLACED, /* by exec */
    BP_LIVE_GONE,     /* killed, or of another machine: when it ended is unknown */
};

struct bp_live_process {
    struct bp_live_file file; /* closed when it has ended and was looked at once more */
    char *name;               /* of the file */
    char *program;
    int32_t pid;
    enum bp_live_state state;
    bool done;            /* it has ended, and was looked at since */
    bool closed;          /* so is its file */
    double paused_idle_s; /* of the wall: it was paused, and nobody was busy */
    uint64_t seen;        /* ticks of the last look that found it running; 0: none did */
    uint32_t *map;
    uint32_t map_count;
    struct bp_live_thread *threads;
    uint32_t thread_count;
    struct bp_live_devices devices;
};

struct bp_live_totals {
    double wall_s;
    double category_s[BP_CATEGORIES]; /* of the wall; framework has all the rest */
    double busy_s;                    /* thread-seconds */
    double waiting_s;
    double paused_s; /* of the wall: recording was paused */
    double ready_s;  /* thread-seconds without a CPU, per second; < 0: unknown */
    uint32_t threads;
    uint32_t alive;
    uint32_t processes;
    uint32_t running;
    uint32_t lost; /* processes that disappeared before they were looked at */
};

struct bp_look {
    char *directory;
    char *root; /* name of the file with the wall page */
    char *command;
    struct bp_rules *given; /* the file of --rules, or the built-in ones */
    struct bp_rules *rules; /* those, with what the run was given; NULL before its first process */
    struct bp_live_process **processes;
    uint32_t process_count;
    struct bp_keys names;
    struct bp_live_file session;
    bool has_session;
    struct bp_live_functions functions;
    struct bp_live_totals since_start;
    struct bp_live_totals interval;
    struct bp_live_devices devices; /* sums */
    struct bp_live_devices devices_before;
    struct bp_task_watch *tasks;
    uint32_t left_out; /* files that are no profiles */
    uint32_t looks;
    uint64_t looked_ns; /* CLOCK_MONOTONIC, of the last one */
    uint64_t clocks_ns; /* when the threads' CPU clocks were read */
};

/* `path` is a run's directory, or a file of it. */
int bp_look_init(struct bp_look *look, const char *path, const char *rules, struct bp_error *error);
void bp_look_fini(struct bp_look *look);

/* Looks again: totals since the start, and since the look before. */
void bp_look_again(struct bp_look *look);

/* rules.c: by what the run was given, once there is a process that says it. */
void bp_look_choose_rules(struct bp_look *look);

/* total.c: the CPU clocks of the threads that live, and the sums over all. */
void bp_look_read_clocks(struct bp_look *look);
void bp_look_sum(struct bp_look *look, const struct bp_tree *tree, uint64_t now_ns);

/* The file with the wall page, NULL before there is one; what is run, "" if unknown. */
const struct bp_live_file *bp_look_root(const struct bp_look *look);
const char *bp_look_program(const struct bp_look *look);

/* False when all processes have ended. */
bool bp_look_is_running(const struct bp_look *look);

#endif
