/* SPDX-License-Identifier: MIT
 *
 * The ledger of one thread as docs/internals/ledger.md defines it, without any of its haste: one
 * array of nodes, one of open calls. What thread.c, node.c, fast.h and the stub come to is compared
 * with it, so nothing of theirs may be used here but the type of a node.
 */
#ifndef BP_TESTS_UNIT_NAIVE_H
#define BP_TESTS_UNIT_NAIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format.h"

#define NAIVE_LIMIT 16384 /* contexts that are kept apart */
#define NAIVE_NODES (NAIVE_LIMIT + 128)
#define NAIVE_FUNCTIONS 32
#define NAIVE_DEPTH 256

struct naive_call {
    unsigned node;
    uint64_t place; /* on the stack: who is not below it is not called from it */
    uint64_t start, child;
};

struct naive {
    struct bp_node nodes[NAIVE_NODES];
    unsigned below[NAIVE_NODES][NAIVE_FUNCTIONS]; /* by parent and function; 0: none */
    unsigned count;
    unsigned folded;
    struct naive_call calls[NAIVE_DEPTH]; /* calls[0] is the thread itself */
    unsigned open;                        /* the last of them */
};

static inline struct naive *naive_new(void) {
    struct naive *naive = calloc(1, sizeof *naive);
    if (!naive)
        abort();
    naive->nodes[0] =
        (struct bp_node){.parent = BP_NO_NODE, .func = BP_FUNC_INDEX_ROOT, .min = UINT64_MAX};
    naive->count = 1;
    naive->calls[0].place = UINT64_MAX;
    return naive;
}

static inline unsigned naive_add(struct naive *naive, unsigned parent, uint32_t func) {
    unsigned index = naive->count++;
    naive->nodes[index] =
        (struct bp_node){.parent = parent, .func = func, .index = index, .min = UINT64_MAX};
    return index;
}

/* A function that is open further out has its node already. */
static inline unsigned naive_node(struct naive *naive, unsigned parent, uint32_t func) {
    for (unsigned i = parent; i; i = naive->nodes[i].parent)
        if (naive->nodes[i].func == func)
            return i;
    if (!naive->below[parent][func] && naive->count >= NAIVE_LIMIT && parent != naive->folded) {
        if (!naive->folded)
            naive->folded = naive_add(naive, 0, BP_FUNC_INDEX_FOLDED);
        return naive_node(naive, naive->folded, func);
    }
    if (!naive->below[parent][func])
        naive->below[parent][func] = naive_add(naive, parent, func);
    return naive->below[parent][func];
}

static inline int naive_is_inner(const struct naive *naive, uint32_t func) {
    for (unsigned i = 1; i < naive->open; i++)
        if (naive->nodes[naive->calls[i].node].func == func)
            return 1;
    return 0;
}

/* The innermost call ends. Its duration. */
static inline uint64_t naive_close(struct naive *naive, uint64_t now) {
    const struct naive_call *call = &naive->calls[naive->open];
    struct bp_node *node = &naive->nodes[call->node];
    uint64_t duration = now - call->start;
    if (naive_is_inner(naive, node->func))
        node->inner += duration;
    else
        node->total += duration;
    node->self += duration - call->child;
    naive->calls[--naive->open].child += duration;
    return duration;
}

static inline void naive_abort(struct naive *naive, uint64_t now) {
    naive->nodes[naive->calls[naive->open].node].aborted++;
    naive_close(naive, now);
}

/* Two for each power of two, up to 2^48; the clock does not resolve less than 8 ticks. */
static inline unsigned naive_bucket(uint64_t duration) {
    static const unsigned few[] = {2, 3, 2, 3, 5, 5, 5, 5};
    unsigned power = 3;
    if (duration < 8)
        return few[duration];
    while (power < 47 && duration >= UINT64_C(2) << power)
        power++;
    return 2 * power + (duration >= UINT64_C(3) << (power - 1));
}

static inline void naive_count(struct bp_node *node, uint64_t duration) {
    uint64_t capped = duration < UINT64_C(1) << 48 ? duration : (UINT64_C(1) << 48) - 1;
    uint64_t longest = node->min == UINT64_MAX ? capped : node->min + node->span;
    if (node->min == UINT64_MAX)
        node->first = capped;
    if (capped < node->min)
        node->min = capped;
    if (capped > longest)
        longest = capped;
    node->span = longest - node->min;
    node->histogram[naive_bucket(duration)]++;
}

/* Which of the open calls it is. */
static inline unsigned naive_enter(struct naive *naive, uint32_t func, uint64_t place,
                                   uint64_t now) {
    while (naive->calls[naive->open].place <= place)
        naive_abort(naive, now);
    unsigned node = naive_node(naive, naive->calls[naive->open].node, func);
    naive->calls[++naive->open] = (struct naive_call){node, place, now, 0};
    return naive->open;
}

/* `counted`: the call returned; else it only pauses. */
static inline void naive_leave(struct naive *naive, unsigned call, uint64_t now, int counted) {
    while (naive->open > call)
        naive_abort(naive, now);
    struct bp_node *node = &naive->nodes[naive->calls[call].node];
    uint64_t duration = naive_close(naive, now);
    if (counted)
        naive_count(node, duration);
}

static inline void naive_unwound(struct naive *naive, uint64_t place, uint64_t now) {
    while (naive->calls[naive->open].place <= place)
        naive_abort(naive, now);
}

#endif
