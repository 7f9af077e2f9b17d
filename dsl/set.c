/* SPDX-License-Identifier: MIT
 *
 * Containers: tuples keep their order and duplicates, sets are sorted and have none. Objects are
 * sets of cells, so difference and merge take them as well.
 */
#include "dsl/internal.h"

#include <string.h>

static bool holds(const struct dsl_tuple *tuple, struct dsl_value value) {
    for (int k = 0; k < tuple->n; k++)
        if (!dsl_value_compare(tuple->item[k], value))
            return true;
    return false;
}

const struct dsl_tuple *dedupe(struct dsl_arena *arena, const struct dsl_tuple *tuple) {
    LOG_CALL("dedupe", "T", tuple);
    struct dsl_tuple *out = dsl_tuple_blank(arena, tuple->n);
    for (int k = 0; out && k < tuple->n; k++)
        if (!holds(out, tuple->item[k]))
            out->item[out->n++] = tuple->item[k];
    return out;
}

static const struct dsl_tuple *without(struct dsl_arena *arena, const struct dsl_tuple *a,
                                       const struct dsl_tuple *b) {
    struct dsl_tuple *out = dsl_tuple_blank(arena, a->n);
    if (!out)
        return NULL;
    out->is_set = a->is_set;
    for (int k = 0; k < a->n; k++)
        if (!holds(b, a->item[k]))
            out->item[out->n++] = a->item[k];
    return out;
}

const struct dsl_tuple *difference_tuple(struct dsl_arena *arena, const struct dsl_tuple *a,
                                         const struct dsl_tuple *b) {
    LOG_CALL("difference_tuple", "TT", a, b);
    return without(arena, a, b);
}

/* Both are sorted, so one pass over the two. */
static const struct dsl_object *object_without(struct dsl_arena *arena, const struct dsl_object *a,
                                               const struct dsl_object *b) {
    struct dsl_object *out = dsl_object_blank(arena, a->n);
    int other = 0;
    for (int k = 0; out && k < a->n; k++) {
        while (other < b->n && dsl_cell_compare(b->cell[other], a->cell[k]) < 0)
            other++;
        if (other == b->n || dsl_cell_compare(b->cell[other], a->cell[k]))
            out->cell[out->n++] = a->cell[k];
    }
    return out;
}

struct dsl_value difference(struct dsl_arena *arena, struct dsl_value a, struct dsl_value b) {
    LOG_CALL("difference", "VV", a, b);
    if (a.type == DSL_OBJECT && b.type == DSL_OBJECT)
        return value_object(object_without(arena, a.object, b.object));
    if (a.type == DSL_TUPLE && b.type == DSL_TUPLE)
        return value_tuple(without(arena, a.tuple, b.tuple));
    dsl_fail(arena, "difference: not two sets of one kind");
    return value_none();
}

/* Negative n counts from the end, as in Python. */
static struct dsl_value nth(struct dsl_arena *arena, const struct dsl_tuple *tuple, int n) {
    int k = n < 0 ? n + tuple->n : n;
    if (k >= 0 && k < tuple->n)
        return tuple->item[k];
    dsl_fail(arena, "get_nth: no such item");
    return value_none();
}

struct dsl_value get_nth_t(struct dsl_arena *arena, const struct dsl_tuple *tuple, int n) {
    LOG_CALL("get_nth_t", "TI", tuple, n);
    return nth(arena, tuple, n);
}

struct dsl_value get_nth_f(struct dsl_arena *arena, const struct dsl_tuple *set, int n) {
    LOG_CALL("get_nth_f", "TI", set, n);
    return nth(arena, set, n);
}

struct dsl_pair astuple(struct dsl_arena *arena, int a, int b) {
    LOG_CALL("astuple", "II", a, b);
    (void)arena;
    return (struct dsl_pair){a, b};
}

static struct dsl_value merge_objects(struct dsl_arena *arena, const struct dsl_tuple *containers) {
    int64_t room = 0;
    for (int k = 0; k < containers->n; k++)
        room += containers->item[k].object->n;
    struct dsl_object *out = dsl_object_blank(arena, room);
    for (int k = 0; out && k < containers->n; k++) {
        const struct dsl_object *part = containers->item[k].object;
        memcpy(out->cell + out->n, part->cell, (size_t)part->n * sizeof(part->cell[0]));
        out->n += part->n;
    }
    return value_object(out ? dsl_object_seal(out) : NULL);
}

static struct dsl_value merge_tuples(struct dsl_arena *arena, const struct dsl_tuple *containers) {
    int64_t room = 0;
    for (int k = 0; k < containers->n; k++)
        room += containers->item[k].tuple->n;
    struct dsl_tuple *out = dsl_tuple_blank(arena, room);
    for (int k = 0; out && k < containers->n; k++) {
        const struct dsl_tuple *part = containers->item[k].tuple;
        memcpy(out->item + out->n, part->item, (size_t)part->n * sizeof(part->item[0]));
        out->n += part->n;
    }
    return value_tuple(out && containers->is_set ? dsl_set_seal(out) : out);
}

/* Nothing merged is taken for the empty object: patches are what solvers nearly always merge. */
struct dsl_value merge(struct dsl_arena *arena, const struct dsl_tuple *containers) {
    LOG_CALL("merge", "T", containers);
    enum dsl_type type = containers->n ? containers->item[0].type : DSL_OBJECT;
    for (int k = 1; k < containers->n; k++)
        if (containers->item[k].type != type)
            type = DSL_NONE;
    if (type == DSL_OBJECT)
        return merge_objects(arena, containers);
    if (type == DSL_TUPLE)
        return merge_tuples(arena, containers);
    dsl_fail(arena, "merge: not containers of one kind");
    return value_none();
}

const struct dsl_tuple *colorfilter(struct dsl_arena *arena, const struct dsl_tuple *objs,
                                    int colour) {
    LOG_CALL("colorfilter", "TI", objs, colour);
    struct dsl_tuple *out = dsl_tuple_blank(arena, objs->n);
    if (!out)
        return NULL;
    out->is_set = objs->is_set;
    for (int k = 0; k < objs->n; k++) {
        struct dsl_value item = objs->item[k];
        if (item.type == DSL_OBJECT && item.object->n && color(arena, item.object) == colour)
            out->item[out->n++] = item;
    }
    return out;
}

const struct dsl_tuple *sizefilter(struct dsl_arena *arena, const struct dsl_tuple *containers,
                                   int n) {
    LOG_CALL("sizefilter", "TI", containers, n);
    struct dsl_tuple *out = dsl_tuple_blank(arena, containers->n);
    if (!out)
        return NULL;
    out->is_set = containers->is_set;
    for (int k = 0; k < containers->n; k++)
        if (size(arena, containers->item[k]) == n)
            out->item[out->n++] = containers->item[k];
    return out;
}

int equality(struct dsl_arena *arena, struct dsl_value a, struct dsl_value b) {
    LOG_CALL("equality", "VV", a, b);
    (void)arena;
    return !dsl_value_compare(a, b);
}

int greater(struct dsl_arena *arena, int a, int b) {
    LOG_CALL("greater", "II", a, b);
    (void)arena;
    return a > b;
}
