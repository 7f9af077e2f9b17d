/* SPDX-License-Identifier: MIT
 *
 * libdsl.so: the ARC grid DSL. Everything the library exports is listed here; calls between these
 * functions go through the PLT, so an interposer sees them.
 *
 * Each function takes the arena of its run, where its result lives and where the first error stays.
 * A function that cannot do its work returns NULL (or 0, or a value of type DSL_NONE) and leaves a
 * message there. Arguments must be valid values; an arena belongs to one thread at a time.
 */
#pragma once

#include "dsl/value.h"

/* Arena: new/free, reset between samples; error is NULL while all is well. */
DSL_API struct dsl_arena *dsl_arena_new(void);
DSL_API void dsl_arena_reset(struct dsl_arena *arena);
DSL_API void dsl_arena_free(struct dsl_arena *arena);
DSL_API const char *dsl_arena_error(const struct dsl_arena *arena);

/* Values from outside. cells has height × width colours, row after row. */
DSL_API const struct dsl_grid *dsl_grid_new(struct dsl_arena *arena, int height, int width,
                                            const uint8_t *cells);
DSL_API int dsl_compare(struct dsl_value a, struct dsl_value b);
DSL_API const struct dsl_function *dsl_function_find(const char *name);

/* Logs every call of a DSL function, one flushed line each; dsl_log_call is exported so that its
 * price is visible too. Open before threads start, close after they end. */
DSL_API int dsl_log_open(const char *path);
DSL_API void dsl_log_close(void);
DSL_API void dsl_log_call(const char *name, const char *signature, ...);

/* Grids on a GPU. batch: a copy each way per operation; naive: per operation and grid, with memory
 * of its own each time; resident: the grids go up once, all results come down together. new gives
 * NULL where there is no device; a gpu belongs to one thread at a time. */
enum dsl_gpu_mode { DSL_GPU_BATCH, DSL_GPU_NAIVE, DSL_GPU_RESIDENT };
DSL_API struct dsl_gpu *dsl_gpu_new(enum dsl_gpu_mode mode);
DSL_API void dsl_gpu_free(struct dsl_gpu *gpu);
/* Every operation on every one of n grids: out[k * n + s] is operation k on grid s. Few grids, or a
 * device that fails (or NULL), are left to the processor. */
DSL_API void batch_process_samples_gpu(struct dsl_gpu *gpu, const struct task_grid *in, int n,
                                       const struct dsl_gpu_op *op, int ops, struct task_grid *out);

#define ARENA struct dsl_arena *arena
#define GRID const struct dsl_grid *
#define OBJECT const struct dsl_object *
#define TUPLE const struct dsl_tuple *
#define FUNCTION const struct dsl_function *
#define PAIR struct dsl_pair
#define VALUE struct dsl_value

/* Finding objects. o_g takes 0…7 (R0…R7): univalued 4, diagonal 2, without background 1. The _t
 * forms give reading order of each object's first cell, the others a set. */
DSL_API TUPLE objects(ARENA, GRID grid, int univalued, int diagonal, int without_bg);
DSL_API TUPLE objects_t(ARENA, GRID grid, int univalued, int diagonal, int without_bg);
DSL_API TUPLE o_g(ARENA, GRID grid, int kind);
DSL_API TUPLE o_g_t(ARENA, GRID grid, int kind);
DSL_API TUPLE partition(ARENA, GRID grid);
DSL_API TUPLE fgpartition(ARENA, GRID grid);

/* Places. connect(2) belongs to libc: exporting that name would take over the sockets of the whole
 * process, so the DSL's connect is dsl_connect. */
DSL_API OBJECT dneighbors(ARENA, PAIR place);
DSL_API OBJECT ineighbors(ARENA, PAIR place);
DSL_API OBJECT neighbors(ARENA, PAIR place);
DSL_API OBJECT dsl_connect(ARENA, PAIR from, PAIR to);
DSL_API OBJECT shoot(ARENA, PAIR from, PAIR direction);
DSL_API PAIR gravitate(ARENA, OBJECT source, OBJECT destination);
DSL_API int manhattan(ARENA, OBJECT a, OBJECT b);
DSL_API int adjacent(ARENA, OBJECT a, OBJECT b);
DSL_API int vmatching(ARENA, OBJECT a, OBJECT b);

/* Outlines of a patch. */
DSL_API OBJECT backdrop(ARENA, OBJECT patch);
DSL_API OBJECT delta(ARENA, OBJECT patch);
DSL_API OBJECT box(ARENA, OBJECT patch);
DSL_API OBJECT inbox(ARENA, OBJECT patch);
DSL_API OBJECT outbox(ARENA, OBJECT patch);
DSL_API PAIR ulcorner(ARENA, OBJECT patch);
DSL_API PAIR lrcorner(ARENA, OBJECT patch);
DSL_API PAIR center(ARENA, OBJECT patch);
DSL_API int bordering(ARENA, OBJECT patch, GRID grid);

/* Moving and recolouring objects. */
DSL_API OBJECT shift(ARENA, OBJECT patch, PAIR by);
DSL_API OBJECT normalize(ARENA, OBJECT patch);
DSL_API OBJECT recolor(ARENA, int colour, OBJECT patch);
DSL_API OBJECT toindices(ARENA, OBJECT patch);
DSL_API OBJECT asindices(ARENA, GRID grid);
DSL_API OBJECT asobject(ARENA, GRID grid);
DSL_API OBJECT ofcolor(ARENA, GRID grid, int colour);

/* Drawing on a grid; cells outside of it are left out. */
DSL_API GRID canvas(ARENA, int colour, PAIR dims);
DSL_API GRID fill(ARENA, GRID grid, int colour, OBJECT patch);
DSL_API GRID paint(ARENA, GRID grid, OBJECT object);
DSL_API GRID underpaint(ARENA, GRID grid, OBJECT object);
DSL_API GRID cover(ARENA, GRID grid, OBJECT patch);
DSL_API GRID move(ARENA, GRID grid, OBJECT object, PAIR by);

/* Whole grids. The mirrors and upscale take an object as well. */
DSL_API VALUE hmirror(ARENA, VALUE piece);
DSL_API VALUE vmirror(ARENA, VALUE piece);
DSL_API VALUE dmirror(ARENA, VALUE piece);
DSL_API VALUE cmirror(ARENA, VALUE piece);
DSL_API VALUE upscale(ARENA, VALUE element, int factor);
DSL_API GRID downscale(ARENA, GRID grid, int factor);
DSL_API GRID rot90(ARENA, GRID grid);
DSL_API GRID rot180(ARENA, GRID grid);
DSL_API GRID rot270(ARENA, GRID grid);
DSL_API GRID hconcat(ARENA, GRID left, GRID right);
DSL_API GRID vconcat(ARENA, GRID top, GRID bottom);
DSL_API TUPLE hsplit(ARENA, GRID grid, int n);
DSL_API TUPLE vsplit(ARENA, GRID grid, int n);
DSL_API GRID crop(ARENA, GRID grid, PAIR start, PAIR dims);
DSL_API GRID subgrid(ARENA, OBJECT patch, GRID grid);
DSL_API GRID compress(ARENA, GRID grid);
DSL_API GRID trim(ARENA, GRID grid);
DSL_API GRID tophalf(ARENA, GRID grid);
DSL_API GRID bottomhalf(ARENA, GRID grid);
DSL_API GRID lefthalf(ARENA, GRID grid);
DSL_API GRID righthalf(ARENA, GRID grid);
DSL_API GRID replace(ARENA, GRID grid, int from, int to);
DSL_API GRID switch_(ARENA, GRID grid, int a, int b) __asm__("switch"); /* a keyword in C */

/* Measures; ties of mostcolor and leastcolor go to the lower colour. */
DSL_API TUPLE palette(ARENA, VALUE element);
DSL_API int mostcolor(ARENA, VALUE element);
DSL_API int leastcolor(ARENA, VALUE element);
DSL_API int colorcount(ARENA, VALUE element, int colour);
DSL_API int color(ARENA, OBJECT object);
DSL_API int height(ARENA, VALUE piece);
DSL_API int width(ARENA, VALUE piece);
DSL_API PAIR shape(ARENA, VALUE piece);
DSL_API int size(ARENA, VALUE container);

/* Containers. difference works on two sets or two objects. */
DSL_API TUPLE dedupe(ARENA, TUPLE tuple);
DSL_API VALUE difference(ARENA, VALUE a, VALUE b);
DSL_API TUPLE difference_tuple(ARENA, TUPLE a, TUPLE b);
DSL_API VALUE get_nth_t(ARENA, TUPLE tuple, int n);
DSL_API VALUE get_nth_f(ARENA, TUPLE set, int n);
DSL_API PAIR astuple(ARENA, int a, int b);
DSL_API VALUE merge(ARENA, TUPLE containers);
DSL_API TUPLE colorfilter(ARENA, TUPLE objs, int colour);
DSL_API TUPLE sizefilter(ARENA, TUPLE containers, int n);
DSL_API int equality(ARENA, VALUE a, VALUE b);
DSL_API int greater(ARENA, int a, int b);

/* Functions of functions. */
DSL_API TUPLE apply(ARENA, FUNCTION function, TUPLE container);
DSL_API VALUE mapply(ARENA, FUNCTION function, TUPLE container);
DSL_API TUPLE prapply(ARENA, FUNCTION function, TUPLE a, TUPLE b);
DSL_API VALUE mpapply(ARENA, FUNCTION function, TUPLE a, TUPLE b);
DSL_API TUPLE sfilter(ARENA, TUPLE container, FUNCTION condition);
DSL_API VALUE mfilter(ARENA, TUPLE container, FUNCTION condition);
DSL_API VALUE argmax(ARENA, TUPLE container, FUNCTION key);
DSL_API VALUE argmin(ARENA, TUPLE container, FUNCTION key);
DSL_API VALUE identity(ARENA, VALUE value);
DSL_API FUNCTION lbind(ARENA, FUNCTION function, VALUE first);
DSL_API FUNCTION rbind(ARENA, FUNCTION function, VALUE last);
DSL_API FUNCTION compose(ARENA, FUNCTION outer, FUNCTION inner);

#undef ARENA
#undef GRID
#undef OBJECT
#undef TUPLE
#undef FUNCTION
#undef PAIR
#undef VALUE
