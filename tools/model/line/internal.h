/* SPDX-License-Identifier: MIT
 *
 * While lines are found: what samples say is kept as cells, one for each thing that is measured
 * (an item) and each pool of time that it was sampled in. Only when all samples are read is it
 * known what a sample of a pool stands for.
 */
#ifndef BP_TOOLS_MODEL_LINE_INTERNAL_H
#define BP_TOOLS_MODEL_LINE_INTERNAL_H

#include "tools/model/pool.h"

#define BP_NO_LINE UINT32_MAX

enum bp_item_kind {
    BP_ITEM_SELF,          /* of a line */
    BP_ITEM_TOTAL,         /* of a line */
    BP_ITEM_CALLEE,        /* of a line, in a function that it calls */
    BP_ITEM_WORK,          /* of a line, by what the interpreter was doing */
    BP_ITEM_FUNCTION_WORK, /* of a function, the same */
    BP_ITEM_FUNCTION_TOTAL
};

/* Without padding: it is a key. */
struct bp_line_item {
    uint32_t kind;
    uint32_t subject; /* a line, or a function */
    uint32_t work;    /* enum bp_line_work */
    uint32_t function;
};

/* What was sampled of an item in one pool. Without padding up to `count`: it is a key. */
struct bp_line_cell {
    uint32_t item;
    uint32_t pool;
    uint64_t count;
    double weight;
};

/* What a line is known by. Without padding: it is a key. */
struct bp_line_key {
    uint32_t function;
    uint32_t file;
    uint32_t line;
};

struct bp_line_reading {
    struct bp_model *model;
    struct bp_keys file_table;
    const char **files;
    const char **directories; /* per file */
    struct bp_keys line_table;
    struct bp_line_key *lines;
    struct bp_keys item_table;
    struct bp_line_item *items;
    uint64_t *counted; /* per item: the last stack that it was counted in */
    struct bp_keys cell_table;
    struct bp_line_cell *cells;
    uint64_t stack;  /* number of the one that is being read */
    uint8_t *works;  /* per function: enum bp_line_work, + 1; 0: not looked up yet */
    uint32_t looked; /* length of `works` */
};

/* line.c: adds the CPU samples of a thread. */
void bp_line_read_thread(struct bp_line_reading *reading, struct bp_stack_reader *reader,
                         const struct bp_profile_thread *thread, const struct bp_thread_work *work,
                         const struct bp_stack_frame *frames, const struct bp_pools *pools);

/* sum.c: makes the model's lines of it, and frees it. */
void bp_line_finish(struct bp_line_reading *reading, const struct bp_pools *pools);

/* work.c: what the interpreter was doing, as the frames from `leaf` to the innermost Python
 * function tell; `function` as in struct bp_work. */
enum bp_line_work bp_work_find(struct bp_line_reading *reading,
                               const struct bp_profile_thread *thread,
                               const struct bp_stack_frame *frames, uint32_t leaf,
                               uint32_t *function);

#endif
