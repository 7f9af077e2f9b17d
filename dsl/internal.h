/* SPDX-License-Identifier: MIT
 *
 * What the sources of libdsl.so share and nobody else sees: arena memory, the first error, builders
 * for values that are not finished yet, and the log hook.
 */
#pragma once

#include "dsl/dsl.h"

/* Read on every call, so a plain pointer: written only while there is one thread. */
extern void *dsl_log_stream;

#define LOG_CALL(name, ...)                                                                        \
    do {                                                                                           \
        if (__builtin_expect(dsl_log_stream != NULL, 0))                                           \
            dsl_log_call(name, __VA_ARGS__);                                                       \
    } while (0)

/* 16-byte aligned memory until the next reset; NULL and an error when there is none. */
void *dsl_alloc(struct dsl_arena *arena, size_t bytes);

/* Coordinates are int16_t, counts are int; no sane solver comes near, a wild one fails here. */
#define PLACE_MAX 16000
#define ITEMS_MAX 4000000

/* Keeps the first error. message must be a literal. */
void dsl_fail(struct dsl_arena *arena, const char *message);

bool dsl_failed(const struct dsl_arena *arena);

/* Builders: room for n, contents the caller's to fill, then sealed. */
struct dsl_grid *dsl_grid_blank(struct dsl_arena *arena, int height, int width);
struct dsl_object *dsl_object_blank(struct dsl_arena *arena, int64_t room);
struct dsl_tuple *dsl_tuple_blank(struct dsl_arena *arena, int64_t room);
const struct dsl_object *dsl_object_seal(struct dsl_object *object);
const struct dsl_tuple *dsl_set_seal(struct dsl_tuple *tuple);

int dsl_value_compare(struct dsl_value a, struct dsl_value b);
int dsl_cell_compare(struct dsl_cell a, struct dsl_cell b);
struct dsl_value dsl_call(struct dsl_arena *arena, const struct dsl_function *function,
                          const struct dsl_value *args);

static inline void object_push(struct dsl_object *object, int i, int j, int colour) {
    object->cell[object->n++] = (struct dsl_cell){(int16_t)i, (int16_t)j, (int16_t)colour};
}
