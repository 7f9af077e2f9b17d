/* SPDX-License-Identifier: MIT
 *
 * Measures of grids and objects: extent, corners, colours and counts. An empty patch has extent 0
 * and its corners at the origin, where the Python DSL would raise.
 */
#include "dsl/internal.h"

struct dsl_pair ulcorner(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("ulcorner", "O", patch);
    (void)arena;
    if (!patch->n)
        return (struct dsl_pair){0, 0};
    struct dsl_pair corner = {patch->cell[0].i, patch->cell[0].j};
    for (int k = 1; k < patch->n; k++)
        if (patch->cell[k].j < corner.j)
            corner.j = patch->cell[k].j;
    return corner;
}

struct dsl_pair lrcorner(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("lrcorner", "O", patch);
    (void)arena;
    if (!patch->n)
        return (struct dsl_pair){0, 0};
    struct dsl_pair corner = {patch->cell[patch->n - 1].i, patch->cell[0].j};
    for (int k = 1; k < patch->n; k++)
        if (patch->cell[k].j > corner.j)
            corner.j = patch->cell[k].j;
    return corner;
}

struct dsl_pair shape(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("shape", "V", piece);
    if (piece.type == DSL_GRID)
        return (struct dsl_pair){piece.grid->height, piece.grid->width};
    if (piece.type != DSL_OBJECT) {
        dsl_fail(arena, "shape, height, width: neither grid nor object");
        return (struct dsl_pair){0, 0};
    }
    if (!piece.object->n)
        return (struct dsl_pair){0, 0};
    struct dsl_pair ul = ulcorner(arena, piece.object), lr = lrcorner(arena, piece.object);
    return (struct dsl_pair){lr.i - ul.i + 1, lr.j - ul.j + 1};
}

int height(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("height", "V", piece);
    return shape(arena, piece).i;
}

int width(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("width", "V", piece);
    return shape(arena, piece).j;
}

struct dsl_pair center(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("center", "O", patch);
    struct dsl_pair corner = ulcorner(arena, patch), dims = shape(arena, value_object(patch));
    return (struct dsl_pair){corner.i + dims.i / 2, corner.j + dims.j / 2};
}

int bordering(struct dsl_arena *arena, const struct dsl_object *patch,
              const struct dsl_grid *grid) {
    LOG_CALL("bordering", "OG", patch, grid);
    struct dsl_pair ul = ulcorner(arena, patch), lr = lrcorner(arena, patch);
    return patch->n &&
           (ul.i == 0 || ul.j == 0 || lr.i == grid->height - 1 || lr.j == grid->width - 1);
}

/* Fills counts per colour; false if the element has no colours. */
static bool count_colours(struct dsl_arena *arena, struct dsl_value element,
                          int counts[DSL_COLOURS]) {
    for (int k = 0; k < DSL_COLOURS; k++)
        counts[k] = 0;
    if (element.type == DSL_GRID) {
        const struct dsl_grid *grid = element.grid;
        for (int k = 0; k < grid->height * grid->width; k++)
            counts[grid->cell[k]]++;
        return true;
    }
    if (element.type == DSL_OBJECT) {
        for (int k = 0; k < element.object->n; k++)
            if (element.object->cell[k].colour != DSL_NO_COLOUR)
                counts[element.object->cell[k].colour]++;
        return true;
    }
    dsl_fail(arena, "colours of something that is neither grid nor object");
    return false;
}

const struct dsl_tuple *palette(struct dsl_arena *arena, struct dsl_value element) {
    LOG_CALL("palette", "V", element);
    int counts[DSL_COLOURS];
    struct dsl_tuple *out = dsl_tuple_blank(arena, DSL_COLOURS);
    if (!out || !count_colours(arena, element, counts))
        return NULL;
    for (int k = 0; k < DSL_COLOURS; k++)
        if (counts[k])
            out->item[out->n++] = value_int(k);
    out->is_set = true;
    return out;
}

int mostcolor(struct dsl_arena *arena, struct dsl_value element) {
    LOG_CALL("mostcolor", "V", element);
    int counts[DSL_COLOURS], best = 0;
    if (!count_colours(arena, element, counts))
        return 0;
    for (int k = 1; k < DSL_COLOURS; k++)
        if (counts[k] > counts[best])
            best = k;
    return best;
}

int leastcolor(struct dsl_arena *arena, struct dsl_value element) {
    LOG_CALL("leastcolor", "V", element);
    int counts[DSL_COLOURS], best = -1;
    if (!count_colours(arena, element, counts))
        return 0;
    for (int k = 0; k < DSL_COLOURS; k++)
        if (counts[k] && (best < 0 || counts[k] < counts[best]))
            best = k;
    return best < 0 ? 0 : best;
}

int colorcount(struct dsl_arena *arena, struct dsl_value element, int colour) {
    LOG_CALL("colorcount", "VI", element, colour);
    int counts[DSL_COLOURS];
    if (colour < 0 || colour >= DSL_COLOURS || !count_colours(arena, element, counts))
        return 0;
    return counts[colour];
}

int color(struct dsl_arena *arena, const struct dsl_object *object) {
    LOG_CALL("color", "O", object);
    if (object->n)
        return object->cell[0].colour;
    dsl_fail(arena, "color of an empty object");
    return 0;
}

int size(struct dsl_arena *arena, struct dsl_value container) {
    LOG_CALL("size", "V", container);
    switch (container.type) {
    case DSL_TUPLE:
        return container.tuple->n;
    case DSL_OBJECT:
        return container.object->n;
    case DSL_GRID:
        return container.grid->height;
    default:
        dsl_fail(arena, "size of something that is no container");
        return 0;
    }
}
