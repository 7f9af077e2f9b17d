/* SPDX-License-Identifier: MIT
 *
 * Reads a profile file into heap memory. Nothing in the file is trusted: it may be cut, damaged,
 * made by someone else, or be written to by a running target while it is read. What the reader
 * hands out is checked: indices are in range, a node's parent comes before it, strings end.
 * Libc only, no output, no global state.
 */
#ifndef BP_PROFILE_READER_H
#define BP_PROFILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/format.h"

/* One sentence without the file's name, for the user. */
struct bp_read_error {
    char text[256];
};

/* A call that was open when the file was read or the target died. */
struct bp_profile_call {
    uint64_t start; /* or BP_ENTRY_UNTIMED */
    uint64_t child;
    uint32_t node;
    uint32_t flags; /* BP_ENTRY_INHERITED */
    bool outermost; /* no call of its function is open further out: `total` takes its duration */
    /* Its stub jumped to it: its node has counted it. It may have returned: `seen` is when it last
     * had not, if `start` is known. */
    bool counted;
    uint64_t seen;
};

struct bp_profile_thread {
    struct bp_thread info;
    uint32_t slot;   /* index in the file's BP_THREADS; 0 is the main thread */
    uint64_t missed; /* ticks of pauses that its open calls were moved by: for who does that */
    uint32_t node_count;
    struct bp_node *nodes;        /* at least the root */
    struct bp_profile_call *open; /* innermost first, the root last; none if the thread has ended */
    uint32_t open_count;
    /* Sampled stacks: a frame's parent comes before it, a sample's node and frame exist. */
    struct bp_frame *frames;
    struct bp_sample *samples;
    uint32_t frame_count;
    uint32_t sample_count;
};

struct bp_profile {
    struct bp_header header;
    struct bp_object *objects;
    struct bp_func *funcs; /* at least one; the last may stand for unknown ones */
    struct bp_profile_thread *threads;
    struct bp_reaped *reaped;
    struct bp_run_mark *marks; /* in no order */
    struct bp_tree *tree;      /* NULL if the file has none */
    /* Devices; thread numbers are those of bp_profile_thread.slot. */
    struct bp_device *devices;
    struct bp_transfer *transfers;
    struct bp_kernel *kernels;
    struct bp_split *splits;
    struct bp_wait *waits;
    struct bp_collector *collector; /* NULL if the file has none */
    struct bp_sampler *sampler;     /* likewise */
    uint32_t device_count;
    uint32_t transfer_count;
    uint32_t kernel_count;
    uint32_t split_count;
    uint32_t wait_count;
    /* Tasks; `thread` is BP_NO_THREAD where it is lost. `end` is never 0: of a task that was
     * running it is when the process was last seen. */
    struct bp_task *tasks;
    struct bp_task_node *task_nodes;
    struct bp_task_fold *task_folds;
    struct bp_variable *variables;
    uint32_t task_count;
    uint32_t task_node_count;
    uint32_t task_fold_count;
    uint32_t variable_count;
    struct bp_module *modules;
    uint32_t module_count;
    struct bp_line_count *lines; /* their functions exist */
    uint32_t line_count;
    char *strings;
    size_t string_size;
    uint32_t object_count;
    uint32_t func_count;
    uint32_t thread_count;
    uint32_t threads_recorded; /* in the file; more than thread_count if some are lost */
    uint32_t reaped_count;
    uint32_t mark_count;
    uint64_t marks_lost; /* for which there was no room */
    uint64_t latest;     /* of a target without an end: the last tick of which it left a trace */
    char missing[192];   /* what is not shown, "" if the file is whole */
};

/* 0 and a new profile, or -errno and a sentence: -ENOMSG for a file that is no profile, -EPROTO for
 * one of a format that this reader does not know, -EBADMSG for a damaged one. */
int bp_profile_read(const char *path, struct bp_profile **profile, struct bp_read_error *error);
int bp_profile_read_fd(int fd, struct bp_profile **profile, struct bp_read_error *error);

/* The header alone: enough to see which run a file belongs to. */
int bp_profile_read_header(const char *path, struct bp_header *header, struct bp_read_error *error);

void bp_profile_free(struct bp_profile *profile);

/* Borrowed; "" for an index outside. */
const char *bp_profile_string(const struct bp_profile *profile, uint32_t index);

/* The value of one of its variables, "" without. */
const char *bp_profile_variable(const struct bp_profile *profile, const char *name);

/* The thread of a slot; NULL if it was not read. */
const struct bp_profile_thread *bp_profile_thread_at(const struct bp_profile *profile,
                                                     uint32_t slot);

/* The sum of a node's histogram, its aborted calls and those that were counted only. */
uint64_t bp_node_calls(const struct bp_node *node);
uint64_t bp_node_jumped(const struct bp_node *node); /* of its untimed calls */

#endif
