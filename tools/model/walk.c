/* SPDX-License-Identifier: MIT
 *
 * Contexts are visited without recursion: a damaged file may chain as many as it has nodes.
 */
#include "tools/model/walk.h"

#include <stdlib.h>

#include "tools/base/memory.h"

struct walk {
    const struct bp_model *model;
    struct bp_walk_row *rows; /* per context, or per stack */
    uint32_t *functions;      /* the path of the row that is visited */
    bp_walk_visit *visit;
    void *data;
    /* Per context; 0 is none. */
    uint32_t *child;   /* its first */
    uint32_t *sibling; /* its next one */
    uint32_t *part;    /* its first of the model's context_parts, + 1 */
};

static void add_contexts(struct walk *walk, const struct bp_model_thread *thread) {
    for (uint32_t i = 0; i < thread->source->node_count; i++) {
        const struct bp_thread_context *from = &thread->contexts[i];
        struct bp_walk_row *row = &walk->rows[from->context];
        row->contexts = 1;
        row->calls += from->calls;
        row->bytes += from->bytes;
        for (int k = 0; k < BP_DIRECTIONS; k++)
            row->direction_bytes[k] += from->direction_bytes[k];
        row->devices |= from->devices;
        row->self_s += from->self_s;
        row->wall_s += from->wall_s + from->idle_s;
        for (int k = 0; k < BP_CATEGORIES; k++)
            row->category_s[k] += from->category_s[k];
    }
}

static void add_stacks(struct walk *walk, const struct bp_model_thread *thread) {
    for (uint32_t i = 0; i < thread->stack_count; i++) {
        const struct bp_thread_stack *from = &thread->stacks[i];
        struct bp_walk_row *row = &walk->rows[from->stack];
        uint32_t function = walk->model->contexts[from->context].function;
        row->kind = BP_WALK_STACK;
        row->context = BP_NO_NODE;
        row->samples += from->samples;
        row->total_s += (double)from->cpu_ns; /* until it is visited: sums of these are exact */
        row->category_s[walk->model->functions[function].category] += (double)from->cpu_ns;
    }
}

/* The rows that `add` fills, of one thread or of all. */
static void read_threads(struct walk *walk, uint32_t count, uint32_t thread,
                         void (*add)(struct walk *, const struct bp_model_thread *)) {
    const struct bp_model *model = walk->model;
    walk->rows = bp_alloc(count, sizeof(*walk->rows));
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (thread == BP_ALL_THREADS || thread == i)
            add(walk, &model->threads[i]);
}

/* Parents come before their children. */
static void sum_up(struct walk *walk) {
    const struct bp_model *model = walk->model;
    for (uint32_t i = 0; i < model->context_count; i++) {
        walk->rows[i].total_s = walk->rows[i].self_s;
        walk->rows[i].total_wall_s = walk->rows[i].wall_s;
    }
    for (uint32_t i = model->context_count; i-- > 1;) {
        struct bp_walk_row *parent = &walk->rows[model->contexts[i].parent];
        walk->rows[i].context = i;
        parent->total_s += walk->rows[i].total_s;
        parent->total_wall_s += walk->rows[i].total_wall_s;
        parent->contexts += walk->rows[i].contexts;
    }
}

static int compare_rows(const void *a, const void *b, void *data) {
    const struct bp_walk_row *rows = data;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    if (rows[x].total_s != rows[y].total_s)
        return rows[x].total_s > rows[y].total_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Numbers of rows by falling total: a new array. */
static uint32_t *order_rows(const struct walk *walk, uint32_t count) {
    uint32_t *order = bp_alloc(count, sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof(*order), compare_rows, walk->rows);
    return order;
}

/* Lists grow at their front, so the smallest goes first. */
static void link_contexts(struct walk *walk) {
    const struct bp_model *model = walk->model;
    uint32_t *order = order_rows(walk, model->context_count);
    walk->child = bp_alloc(model->context_count, sizeof(*walk->child));
    walk->sibling = bp_alloc(model->context_count, sizeof(*walk->sibling));
    walk->part = bp_alloc(model->context_count, sizeof(*walk->part));
    for (uint32_t i = model->context_count; i-- > 0;) {
        uint32_t context = order[i];
        if (context == 0 || walk->rows[context].contexts == 0)
            continue;
        uint32_t *child = &walk->child[model->contexts[context].parent];
        walk->sibling[context] = *child;
        *child = context;
    }
    for (uint32_t i = model->context_part_count; i-- > 0;)
        walk->part[model->context_parts[i].context] = i + 1;
    free(order);
}

/* Samples divide the part of the self time that was not blocked. */
static void visit_part(const struct walk *walk, const struct bp_walk_row *row,
                       const struct bp_context_part *part) {
    const struct bp_context *all = &walk->model->contexts[part->context];
    double blocked_s = all->self_s > 0 ? all->blocked_s * (row->self_s / all->self_s) : 0;
    double s = part->part * (row->self_s - blocked_s);
    struct bp_walk_row found = {.kind = BP_WALK_PART,
                                .context = part->context,
                                .depth = row->depth + 1,
                                .functions = walk->functions,
                                .samples = part->samples,
                                .self_s = s,
                                .total_s = s};
    for (int i = 0; row->self_s > 0 && i < BP_CATEGORIES; i++)
        found.category_s[i] = s * row->category_s[i] / row->self_s;
    walk->functions[found.depth] = part->function;
    if (part->function != all->function)
        walk->visit(&found, walk->data);
}

/* False: nothing below it. */
static bool visit_context(const struct walk *walk, uint32_t number, uint32_t depth) {
    const struct bp_model *model = walk->model;
    struct bp_walk_row *row = &walk->rows[number];
    row->depth = depth;
    row->functions = walk->functions;
    walk->functions[depth] = model->contexts[number].function;
    if (!walk->visit(row, walk->data))
        return false;
    uint32_t part = walk->part[number];
    for (; part && part <= model->context_part_count &&
           model->context_parts[part - 1].context == number;
         part++)
        visit_part(walk, row, &model->context_parts[part - 1]);
    return true;
}

static void visit_contexts(const struct walk *walk) {
    uint32_t depth = 0;
    for (uint32_t at = walk->child[0]; at;) {
        if (visit_context(walk, at, depth) && walk->child[at]) {
            at = walk->child[at];
            depth++;
            continue;
        }
        for (; at && !walk->sibling[at]; depth--)
            at = walk->model->contexts[at].parent;
        at = walk->sibling[at];
    }
}

void bp_walk_contexts(const struct bp_model *model, uint32_t thread, bp_walk_visit *visit,
                      void *data) {
    struct walk walk = {.model = model, .visit = visit, .data = data};
    read_threads(&walk, model->context_count, thread, add_contexts);
    sum_up(&walk);
    link_contexts(&walk);
    walk.functions = bp_alloc(model->context_count + 1, sizeof(*walk.functions));
    visit_contexts(&walk);
    free(walk.rows);
    free(walk.functions);
    free(walk.child);
    free(walk.sibling);
    free(walk.part);
}

static void visit_stack(const struct walk *walk, uint32_t number) {
    const struct bp_sampled_stack *stacks = walk->model->samples.stacks;
    struct bp_walk_row *row = &walk->rows[number];
    uint32_t count = 0;
    for (uint32_t i = number; i != BP_NO_STACK && count < BP_WALK_DEEPEST; i = stacks[i].parent)
        walk->functions[BP_WALK_DEEPEST - ++count] = stacks[i].function;
    row->depth = count - 1;
    row->functions = walk->functions + BP_WALK_DEEPEST - count;
    row->self_s = row->total_s *= 1e-9;
    for (int i = 0; i < BP_CATEGORIES; i++)
        row->category_s[i] *= 1e-9;
    walk->visit(row, walk->data);
}

void bp_walk_stacks(const struct bp_model *model, uint32_t thread, bp_walk_visit *visit,
                    void *data) {
    uint32_t functions[BP_WALK_DEEPEST];
    struct walk walk = {.model = model, .functions = functions, .visit = visit, .data = data};
    read_threads(&walk, model->samples.stack_count, thread, add_stacks);
    uint32_t *order = order_rows(&walk, model->samples.stack_count);
    for (uint32_t i = 0; i < model->samples.stack_count && walk.rows[order[i]].total_s > 0; i++)
        visit_stack(&walk, order[i]);
    free(order);
    free(walk.rows);
}
