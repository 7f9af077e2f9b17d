/* SPDX-License-Identifier: MIT
 *
 * Places and distances: neighbourhoods, lines, outlines and gravitate. Nothing here knows the
 * grid's edge; drawing functions leave out what lies beyond it.
 */
#include "dsl/internal.h"

#include <limits.h>
#include <stdlib.h>

/* Longer than the diagonal of any ARC grid: how far shoot goes, and gravitate at most. */
#define FAR 42

struct frame {
    int top, left, bottom, right;
};

static struct frame frame_of(struct dsl_arena *arena, const struct dsl_object *patch) {
    struct dsl_pair ul = ulcorner(arena, patch), lr = lrcorner(arena, patch);
    return (struct frame){ul.i, ul.j, lr.i, lr.j};
}

const struct dsl_object *dneighbors(struct dsl_arena *arena, struct dsl_pair at) {
    LOG_CALL("dneighbors", "P", at);
    struct dsl_object *out = dsl_object_blank(arena, 4);
    if (!out)
        return NULL;
    object_push(out, at.i - 1, at.j, DSL_NO_COLOUR);
    object_push(out, at.i, at.j - 1, DSL_NO_COLOUR);
    object_push(out, at.i, at.j + 1, DSL_NO_COLOUR);
    object_push(out, at.i + 1, at.j, DSL_NO_COLOUR);
    return out;
}

const struct dsl_object *ineighbors(struct dsl_arena *arena, struct dsl_pair at) {
    LOG_CALL("ineighbors", "P", at);
    struct dsl_object *out = dsl_object_blank(arena, 4);
    if (!out)
        return NULL;
    object_push(out, at.i - 1, at.j - 1, DSL_NO_COLOUR);
    object_push(out, at.i - 1, at.j + 1, DSL_NO_COLOUR);
    object_push(out, at.i + 1, at.j - 1, DSL_NO_COLOUR);
    object_push(out, at.i + 1, at.j + 1, DSL_NO_COLOUR);
    return out;
}

const struct dsl_object *neighbors(struct dsl_arena *arena, struct dsl_pair at) {
    LOG_CALL("neighbors", "P", at);
    struct dsl_object *out = dsl_object_blank(arena, 8);
    if (!out)
        return NULL;
    for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
            if (di || dj)
                object_push(out, at.i + di, at.j + dj, DSL_NO_COLOUR);
    return out;
}

static bool place_ok(struct dsl_arena *arena, struct dsl_pair at) {
    if (abs(at.i) <= PLACE_MAX && abs(at.j) <= PLACE_MAX)
        return true;
    dsl_fail(arena, "connect, shoot: too far away");
    return false;
}

static int sign(int n) {
    return (n > 0) - (n < 0);
}

const struct dsl_object *dsl_connect(struct dsl_arena *arena, struct dsl_pair from,
                                     struct dsl_pair to) {
    LOG_CALL("connect", "PP", from, to);
    if (!place_ok(arena, from) || !place_ok(arena, to))
        return NULL;
    int down = to.i - from.i, across = to.j - from.j;
    int steps = abs(down) > abs(across) ? abs(down) : abs(across);
    if (down && across && abs(down) != abs(across))
        return dsl_object_blank(arena, 0); /* neither straight nor diagonal: no line */
    struct dsl_object *out = dsl_object_blank(arena, steps + 1);
    for (int k = 0; out && k <= steps; k++)
        object_push(out, from.i + k * sign(down), from.j + k * sign(across), DSL_NO_COLOUR);
    return out ? dsl_object_seal(out) : NULL;
}

const struct dsl_object *shoot(struct dsl_arena *arena, struct dsl_pair from,
                               struct dsl_pair direction) {
    LOG_CALL("shoot", "PP", from, direction);
    struct dsl_pair to = {from.i + FAR * direction.i, from.j + FAR * direction.j};
    return dsl_connect(arena, from, to);
}

int manhattan(struct dsl_arena *arena, const struct dsl_object *a, const struct dsl_object *b) {
    LOG_CALL("manhattan", "OO", a, b);
    (void)arena;
    int least = INT_MAX;
    for (int k = 0; k < a->n; k++)
        for (int m = 0; m < b->n; m++) {
            int far = abs(a->cell[k].i - b->cell[m].i) + abs(a->cell[k].j - b->cell[m].j);
            if (far < least)
                least = far;
        }
    return least;
}

int adjacent(struct dsl_arena *arena, const struct dsl_object *a, const struct dsl_object *b) {
    LOG_CALL("adjacent", "OO", a, b);
    return manhattan(arena, a, b) == 1;
}

/* Whether the two share a column. */
int vmatching(struct dsl_arena *arena, const struct dsl_object *a, const struct dsl_object *b) {
    LOG_CALL("vmatching", "OO", a, b);
    (void)arena;
    for (int k = 0; k < a->n; k++)
        for (int m = 0; m < b->n; m++)
            if (a->cell[k].j == b->cell[m].j)
                return 1;
    return 0;
}

/* The step towards destination: down or up where they share a column, else across. */
static struct dsl_pair step_towards(struct dsl_arena *arena, const struct dsl_object *source,
                                    const struct dsl_object *destination) {
    struct dsl_pair from = center(arena, source), to = center(arena, destination);
    if (vmatching(arena, source, destination))
        return (struct dsl_pair){from.i < to.i ? 1 : -1, 0};
    return (struct dsl_pair){0, from.j < to.j ? 1 : -1};
}

/* How far source must move, in a straight line, until it touches destination. One step shortens
 * the distance by one at most, so distance − 1 steps are taken at once. */
struct dsl_pair gravitate(struct dsl_arena *arena, const struct dsl_object *source,
                          const struct dsl_object *destination) {
    LOG_CALL("gravitate", "OO", source, destination);
    struct dsl_pair step = step_towards(arena, source, destination);
    int moved = 0;
    while (source && moved < FAR) {
        int distance = manhattan(arena, source, destination);
        if (distance == 1)
            break;
        int leap = distance > 1 ? distance - 1 : 1;
        if (leap > FAR - moved)
            leap = FAR - moved;
        source = shift(arena, source, (struct dsl_pair){leap * step.i, leap * step.j});
        moved += leap;
    }
    return (struct dsl_pair){moved * step.i, moved * step.j};
}

static const struct dsl_object *fill_frame(struct dsl_arena *arena, struct frame f) {
    struct dsl_object *out =
        dsl_object_blank(arena, (f.bottom - f.top + 1) * (f.right - f.left + 1));
    for (int i = f.top; out && i <= f.bottom; i++)
        for (int j = f.left; j <= f.right; j++)
            object_push(out, i, j, DSL_NO_COLOUR);
    return out;
}

static const struct dsl_object *outline(struct dsl_arena *arena, struct frame f) {
    int around = 2 * (f.bottom - f.top + 1) + 2 * (f.right - f.left + 1);
    struct dsl_object *out = dsl_object_blank(arena, around);
    for (int i = f.top; out && i <= f.bottom; i++) {
        bool edge = i == f.top || i == f.bottom;
        for (int j = f.left; j <= f.right; j++)
            if (edge || j == f.left || j == f.right)
                object_push(out, i, j, DSL_NO_COLOUR);
    }
    return out;
}

const struct dsl_object *backdrop(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("backdrop", "O", patch);
    return patch->n ? fill_frame(arena, frame_of(arena, patch)) : patch;
}

const struct dsl_object *delta(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("delta", "O", patch);
    const struct dsl_object *whole = backdrop(arena, patch), *own = toindices(arena, patch);
    if (!whole || !own)
        return NULL;
    return difference(arena, value_object(whole), value_object(own)).object;
}

const struct dsl_object *box(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("box", "O", patch);
    return patch->n ? outline(arena, frame_of(arena, patch)) : patch;
}

/* The outline one cell further in; of a patch too thin for that, the frame turned inside out. */
const struct dsl_object *inbox(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("inbox", "O", patch);
    if (!patch->n)
        return patch;
    struct frame f = frame_of(arena, patch);
    int top = f.top + 1, bottom = f.bottom - 1, left = f.left + 1, right = f.right - 1;
    f.top = top < bottom ? top : bottom;
    f.bottom = top < bottom ? bottom : top;
    f.left = left < right ? left : right;
    f.right = left < right ? right : left;
    return outline(arena, f);
}

const struct dsl_object *outbox(struct dsl_arena *arena, const struct dsl_object *patch) {
    LOG_CALL("outbox", "O", patch);
    if (!patch->n)
        return patch;
    struct frame f = frame_of(arena, patch);
    return outline(arena, (struct frame){f.top - 1, f.left - 1, f.bottom + 1, f.right + 1});
}
