/* SPDX-License-Identifier: MIT
 *
 * Whole-grid functions: joining, cutting, scaling and recolouring. Turning is in dsl/mirror.c.
 * Sizes are checked in one place, dsl_grid_blank().
 */
#include "dsl/internal.h"

#include <string.h>

static const uint8_t *row_of(const struct dsl_grid *grid, int i) {
    return grid->cell + (size_t)i * (size_t)grid->width;
}

const struct dsl_grid *hconcat(struct dsl_arena *arena, const struct dsl_grid *left,
                               const struct dsl_grid *right) {
    LOG_CALL("hconcat", "GG", left, right);
    if (left->height != right->height) {
        dsl_fail(arena, "hconcat: different heights");
        return NULL;
    }
    struct dsl_grid *out = dsl_grid_blank(arena, left->height, left->width + right->width);
    for (int i = 0; out && i < left->height; i++) {
        uint8_t *row = out->cell + i * out->width;
        memcpy(row, row_of(left, i), (size_t)left->width);
        memcpy(row + left->width, row_of(right, i), (size_t)right->width);
    }
    return out;
}

const struct dsl_grid *vconcat(struct dsl_arena *arena, const struct dsl_grid *top,
                               const struct dsl_grid *bottom) {
    LOG_CALL("vconcat", "GG", top, bottom);
    if (top->width != bottom->width) {
        dsl_fail(arena, "vconcat: different widths");
        return NULL;
    }
    struct dsl_grid *out = dsl_grid_blank(arena, top->height + bottom->height, top->width);
    if (!out)
        return NULL;
    size_t area = (size_t)top->height * (size_t)top->width;
    memcpy(out->cell, top->cell, area);
    memcpy(out->cell + area, bottom->cell, (size_t)bottom->height * (size_t)bottom->width);
    return out;
}

const struct dsl_grid *crop(struct dsl_arena *arena, const struct dsl_grid *grid,
                            struct dsl_pair start, struct dsl_pair dims) {
    LOG_CALL("crop", "GPP", grid, start, dims);
    if (start.i < 0 || start.j < 0 || dims.i > grid->height - start.i ||
        dims.j > grid->width - start.j) {
        dsl_fail(arena, "crop: outside of the grid");
        return NULL;
    }
    struct dsl_grid *out = dsl_grid_blank(arena, dims.i, dims.j);
    for (int i = 0; out && i < dims.i; i++)
        memcpy(out->cell + i * dims.j, row_of(grid, start.i + i) + start.j, (size_t)dims.j);
    return out;
}

const struct dsl_grid *subgrid(struct dsl_arena *arena, const struct dsl_object *patch,
                               const struct dsl_grid *grid) {
    LOG_CALL("subgrid", "OG", patch, grid);
    return crop(arena, grid, ulcorner(arena, patch), shape(arena, value_object(patch)));
}

/* n parts side by side; where the side does not divide, one separator line between parts is
 * skipped, as in grids with dividers. */
static const struct dsl_tuple *split(struct dsl_arena *arena, const struct dsl_grid *grid, int n,
                                     bool across) {
    int side = across ? grid->width : grid->height;
    if (n < 1 || n > side) {
        dsl_fail(arena, "split: bad number of parts");
        return NULL;
    }
    int part = side / n, step = part + (side % n != 0);
    struct dsl_tuple *out = dsl_tuple_blank(arena, n);
    for (int k = 0; out && k < n; k++) {
        struct dsl_pair start = {across ? 0 : k * step, across ? k * step : 0};
        struct dsl_pair dims = {across ? grid->height : part, across ? part : grid->width};
        const struct dsl_grid *piece = crop(arena, grid, start, dims);
        if (!piece)
            return NULL;
        out->item[out->n++] = value_grid(piece);
    }
    return out;
}

const struct dsl_tuple *hsplit(struct dsl_arena *arena, const struct dsl_grid *grid, int n) {
    LOG_CALL("hsplit", "GI", grid, n);
    return split(arena, grid, n, true);
}

const struct dsl_tuple *vsplit(struct dsl_arena *arena, const struct dsl_grid *grid, int n) {
    LOG_CALL("vsplit", "GI", grid, n);
    return split(arena, grid, n, false);
}

const struct dsl_grid *tophalf(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("tophalf", "G", grid);
    struct dsl_pair dims = {grid->height / 2, grid->width};
    return crop(arena, grid, (struct dsl_pair){0, 0}, dims);
}

const struct dsl_grid *bottomhalf(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("bottomhalf", "G", grid);
    struct dsl_pair start = {grid->height - grid->height / 2, 0};
    return crop(arena, grid, start, (struct dsl_pair){grid->height / 2, grid->width});
}

const struct dsl_grid *lefthalf(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("lefthalf", "G", grid);
    struct dsl_pair dims = {grid->height, grid->width / 2};
    return crop(arena, grid, (struct dsl_pair){0, 0}, dims);
}

const struct dsl_grid *righthalf(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("righthalf", "G", grid);
    struct dsl_pair start = {0, grid->width - grid->width / 2};
    return crop(arena, grid, start, (struct dsl_pair){grid->height, grid->width / 2});
}

const struct dsl_grid *trim(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("trim", "G", grid);
    struct dsl_pair dims = {grid->height - 2, grid->width - 2};
    return crop(arena, grid, (struct dsl_pair){1, 1}, dims);
}

/* Whether n cells, step apart, have one colour. */
static bool uniform(const uint8_t *cell, int n, int step) {
    for (int k = 1; k < n; k++)
        if (cell[k * step] != cell[0])
            return false;
    return true;
}

/* Drops every row and column of one colour. */
const struct dsl_grid *compress(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("compress", "G", grid);
    int rows[DSL_SIDE_MAX], columns[DSL_SIDE_MAX], h = 0, w = 0;
    for (int i = 0; i < grid->height; i++)
        if (!uniform(row_of(grid, i), grid->width, 1))
            rows[h++] = i;
    for (int j = 0; j < grid->width; j++)
        if (!uniform(grid->cell + j, grid->height, grid->width))
            columns[w++] = j;
    struct dsl_grid *out = dsl_grid_blank(arena, h, w);
    for (int i = 0; out && i < h; i++)
        for (int j = 0; j < w; j++)
            out->cell[i * w + j] = row_of(grid, rows[i])[columns[j]];
    return out;
}

const struct dsl_grid *replace(struct dsl_arena *arena, const struct dsl_grid *grid, int from,
                               int to) {
    LOG_CALL("replace", "GII", grid, from, to);
    const struct dsl_object *places = ofcolor(arena, grid, from);
    return places ? fill(arena, grid, to, places) : NULL;
}

const struct dsl_grid *switch_(struct dsl_arena *arena, const struct dsl_grid *grid, int a, int b) {
    LOG_CALL("switch", "GII", grid, a, b);
    const struct dsl_object *were_a = ofcolor(arena, grid, a);
    const struct dsl_object *were_b = ofcolor(arena, grid, b);
    const struct dsl_grid *half = were_a && were_b ? fill(arena, grid, b, were_a) : NULL;
    return half ? fill(arena, half, a, were_b) : NULL;
}

const struct dsl_grid *downscale(struct dsl_arena *arena, const struct dsl_grid *grid, int factor) {
    LOG_CALL("downscale", "GI", grid, factor);
    if (factor < 1) {
        dsl_fail(arena, "downscale: factor below 1");
        return NULL;
    }
    int h = (grid->height + factor - 1) / factor, w = (grid->width + factor - 1) / factor;
    struct dsl_grid *out = dsl_grid_blank(arena, h, w);
    for (int i = 0; out && i < h; i++)
        for (int j = 0; j < w; j++)
            out->cell[i * w + j] = row_of(grid, i * factor)[j * factor];
    return out;
}

static const struct dsl_grid *upscale_grid(struct dsl_arena *arena, const struct dsl_grid *grid,
                                           int factor) {
    struct dsl_grid *out = dsl_grid_blank(arena, grid->height * factor, grid->width * factor);
    for (int i = 0; out && i < out->height; i++)
        for (int j = 0; j < out->width; j++)
            out->cell[i * out->width + j] = row_of(grid, i / factor)[j / factor];
    return out;
}

/* Grows from the object's upper left corner, which stays. */
static const struct dsl_object *upscale_object(struct dsl_arena *arena,
                                               const struct dsl_object *object, int factor) {
    struct dsl_pair corner = ulcorner(arena, object), dims = shape(arena, value_object(object));
    if ((dims.i > dims.j ? dims.i : dims.j) * factor > PLACE_MAX / 2) {
        dsl_fail(arena, "upscale: too large");
        return NULL;
    }
    struct dsl_object *out = dsl_object_blank(arena, (int64_t)object->n * factor * factor);
    for (int k = 0; out && k < object->n; k++) {
        struct dsl_cell cell = object->cell[k];
        int top = corner.i + (cell.i - corner.i) * factor;
        int left = corner.j + (cell.j - corner.j) * factor;
        for (int m = 0; m < factor * factor; m++)
            object_push(out, top + m / factor, left + m % factor, cell.colour);
    }
    return out ? dsl_object_seal(out) : NULL;
}

struct dsl_value upscale(struct dsl_arena *arena, struct dsl_value element, int factor) {
    LOG_CALL("upscale", "VI", element, factor);
    if (factor < 1 || factor > DSL_ARC_SIDE) {
        dsl_fail(arena, "upscale: factor out of range");
        return value_none();
    }
    if (element.type == DSL_GRID)
        return value_grid(upscale_grid(arena, element.grid, factor));
    if (element.type == DSL_OBJECT)
        return value_object(upscale_object(arena, element.object, factor));
    dsl_fail(arena, "upscale: neither grid nor object");
    return value_none();
}
