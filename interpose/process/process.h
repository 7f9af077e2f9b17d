/* SPDX-License-Identifier: MIT
 *
 * The process in its tree: its file, its place on the wall page, its children and its end.
 */
#ifndef BP_INTERPOSE_PROCESS_PROCESS_H
#define BP_INTERPOSE_PROCESS_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "profile/format.h"

struct bp_config {
    const char *directory; /* absolute */
    const char *tree;      /* file with the wall page, or NULL: this process is the root */
    const char *library;   /* our own path, for children */
    char **arguments;      /* of the program, or NULL: not as it began with them */
    int quiet;
    int speaks; /* prints the summary: the first process of a tree, whatever it became by exec */
};

/* Create this program's file and header. 0 or -errno. */
int bp_process_create(const struct bp_config *config, uint64_t start);

/* Join the tree's wall page, or make one. */
void bp_process_join_tree(const struct bp_config *config);

/* The header of the file with the wall page that this process joined; NULL: that is its own. */
struct bp_header *bp_process_run(void);

/* Whether the run that this process joined is paused: so do its new programs begin. */
int bp_process_is_run_paused(void);

/* Announce the wrappers of exec, spawn and _exit; register for fork and exit. */
void bp_process_init(void);

/* Around fork, for who forks without libc's handlers. */
void bp_process_before_fork(void);
void bp_process_after_fork_parent(void);
void bp_process_after_fork_child(void);

/* clone.c: announce the wrappers of the calls that fork without handlers. */
void bp_clone_init(void);

/* clone.c: whether a system call forks as fork does; and then do it. */
int bp_clone_forks(long number, long flags, long stack);
long bp_clone_syscall(long (*syscall)(long, long, long, long, long, long, long),
                      const long *arguments);

/* A child was waited for. */
void bp_process_reaped(pid_t pid, int status);

/* Put into the environment what children need, for functions that start programs inside libc. */
void bp_process_export(void);

/* summary.c: five lines on stderr. */
void bp_summary_print(void);

#endif
