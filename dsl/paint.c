/* SPDX-License-Identifier: MIT
 *
 * Between objects and grids: cells taken from a grid, moved, recoloured and drawn back. Values are
 * immutable, so every drawing function starts from a copy of the grid.
 */
#include "dsl/internal.h"

#include <string.h>

static struct dsl_grid *copy_grid(struct dsl_arena *arena, const struct dsl_grid *grid) {
    struct dsl_grid *copy = dsl_grid_blank(arena, grid->height, grid->width);
    if (copy)
        memcpy(copy->cell, grid->cell, (size_t)grid->height * (size_t)grid->width);
    return copy;
}

static bool inside(const struct dsl_grid *grid, struct dsl_cell cell) {
    return cell.i >= 0 && cell.j >= 0 && cell.i < grid->height && cell.j < grid->width;
}

static bool colour_ok(struct dsl_arena *arena, int colour) {
    if (colour >= 0 && colour < DSL_COLOURS)
        return true;
    dsl_fail(arena, "no such colour");
    return false;
}

const struct dsl_grid *canvas(struct dsl_arena *arena, int colour, struct dsl_pair dims) {
    LOG_CALL("canvas", "IP", colour, dims);
    struct dsl_grid *grid = colour_ok(arena, colour) ? dsl_grid_blank(arena, dims.i, dims.j) : NULL;
    if (grid)
        memset(grid->cell, colour, (size_t)dims.i * (size_t)dims.j);
    return grid;
}

const struct dsl_grid *fill(struct dsl_arena *arena, const struct dsl_grid *grid, int colour,
                            const struct dsl_object *patch) {
    LOG_CALL("fill", "GIO", grid, colour, patch);
    struct dsl_grid *out = colour_ok(arena, colour) ? copy_grid(arena, grid) : NULL;
    for (int k = 0; out && k < patch->n; k++)
        if (inside(grid, patch->cell[k]))
            out->cell[patch->cell[k].i * grid->width + patch->cell[k].j] = (uint8_t)colour;
    return out;
}

/* only: the one colour that may be painted over, or DSL_NO_COLOUR for all. */
static const struct dsl_grid *draw(struct dsl_arena *arena, const struct dsl_grid *grid,
                                   const struct dsl_object *object, int only) {
    struct dsl_grid *out = copy_grid(arena, grid);
    for (int k = 0; out && k < object->n; k++) {
        struct dsl_cell cell = object->cell[k];
        if (!inside(grid, cell))
            continue;
        if (!colour_ok(arena, cell.colour))
            return NULL;
        uint8_t *place = &out->cell[cell.i * grid->width + cell.j];
        if (only == DSL_NO_COLOUR || *place == only)
            *place = (uint8_t)cell.colour;
    }
    return out;
}

const struct dsl_grid *paint(struct dsl_arena *arena, const struct dsl_grid *grid,
                             const struct dsl_object *object) {
    LOG_CALL("paint", "GO", grid, object);
    return draw(arena, grid, object, DSL_NO_COLOUR);
}

const struct dsl_grid *underpaint(struct dsl_arena *arena, const struct dsl_grid *grid,
                                  const struct dsl_object *object) {
    LOG_CALL("underpaint", "GO", grid, object);
    return draw(arena, grid, object, mostcolor(arena, value_grid(grid)));
}

const struct dsl_grid *cover(struct dsl_arena *arena, const struct dsl_grid *grid,
                             const struct dsl_object *patch) {
    LOG_CALL("cover", "GO", grid, patch);
    return fill(arena, grid, mostcolor(arena, value_grid(grid)), patch);
}

const struct dsl_grid *move(struct dsl_arena *arena, const struct dsl_grid *grid,
                            const struct dsl_object *object, struct dsl_pair by) {
    LOG_CALL("move", "GOP", grid, object, by);
    const struct dsl_object *moved = shift(arena, object, by);
    const struct dsl_grid *cleared = cover(arena, grid, object);
    return moved && cleared ? paint(arena, cleared, moved) : NULL;
}

const struct dsl_object *shift(struct dsl_arena *arena, const struct dsl_object *patch,
                               struct dsl_pair by) {
    LOG_CALL("shift", "OP", patch, by);
    struct dsl_object *out = dsl_object_blank(arena, patch->n);
    for (int k = 0; out && k < patch->n; k++) {
        int i = patch->cell[k].i + by.i, j = patch->cell[k].j + by.j;
        if (i < -PLACE_MAX || i > PLACE_MAX || j < -PLACE_MAX || j > PLACE_MAX) {
            dsl_fail(arena, "shift: too far away");
            return NULL;
        }
        object_push(out, i, j, patch->cell[k].colour);
    }
    return out;
}

const struct dsl_object *normalize(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("normalize", "O", patch);
    struct dsl_pair corner = ulcorner(arena, patch);
    return shift(arena, patch, (struct dsl_pair){-corner.i, -corner.j});
}

static const struct dsl_object *with_colour(struct dsl_arena *arena, int colour,
                                            const struct dsl_object *patch) {
    struct dsl_object *out = dsl_object_blank(arena, patch->n);
    for (int k = 0; out && k < patch->n; k++)
        object_push(out, patch->cell[k].i, patch->cell[k].j, colour);
    return out ? dsl_object_seal(out) : NULL;
}

const struct dsl_object *recolor(struct dsl_arena *arena, int colour,
                                 const struct dsl_object *patch) {
    LOG_CALL("recolor", "IO", colour, patch);
    return colour_ok(arena, colour) ? with_colour(arena, colour, patch) : NULL;
}

const struct dsl_object *toindices(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("toindices", "O", patch);
    return with_colour(arena, DSL_NO_COLOUR, patch);
}

const struct dsl_object *asindices(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("asindices", "G", grid);
    struct dsl_object *out = dsl_object_blank(arena, grid->height * grid->width);
    for (int k = 0; out && k < grid->height * grid->width; k++)
        object_push(out, k / grid->width, k % grid->width, DSL_NO_COLOUR);
    return out;
}

const struct dsl_object *asobject(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("asobject", "G", grid);
    struct dsl_object *out = dsl_object_blank(arena, grid->height * grid->width);
    for (int k = 0; out && k < grid->height * grid->width; k++)
        object_push(out, k / grid->width, k % grid->width, grid->cell[k]);
    return out;
}

const struct dsl_object *ofcolor(struct dsl_arena *arena, const struct dsl_grid *grid, int colour) {
    LOG_CALL("ofcolor", "GI", grid, colour);
    struct dsl_object *out = dsl_object_blank(arena, grid->height * grid->width);
    for (int k = 0; out && k < grid->height * grid->width; k++)
        if (grid->cell[k] == colour)
            object_push(out, k / grid->width, k % grid->width, DSL_NO_COLOUR);
    return out;
}
