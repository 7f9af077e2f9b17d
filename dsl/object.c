/* SPDX-License-Identifier: MIT
 *
 * Finding objects: flood fill over cells that belong together. The neighbourhood of a cell is asked
 * of neighbors() or dneighbors(), as the Python DSL does, so these calls show in a profile.
 */
#include "dsl/internal.h"

#include <string.h>

struct search {
    const struct dsl_grid *grid;
    uint8_t *seen;
    int *stack;
    int background; /* or DSL_NO_COLOUR: every colour counts */
    bool univalued;
    bool diagonal;
};

static bool search_init(struct search *search, struct dsl_arena *arena, const struct dsl_grid *grid,
                        int without_bg) {
    size_t area = (size_t)grid->height * (size_t)grid->width;
    search->grid = grid;
    search->seen = dsl_alloc(arena, area);
    search->stack = dsl_alloc(arena, area * sizeof(int));
    if (!search->seen || !search->stack)
        return false;
    memset(search->seen, 0, area);
    search->background = without_bg ? mostcolor(arena, value_grid(grid)) : DSL_NO_COLOUR;
    return true;
}

/* Marks the cells around one that belong to its object and puts them on the stack. */
static int push_around(struct search *search, struct dsl_arena *arena, int place, int colour,
                       int depth) {
    const struct dsl_grid *grid = search->grid;
    struct dsl_pair at = {place / grid->width, place % grid->width};
    const struct dsl_object *around =
        search->diagonal ? neighbors(arena, at) : dneighbors(arena, at);
    for (int k = 0; around && k < around->n; k++) {
        int i = around->cell[k].i, j = around->cell[k].j;
        if (i < 0 || j < 0 || i >= grid->height || j >= grid->width)
            continue;
        int next = i * grid->width + j;
        int there = grid->cell[next];
        if (search->seen[next] || there == search->background)
            continue;
        if (search->univalued && there != colour)
            continue;
        search->seen[next] = 1;
        search->stack[depth++] = next;
    }
    return depth;
}

static const struct dsl_object *flood(struct search *search, struct dsl_arena *arena, int start) {
    const struct dsl_grid *grid = search->grid;
    int area = grid->height * grid->width, depth = 0;
    struct dsl_object *object = dsl_object_blank(arena, area - start);
    if (!object)
        return NULL;
    search->seen[start] = 1;
    search->stack[depth++] = start;
    while (depth > 0) {
        int place = search->stack[--depth];
        object_push(object, place / grid->width, place % grid->width, grid->cell[place]);
        depth = push_around(search, arena, place, grid->cell[start], depth);
    }
    return dsl_object_seal(object);
}

static struct dsl_tuple *find_objects(struct dsl_arena *arena, struct search *search) {
    int area = search->grid->height * search->grid->width;
    struct dsl_tuple *found = dsl_tuple_blank(arena, area);
    for (int place = 0; found && place < area; place++) {
        if (search->seen[place] || search->grid->cell[place] == search->background)
            continue;
        const struct dsl_object *object = flood(search, arena, place);
        if (!object)
            return NULL;
        found->item[found->n++] = value_object(object);
    }
    return found;
}

const struct dsl_tuple *objects(struct dsl_arena *arena, const struct dsl_grid *grid, int univalued,
                                int diagonal, int without_bg) {
    LOG_CALL("objects", "GIII", grid, univalued, diagonal, without_bg);
    struct search search = {.univalued = univalued, .diagonal = diagonal};
    if (!search_init(&search, arena, grid, without_bg))
        return NULL;
    struct dsl_tuple *found = find_objects(arena, &search);
    return found ? dsl_set_seal(found) : NULL;
}

const struct dsl_tuple *objects_t(struct dsl_arena *arena, const struct dsl_grid *grid,
                                  int univalued, int diagonal, int without_bg) {
    LOG_CALL("objects_t", "GIII", grid, univalued, diagonal, without_bg);
    struct search search = {.univalued = univalued, .diagonal = diagonal};
    if (!search_init(&search, arena, grid, without_bg))
        return NULL;
    return find_objects(arena, &search);
}

const struct dsl_tuple *o_g(struct dsl_arena *arena, const struct dsl_grid *grid, int kind) {
    LOG_CALL("o_g", "GI", grid, kind);
    return objects(arena, grid, kind >> 2 & 1, kind >> 1 & 1, kind & 1);
}

const struct dsl_tuple *o_g_t(struct dsl_arena *arena, const struct dsl_grid *grid, int kind) {
    LOG_CALL("o_g_t", "GI", grid, kind);
    return objects_t(arena, grid, kind >> 2 & 1, kind >> 1 & 1, kind & 1);
}

/* One object per colour, however scattered; skip is left out. */
static const struct dsl_tuple *split_by_colour(struct dsl_arena *arena, const struct dsl_grid *grid,
                                               int skip) {
    const struct dsl_tuple *colours = palette(arena, value_grid(grid));
    struct dsl_tuple *parts = colours ? dsl_tuple_blank(arena, colours->n) : NULL;
    for (int k = 0; parts && k < colours->n; k++) {
        int colour = colours->item[k].number;
        if (colour == skip)
            continue;
        const struct dsl_object *places = ofcolor(arena, grid, colour);
        const struct dsl_object *part = places ? recolor(arena, colour, places) : NULL;
        if (!part)
            return NULL;
        parts->item[parts->n++] = value_object(part);
    }
    return parts ? dsl_set_seal(parts) : NULL;
}

const struct dsl_tuple *partition(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("partition", "G", grid);
    return split_by_colour(arena, grid, DSL_NO_COLOUR);
}

const struct dsl_tuple *fgpartition(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("fgpartition", "G", grid);
    return split_by_colour(arena, grid, mostcolor(arena, value_grid(grid)));
}
