/* SPDX-License-Identifier: MIT
 *
 * The values of the grid DSL. All of them are immutable once returned and live in the arena of the
 * run that made them, so nothing is freed singly and pointers may be shared freely until the arena
 * is reset. A patch without colours ("indices") is an object whose cells have DSL_NO_COLOUR.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DSL_API __attribute__((visibility("default")))

/* ARC grids end at 30; scaling and concatenation inside a solver may go beyond for a while. */
#define DSL_ARC_SIDE 30
#define DSL_SIDE_MAX 120
#define DSL_COLOURS 10
#define DSL_NO_COLOUR (-1)
#define DSL_ARGS_MAX 4

struct dsl_arena;
struct dsl_value;

enum dsl_type {
    DSL_NONE,
    DSL_INT,
    DSL_PAIR,
    DSL_GRID,
    DSL_OBJECT,
    DSL_TUPLE,
    DSL_FUNCTION,
};

/* A cell's place, an offset, a direction or a shape (height, width). */
struct dsl_pair {
    int i, j;
};

struct dsl_cell {
    int16_t i, j;
    int16_t colour;
};

struct dsl_grid {
    int height, width;
    uint8_t cell[]; /* row after row */
};

/* Sorted by (i, j, colour), without duplicates. */
struct dsl_object {
    int n;
    struct dsl_cell cell[];
};

/* A grid as plain memory outside of any arena; height 0: none. */
struct task_grid {
    uint8_t height, width;
    uint8_t cell[DSL_ARC_SIDE * DSL_ARC_SIDE];
};

/* What a device can do with a grid; a and b are colours. */
enum dsl_gpu_kind {
    DSL_GPU_HMIRROR,
    DSL_GPU_VMIRROR,
    DSL_GPU_DMIRROR,
    DSL_GPU_CMIRROR,
    DSL_GPU_ROT90,
    DSL_GPU_ROT180,
    DSL_GPU_ROT270,
    DSL_GPU_TURNS,
    DSL_GPU_REPLACE = DSL_GPU_TURNS,
    DSL_GPU_SWITCH,
};

struct dsl_gpu_op {
    enum dsl_gpu_kind kind;
    int a, b;
};

struct dsl_value {
    enum dsl_type type;
    union {
        int number;
        struct dsl_pair pair;
        const struct dsl_grid *grid;
        const struct dsl_object *object;
        const struct dsl_tuple *tuple;
        const struct dsl_function *function;
    };
};

/* is_set: sorted by dsl_compare() and free of duplicates; otherwise in the order it was made. */
struct dsl_tuple {
    int n;
    bool is_set;
    struct dsl_value item[];
};

/* A function as a value. The letters of a signature are those of dsl/functions.def; bound is what
 * lbind, rbind and compose hold on to. */
struct dsl_function {
    const char *name;
    char returns;
    char takes[DSL_ARGS_MAX + 1];
    struct dsl_value (*call)(struct dsl_arena *arena, const struct dsl_function *self,
                             const struct dsl_value *args);
    struct dsl_value bound[2];
};

/* Whether a value of this type may be given for the letter of a signature. */
static inline bool dsl_type_fits(char letter, enum dsl_type type) {
    static const char letters[] = "-IPGOTF"; /* in the order of enum dsl_type */
    return type != DSL_NONE && (letter == 'V' || letter == letters[type]);
}

static inline struct dsl_value value_none(void) {
    return (struct dsl_value){.type = DSL_NONE, .grid = NULL};
}

static inline struct dsl_value value_int(int number) {
    return (struct dsl_value){.type = DSL_INT, .number = number};
}

static inline struct dsl_value value_pair(struct dsl_pair pair) {
    return (struct dsl_value){.type = DSL_PAIR, .pair = pair};
}

/* A null pointer, the mark of a failed call, becomes DSL_NONE. */
static inline struct dsl_value value_grid(const struct dsl_grid *grid) {
    return (struct dsl_value){.type = grid ? DSL_GRID : DSL_NONE, .grid = grid};
}

static inline struct dsl_value value_object(const struct dsl_object *object) {
    return (struct dsl_value){.type = object ? DSL_OBJECT : DSL_NONE, .object = object};
}

static inline struct dsl_value value_tuple(const struct dsl_tuple *tuple) {
    return (struct dsl_value){.type = tuple ? DSL_TUPLE : DSL_NONE, .tuple = tuple};
}

static inline struct dsl_value value_function(const struct dsl_function *function) {
    return (struct dsl_value){.type = function ? DSL_FUNCTION : DSL_NONE, .function = function};
}
