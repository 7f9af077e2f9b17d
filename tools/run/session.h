/* SPDX-License-Identifier: MIT
 *
 * DIR/run.bp: what `battprof run` itself knows of a run. It holds the wall page that all processes
 * of the tree share, the instant just before the start, and how the first process ended. It is
 * there in full before the target starts and needs no further disk space.
 */
#ifndef BP_TOOLS_RUN_SESSION_H
#define BP_TOOLS_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/format.h"
#include "tools/base/error.h"

struct bp_session {
    char *path; /* ours */
    int fd;
    struct bp_header *header;
    struct bp_chunk *tree_chunk;
    struct bp_chunk *reaped_chunk;
    struct bp_tree *tree;
    struct bp_reaped *reaped;
    uint64_t size; /* of the file */
};

/* What goes into the header; all borrowed. */
struct bp_session_about {
    const char *directory;
    char **command;
    const char *executable;
    const char *hooks;
    const char *project; /* folder; "" without */
    const char *rules;   /* JSON; "" without */
    bool paused;         /* processes begin paused */
};

int bp_session_init(struct bp_session *session, const struct bp_session_about *about,
                    struct bp_error *error);

/* The instant from which the wall counts: call it directly before fork. */
void bp_session_begin(struct bp_session *session);

/* The target runs: a first estimate of the clock's rate, for who looks before the end, or if we are
 * killed; the pair of readings at the end makes it exact. Not before: it would wait for it. */
void bp_session_started(struct bp_session *session);

/* The target `pid` ended with `status` (as from wait) at `ticks`. Processes that died busy leave
 * the wall page. Returns how many of the tree are still running. */
unsigned bp_session_end(struct bp_session *session, pid_t pid, int status, uint64_t ticks);

uint64_t bp_session_now(const struct bp_session *session);

void bp_session_fini(struct bp_session *session);

#endif
