/* SPDX-License-Identifier: MIT
 *
 * Making, ordering and sealing values. The order is total and depends on contents only, never on
 * addresses: it decides what get_nth_f takes from a set, so results must be the same in every run.
 */
#include "dsl/internal.h"

#include <stdlib.h>
#include <string.h>

struct dsl_grid *dsl_grid_blank(struct dsl_arena *arena, int h, int w) {
    if (h < 1 || w < 1 || h > DSL_SIDE_MAX || w > DSL_SIDE_MAX) {
        dsl_fail(arena, "grid is empty or too large");
        return NULL;
    }
    struct dsl_grid *grid = dsl_alloc(arena, sizeof(*grid) + (size_t)h * (size_t)w);
    if (grid)
        *grid = (struct dsl_grid){.height = h, .width = w};
    return grid;
}

/* Callers count in 64 bits, so that a count that is too large arrives as such. */
static bool room_ok(struct dsl_arena *arena, int64_t room) {
    if (room <= ITEMS_MAX)
        return true;
    dsl_fail(arena, "too many cells or items");
    return false;
}

struct dsl_object *dsl_object_blank(struct dsl_arena *arena, int64_t room) {
    struct dsl_object *object;
    if (!room_ok(arena, room))
        return NULL;
    object = dsl_alloc(arena, sizeof(*object) + (size_t)room * sizeof(object->cell[0]));
    if (object)
        object->n = 0;
    return object;
}

struct dsl_tuple *dsl_tuple_blank(struct dsl_arena *arena, int64_t room) {
    struct dsl_tuple *tuple;
    if (!room_ok(arena, room))
        return NULL;
    tuple = dsl_alloc(arena, sizeof(*tuple) + (size_t)room * sizeof(tuple->item[0]));
    if (tuple)
        *tuple = (struct dsl_tuple){.n = 0, .is_set = false};
    return tuple;
}

const struct dsl_grid *dsl_grid_new(struct dsl_arena *arena, int h, int w, const uint8_t *cells) {
    struct dsl_grid *grid = dsl_grid_blank(arena, h, w);
    if (grid)
        memcpy(grid->cell, cells, (size_t)h * (size_t)w);
    return grid;
}

int dsl_cell_compare(struct dsl_cell a, struct dsl_cell b) {
    if (a.i != b.i)
        return a.i < b.i ? -1 : 1;
    if (a.j != b.j)
        return a.j < b.j ? -1 : 1;
    return (a.colour > b.colour) - (a.colour < b.colour);
}

static int compare_ints(int a, int b) {
    return (a > b) - (a < b);
}

static int compare_grids(const struct dsl_grid *a, const struct dsl_grid *b) {
    int order = compare_ints(a->height, b->height);
    if (!order)
        order = compare_ints(a->width, b->width);
    if (!order)
        order = memcmp(a->cell, b->cell, (size_t)a->height * (size_t)a->width);
    return order;
}

/* Smaller objects first, then by their cells. */
static int compare_objects(const struct dsl_object *a, const struct dsl_object *b) {
    int order = compare_ints(a->n, b->n);
    for (int k = 0; !order && k < a->n; k++)
        order = dsl_cell_compare(a->cell[k], b->cell[k]);
    return order;
}

static int compare_tuples(const struct dsl_tuple *a, const struct dsl_tuple *b) {
    int order = compare_ints(a->n, b->n);
    for (int k = 0; !order && k < a->n; k++)
        order = dsl_value_compare(a->item[k], b->item[k]);
    return order;
}

int dsl_value_compare(struct dsl_value a, struct dsl_value b) {
    if (a.type != b.type)
        return a.type < b.type ? -1 : 1;
    switch (a.type) {
    case DSL_INT:
        return compare_ints(a.number, b.number);
    case DSL_PAIR:
        return a.pair.i != b.pair.i ? compare_ints(a.pair.i, b.pair.i)
                                    : compare_ints(a.pair.j, b.pair.j);
    case DSL_GRID:
        return compare_grids(a.grid, b.grid);
    case DSL_OBJECT:
        return compare_objects(a.object, b.object);
    case DSL_TUPLE:
        return compare_tuples(a.tuple, b.tuple);
    case DSL_FUNCTION:
        return strcmp(a.function->name, b.function->name);
    case DSL_NONE:
        break;
    }
    return 0;
}

/* Exported for callers outside; inside, comparing is no call of the DSL and stays off the PLT. */
int dsl_compare(struct dsl_value a, struct dsl_value b) {
    return dsl_value_compare(a, b);
}

static int sort_cells(const void *a, const void *b) {
    return dsl_cell_compare(*(const struct dsl_cell *)a, *(const struct dsl_cell *)b);
}

static int sort_values(const void *a, const void *b) {
    return dsl_value_compare(*(const struct dsl_value *)a, *(const struct dsl_value *)b);
}

/* Most builders push in order already, so look before sorting. */
static bool cells_ordered(const struct dsl_object *object) {
    for (int k = 1; k < object->n; k++)
        if (dsl_cell_compare(object->cell[k - 1], object->cell[k]) >= 0)
            return false;
    return true;
}

const struct dsl_object *dsl_object_seal(struct dsl_object *object) {
    if (cells_ordered(object))
        return object;
    qsort(object->cell, (size_t)object->n, sizeof(object->cell[0]), sort_cells);
    int kept = 0;
    for (int k = 0; k < object->n; k++)
        if (!kept || dsl_cell_compare(object->cell[kept - 1], object->cell[k]))
            object->cell[kept++] = object->cell[k];
    object->n = kept;
    return object;
}

const struct dsl_tuple *dsl_set_seal(struct dsl_tuple *tuple) {
    tuple->is_set = true;
    qsort(tuple->item, (size_t)tuple->n, sizeof(tuple->item[0]), sort_values);
    int kept = 0;
    for (int k = 0; k < tuple->n; k++)
        if (!kept || dsl_value_compare(tuple->item[kept - 1], tuple->item[k]))
            tuple->item[kept++] = tuple->item[k];
    tuple->n = kept;
    return tuple;
}
