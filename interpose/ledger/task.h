/* SPDX-License-Identifier: MIT
 *
 * Tasks: calls and ranges that are recorded one by one (profile/format_task.h). A task begins and
 * ends on the thread that runs it; what happened in between is the difference of the thread's nodes
 * at both moments, so nothing is added to the path of a call. task.c and task_node.c run below
 * stubs and are built as thread.c is.
 */
#ifndef BP_INTERPOSE_LEDGER_TASK_H
#define BP_INTERPOSE_LEDGER_TASK_H

#include "interpose/ledger/thread.h"

#define BP_TASK_DEPTH 32                           /* open at once in a thread */
#define BP_TASK_LEVELS 8                           /* of them with details */
#define BP_TASK_BLOCKS 32                          /* chunks of nodes that a thread can have */
#define BP_TASK_MOST_NODES (BP_TASK_BLOCKS * 1248) /* in them */
#define BP_TASK_TEXT 65                            /* of ids and names: 64 bytes and the end */

struct bp_task_open {
    const struct bp_entry *entry; /* the call; NULL: a range */
    uint64_t key;                 /* of a range: who may end it */
    struct bp_task *item;         /* NULL: it will be folded */
    uint32_t index;               /* of the item */
    uint32_t func;
    uint32_t flags;
    int32_t level; /* of the snapshot; -1: no details */
    uint64_t start;
    uint64_t part;
    uint64_t cpu_ns;
    uint64_t samples;
    char name[BP_TASK_TEXT];
};

/* What a node's calls were when they were last counted. */
struct bp_task_seen {
    uint64_t sum; /* of counters that grow with every call */
    uint64_t calls;
};

/* Where a node is in the tree, and which look at the nodes found it changed or open last. */
struct bp_task_look {
    uint32_t parent;
    uint32_t when;
};

/* By node. Zero pages until they are needed. */
struct bp_task_memory {
    struct bp_task_look looks[BP_TASK_MOST_NODES];
    struct bp_task_seen seen[BP_TASK_MOST_NODES];
    struct bp_task_node grown[BP_TASK_MOST_NODES]; /* not by node: the list of the last task's */
};

/* What a thread had run at an instant, and how often it had left its CPU. */
struct bp_task_cpu {
    uint64_t ticks; /* 0: never asked */
    uint64_t ns;
    uint64_t switches;
};

/* A thread's tasks; blocks go with the chunks of its nodes, oldest first. A level's block has what
 * the nodes were at look `based`: those that are as they were then need no writing. */
struct bp_task_state {
    struct bp_task_open open[BP_TASK_DEPTH]; /* in the order of their beginning */
    uint32_t count;
    uint32_t levels; /* bit mask of those in use */
    uint64_t own;    /* ticks spent here */
    uint32_t look;   /* looks at the nodes so far */
    uint32_t known;  /* nodes whose parents are noted */
    uint32_t based[BP_TASK_LEVELS];
    struct bp_task_cpu cpu;
    struct bp_task_memory *memory;
    struct bp_task_node *base[BP_TASK_LEVELS][BP_TASK_BLOCKS];
};

struct bp_task_what {
    const struct bp_entry *entry;
    uint32_t func;
    uint32_t flags;
    uint64_t key;
    const char *id;   /* at most 64 bytes of each are kept */
    const char *name; /* "" for a call */
};

/* Begin a task of the calling thread. */
void bp_task_begin(struct bp_thread *thread, const struct bp_task_what *what);

/* End the task that is the call of `entry`, if there is one. */
void bp_task_end_call(struct bp_thread *thread, const struct bp_entry *entry, uint64_t now,
                      int failed);

/* End the innermost range of that key. 0: none is open in this thread. */
int bp_task_end_range(struct bp_thread *thread, uint64_t key, int failed);

/* A range that another thread began ends: it gets its end, and no details. */
void bp_task_end_elsewhere(uint64_t key);

/* One more sample for the innermost open task. */
void bp_task_sample(struct bp_thread *thread);

/* The thread (flags 0) or the process (BP_TASK_UNFINISHED) ends: so do all its tasks. */
void bp_task_end_all(struct bp_thread *thread, uint64_t now, uint32_t flags);

/* A CUDA call of that thread, which began then, took `time`, of which so much was transfer and
 * waiting for a kernel: for the tasks that it was in. One caller at a time. */
void bp_task_spent(uint32_t thread, uint64_t began, uint64_t time, uint64_t transfer,
                   uint64_t wait);

/* In a forked child: the tasks are the parent's. */
void bp_task_after_fork(struct bp_thread *thread);

/* At most 64 bytes of printable UTF-8 from an address that may be none; 0 if they are no text.
 * `sure`: somebody says that it is one, so a longer text is cut. */
int bp_task_read_text(uint64_t address, char text[BP_TASK_TEXT], int sure);

/* Name of calls that generate code (BP_TASK_INPUT). */
#define BP_TASK_GENERATION "code generation"

/* What code is generated from, as a text: the whole of it if it is a line of at most 63 bytes, else
 * its head and a hash of all. 0 if the address leads to no text. */
int bp_task_read_input(uint64_t address, char text[BP_TASK_TEXT]);
void bp_task_print_input(char text[BP_TASK_TEXT], const char *bytes, uint64_t size, uint64_t hash);

#define BP_TASK_HASH UINT64_C(0xcbf29ce484222325) /* of nothing */
uint64_t bp_task_hash(uint64_t hash, const char *bytes, uint64_t size);

/* Whether the call that begins shall be recorded with its input (BP_TASK_INPUT): there is room, and
 * it is not within another. */
int bp_task_wants_input(struct bp_thread *thread);

void bp_task_print_number(char *text, uint64_t value);

/* By function of the profile, what tasks need to know of it: BP_FUNC_* >> 8 in the upper, enum
 * bp_func_kind in the lower bits. */
#define BP_TASK_FUNC_KIND 0x0fu
#define BP_TASK_FUNC_SAMPLE 0x40u
extern uint8_t bp_task_funcs[BP_FUNCTIONS] __attribute__((visibility("hidden")));

/* task_cpu.c: nanoseconds that the calling thread has run; where it lost its CPU since it was last
 * asked, up to a clock tick ago. */
uint64_t bp_task_cpu_ns(struct bp_task_cpu *cpu, uint64_t now);

/* task_node.c: what the nodes are now is the beginning of a level; 0: no memory. Calls further out
 * than a range that begins count with what they have got so far. */
int bp_task_snapshot(struct bp_thread *thread, int level, uint64_t now, int range);

struct bp_task_sums {
    uint64_t wait, io, samples;
    uint32_t count; /* nodes that grew */
};

/* Find what the nodes grew by since the level's beginning. `entry` is the task's call, still open,
 * or NULL; `ended` if it is just ending. */
struct bp_task_sums bp_task_difference(struct bp_thread *thread, int level, uint64_t now,
                                       const struct bp_entry *entry, int ended);

/* Copy what grew into the file, with the process lock held; the index of the first, or
 * BP_NO_TASK without room. */
uint32_t bp_task_write_nodes(const struct bp_thread *thread, uint32_t count);

/* In a forked child, whose nodes start again: nothing was looked at. Memory stays the parent's. */
void bp_task_forget(struct bp_task_state *state);

#endif
