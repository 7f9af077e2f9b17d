/* SPDX-License-Identifier: MIT
 *
 * Mirrors and turns. Each is one affine map of cell places, so the maps are data: for a grid from
 * the result's cell back to the source's, for an object forward within its own frame.
 */
#include "dsl/internal.h"

/* New place = (i0 + ii·i + ij·j, j0 + ji·i + jj·j), with i0 and j0 chosen so that the frame stays
 * at its corner. Where ii is 0, height and width change places. */
struct turn {
    int ii, ij, ji, jj;
};

static const struct turn upside_down = {-1, 0, 0, 1};
static const struct turn left_right = {1, 0, 0, -1};
static const struct turn transpose = {0, 1, 1, 0};
static const struct turn antitranspose = {0, -1, -1, 0};
static const struct turn quarter = {0, 1, -1, 0};
static const struct turn half = {-1, 0, 0, -1};
static const struct turn three_quarters = {0, -1, 1, 0};

static struct dsl_pair turn_place(struct turn turn, struct dsl_pair dims, int i, int j) {
    bool swap = turn.ii == 0;
    int h = swap ? dims.j : dims.i, w = swap ? dims.i : dims.j;
    int ni = turn.ii * i + turn.ij * j, nj = turn.ji * i + turn.jj * j;
    return (struct dsl_pair){turn.ii + turn.ij < 0 ? ni + h - 1 : ni,
                             turn.ji + turn.jj < 0 ? nj + w - 1 : nj};
}

static const struct dsl_grid *turn_grid(struct dsl_arena *arena, const struct dsl_grid *grid,
                                        struct turn turn) {
    bool swap = turn.ii == 0;
    int h = swap ? grid->width : grid->height, w = swap ? grid->height : grid->width;
    struct dsl_pair dims = {grid->height, grid->width};
    struct dsl_grid *out = dsl_grid_blank(arena, h, w);
    for (int i = 0; out && i < grid->height; i++)
        for (int j = 0; j < grid->width; j++) {
            struct dsl_pair to = turn_place(turn, dims, i, j);
            out->cell[to.i * w + to.j] = grid->cell[i * grid->width + j];
        }
    return out;
}

static const struct dsl_object *turn_object(struct dsl_arena *arena,
                                            const struct dsl_object *object, struct turn turn) {
    struct dsl_pair corner = ulcorner(arena, object), dims = shape(arena, value_object(object));
    struct dsl_object *out = dsl_object_blank(arena, object->n);
    for (int k = 0; out && k < object->n; k++) {
        struct dsl_cell cell = object->cell[k];
        struct dsl_pair to = turn_place(turn, dims, cell.i - corner.i, cell.j - corner.j);
        object_push(out, corner.i + to.i, corner.j + to.j, cell.colour);
    }
    return out ? dsl_object_seal(out) : NULL;
}

static struct dsl_value turn_piece(struct dsl_arena *arena, struct dsl_value piece,
                                   struct turn turn) {
    if (piece.type == DSL_GRID)
        return value_grid(turn_grid(arena, piece.grid, turn));
    if (piece.type == DSL_OBJECT)
        return value_object(turn_object(arena, piece.object, turn));
    dsl_fail(arena, "mirror: neither grid nor object");
    return value_none();
}

struct dsl_value hmirror(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("hmirror", "V", piece);
    return turn_piece(arena, piece, upside_down);
}

struct dsl_value vmirror(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("vmirror", "V", piece);
    return turn_piece(arena, piece, left_right);
}

struct dsl_value dmirror(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("dmirror", "V", piece);
    return turn_piece(arena, piece, transpose);
}

struct dsl_value cmirror(struct dsl_arena *arena, struct dsl_value piece) {
    LOG_CALL("cmirror", "V", piece);
    return turn_piece(arena, piece, antitranspose);
}

/* Clockwise. */
const struct dsl_grid *rot90(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("rot90", "G", grid);
    return turn_grid(arena, grid, quarter);
}

const struct dsl_grid *rot180(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("rot180", "G", grid);
    return turn_grid(arena, grid, half);
}

const struct dsl_grid *rot270(struct dsl_arena *arena, const struct dsl_grid *grid) {
    LOG_CALL("rot270", "G", grid);
    return turn_grid(arena, grid, three_quarters);
}
