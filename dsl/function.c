/* SPDX-License-Identifier: MIT
 *
 * Functions as values: applying them over containers, choosing by them, and binding arguments. A
 * bound function is an ordinary dsl_function in the arena whose signature is what is left to give.
 */
#include "dsl/internal.h"

#include <string.h>

static bool takes_count(struct dsl_arena *arena, const struct dsl_function *function, size_t n) {
    if (strlen(function->takes) == n)
        return true;
    dsl_fail(arena, "function with the wrong number of arguments");
    return false;
}

const struct dsl_tuple *apply(struct dsl_arena *arena, const struct dsl_function *function,
                              const struct dsl_tuple *container) {
    LOG_CALL("apply", "FT", function, container);
    struct dsl_tuple *out = dsl_tuple_blank(arena, container->n);
    if (!out || !takes_count(arena, function, 1))
        return NULL;
    for (int k = 0; k < container->n; k++) {
        struct dsl_value result = dsl_call(arena, function, &container->item[k]);
        if (dsl_failed(arena))
            return NULL;
        out->item[out->n++] = result;
    }
    return container->is_set ? dsl_set_seal(out) : out;
}

struct dsl_value mapply(struct dsl_arena *arena, const struct dsl_function *function,
                        const struct dsl_tuple *container) {
    LOG_CALL("mapply", "FT", function, container);
    const struct dsl_tuple *results = apply(arena, function, container);
    return results ? merge(arena, results) : value_none();
}

/* Every item of a with every item of b. */
const struct dsl_tuple *prapply(struct dsl_arena *arena, const struct dsl_function *function,
                                const struct dsl_tuple *a, const struct dsl_tuple *b) {
    LOG_CALL("prapply", "FTT", function, a, b);
    struct dsl_tuple *out = dsl_tuple_blank(arena, (int64_t)a->n * b->n);
    if (!out || !takes_count(arena, function, 2))
        return NULL;
    for (int k = 0; k < a->n * b->n; k++) {
        struct dsl_value args[2] = {a->item[k / b->n], b->item[k % b->n]};
        struct dsl_value result = dsl_call(arena, function, args);
        if (dsl_failed(arena))
            return NULL;
        out->item[out->n++] = result;
    }
    return a->is_set && b->is_set ? dsl_set_seal(out) : out;
}

struct dsl_value mpapply(struct dsl_arena *arena, const struct dsl_function *function,
                         const struct dsl_tuple *a, const struct dsl_tuple *b) {
    LOG_CALL("mpapply", "FTT", function, a, b);
    const struct dsl_tuple *results = prapply(arena, function, a, b);
    return results ? merge(arena, results) : value_none();
}

const struct dsl_tuple *sfilter(struct dsl_arena *arena, const struct dsl_tuple *container,
                                const struct dsl_function *condition) {
    LOG_CALL("sfilter", "TF", container, condition);
    struct dsl_tuple *out = dsl_tuple_blank(arena, container->n);
    if (!out || !takes_count(arena, condition, 1))
        return NULL;
    out->is_set = container->is_set;
    for (int k = 0; k < container->n; k++) {
        struct dsl_value keep = dsl_call(arena, condition, &container->item[k]);
        if (keep.type != DSL_INT)
            dsl_fail(arena, "filter: the condition gives no truth value");
        if (dsl_failed(arena))
            return NULL;
        if (keep.number)
            out->item[out->n++] = container->item[k];
    }
    return out;
}

struct dsl_value mfilter(struct dsl_arena *arena, const struct dsl_tuple *container,
                         const struct dsl_function *condition) {
    LOG_CALL("mfilter", "TF", container, condition);
    const struct dsl_tuple *kept = sfilter(arena, container, condition);
    return kept ? merge(arena, kept) : value_none();
}

/* wanted: 1 for the greatest key, -1 for the least; the first of equals wins. */
static struct dsl_value extreme(struct dsl_arena *arena, const struct dsl_tuple *container,
                                const struct dsl_function *key, int wanted) {
    if (!container->n)
        dsl_fail(arena, "argmax, argmin: empty container");
    if (!container->n || !takes_count(arena, key, 1))
        return value_none();
    struct dsl_value best = value_none();
    int at = 0;
    for (int k = 0; k < container->n; k++) {
        struct dsl_value score = dsl_call(arena, key, &container->item[k]);
        if (dsl_failed(arena))
            return value_none();
        if (k && dsl_value_compare(score, best) * wanted <= 0)
            continue;
        best = score;
        at = k;
    }
    return container->item[at];
}

struct dsl_value argmax(struct dsl_arena *arena, const struct dsl_tuple *container,
                        const struct dsl_function *key) {
    LOG_CALL("argmax", "TF", container, key);
    return extreme(arena, container, key, 1);
}

struct dsl_value argmin(struct dsl_arena *arena, const struct dsl_tuple *container,
                        const struct dsl_function *key) {
    LOG_CALL("argmin", "TF", container, key);
    return extreme(arena, container, key, -1);
}

struct dsl_value identity(struct dsl_arena *arena, struct dsl_value value) {
    LOG_CALL("identity", "V", value);
    (void)arena;
    return value;
}

static struct dsl_value call_lbind(struct dsl_arena *arena, const struct dsl_function *self,
                                   const struct dsl_value *args) {
    struct dsl_value all[DSL_ARGS_MAX] = {self->bound[1]};
    memcpy(all + 1, args, strlen(self->takes) * sizeof(all[0]));
    return dsl_call(arena, self->bound[0].function, all);
}

static struct dsl_value call_rbind(struct dsl_arena *arena, const struct dsl_function *self,
                                   const struct dsl_value *args) {
    struct dsl_value all[DSL_ARGS_MAX] = {{.type = DSL_NONE, .grid = NULL}};
    size_t given = strlen(self->takes);
    memcpy(all, args, given * sizeof(all[0]));
    all[given] = self->bound[1];
    return dsl_call(arena, self->bound[0].function, all);
}

static struct dsl_value call_compose(struct dsl_arena *arena, const struct dsl_function *self,
                                     const struct dsl_value *args) {
    struct dsl_value inner = dsl_call(arena, self->bound[1].function, args);
    if (dsl_failed(arena))
        return value_none();
    return dsl_call(arena, self->bound[0].function, &inner);
}

static struct dsl_function *bound_blank(struct dsl_arena *arena, const struct dsl_function *like,
                                        struct dsl_value with) {
    struct dsl_function *out = dsl_alloc(arena, sizeof(*out));
    if (!out)
        return NULL;
    *out = *like;
    out->bound[0] = value_function(like);
    out->bound[1] = with;
    return out;
}

const struct dsl_function *lbind(struct dsl_arena *arena, const struct dsl_function *function,
                                 struct dsl_value first) {
    LOG_CALL("lbind", "FV", function, first);
    struct dsl_function *out = *function->takes ? bound_blank(arena, function, first) : NULL;
    if (!out)
        return dsl_fail(arena, "lbind: nothing left to bind"), NULL;
    memmove(out->takes, out->takes + 1, strlen(out->takes));
    out->call = call_lbind;
    return out;
}

const struct dsl_function *rbind(struct dsl_arena *arena, const struct dsl_function *function,
                                 struct dsl_value last) {
    LOG_CALL("rbind", "FV", function, last);
    struct dsl_function *out = *function->takes ? bound_blank(arena, function, last) : NULL;
    if (!out)
        return dsl_fail(arena, "rbind: nothing left to bind"), NULL;
    out->takes[strlen(out->takes) - 1] = '\0';
    out->call = call_rbind;
    return out;
}

const struct dsl_function *compose(struct dsl_arena *arena, const struct dsl_function *outer,
                                   const struct dsl_function *inner) {
    LOG_CALL("compose", "FF", outer, inner);
    if (!takes_count(arena, outer, 1))
        return NULL;
    struct dsl_function *out = bound_blank(arena, outer, value_function(inner));
    if (!out)
        return NULL;
    memcpy(out->takes, inner->takes, sizeof(out->takes));
    out->call = call_compose;
    return out;
}
