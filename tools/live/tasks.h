/* SPDX-License-Identifier: MIT
 *
 * The tasks of a run that goes on, read from its profiles while the targets write them. A task of a
 * process that was killed is running for ever here; the report knows better.
 */
#ifndef BP_TOOLS_LIVE_TASKS_H
#define BP_TOOLS_LIVE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BP_WATCHED_TEXT 80

/* A task that runs, or ended in this poll or the one before: its parts are in other files, which
 * may have been read before they ended. */
struct bp_watched_task {
    size_t file;
    uint32_t index;
    uint32_t thread;
    uint64_t start;
    uint64_t end; /* 0: it runs */
    bool old;     /* ended before this poll */
    bool failed;
    bool part; /* of another task */
    char id[BP_WATCHED_TEXT];
    char function[BP_WATCHED_TEXT]; /* "" for a range */
};

struct bp_task_counts {
    uint64_t ended; /* with those that failed */
    uint64_t failed;
    uint64_t running;
};

struct bp_task_watch;

/* Watches the profiles in `directory`, which is borrowed. */
struct bp_task_watch *bp_task_watch_new(const char *directory);
void bp_task_watch_free(struct bp_task_watch *watch);

void bp_task_watch_poll(struct bp_task_watch *watch);
struct bp_task_counts bp_task_watch_counts(const struct bp_task_watch *watch);

/* The tasks that ended since the poll before, one after the other; the first behind NULL. */
const struct bp_watched_task *bp_task_watch_next(const struct bp_task_watch *watch,
                                                 const struct bp_watched_task *task);

#endif
