/* SPDX-License-Identifier: MIT
 *
 * --tree, its second half: the sampled stacks as one tree of functions, whether they are
 * intercepted or not, the largest first. Times are the CPU time of the samples.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/model/walk.h"
#include "tools/render/text/internal.h"

/* Part of the CPU time of all samples below which a row is left out, in per cent. */
#define USUAL_LEAST 1.0
#define DEEPEST_INDENT 16
/* Functions of a recursion that is shown once; a longer one is shown as it is. */
#define LONGEST_CYCLE 8

/* A function below one path of callers; 0 stands above all. */
struct node {
    uint32_t function;
    uint32_t child; /* the first; 0: none */
    uint32_t sibling;
    double self_s;
    double total_s;
};

struct tree {
    const struct bp_page *page;
    const struct bp_model *model;
    struct bp_keys keys; /* (parent, function) to the node's number - 1 */
    struct node *nodes;
    uint32_t count;
    uint32_t *path; /* the stack that is being added, as it is shown */
    uint32_t length;
    uint32_t depth; /* levels; 0: all */
    double least_s;
    uint32_t hidden;
};

/* What every program begins with says nothing. */
static bool is_start(const struct bp_function *function) {
    static const char *const names[] = {
        "_start", "__libc_start_main", "__libc_start_call_main", "start_thread",
        "clone3", "__clone3"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(function->name, names[i]) == 0)
            return true;
    return false;
}

static uint32_t add_child(struct tree *tree, uint32_t parent, uint32_t function) {
    const uint32_t key[2] = {parent, function};
    uint32_t number = bp_keys_put(&tree->keys, key, sizeof(key)) + 1;
    if (number == tree->count) {
        *BP_APPEND(tree->nodes, tree->count) =
            (struct node){.function = function, .sibling = tree->nodes[parent].child};
        tree->nodes[parent].child = number;
    }
    return number;
}

/* A function or a few of them that call one another again and again are there once: 400 levels of a
 * recursion say no more. Nothing else is moved: who called whom stays true. */
static void put_step(struct tree *tree, uint32_t function) {
    *BP_APPEND(tree->path, tree->length) = function;
    for (uint32_t cycle = 1; cycle <= LONGEST_CYCLE && 2 * cycle <= tree->length; cycle++) {
        const uint32_t *last = tree->path + tree->length - cycle;
        if (memcmp(last, last - cycle, cycle * sizeof(*last)) == 0) {
            tree->length -= cycle;
            return;
        }
    }
}

static bool add_stack(const struct bp_walk_row *row, void *data) {
    struct tree *tree = data;
    uint32_t node = 0;
    tree->length = 0;
    for (uint32_t i = 0; i <= row->depth; i++) {
        uint32_t function = row->functions[i];
        if (function == BP_NO_FUNCTION || !is_start(&tree->model->functions[function]))
            put_step(tree, function);
    }
    tree->nodes[0].total_s += row->self_s;
    for (uint32_t i = 0; i < tree->length; i++) {
        node = add_child(tree, node, tree->path[i]);
        tree->nodes[node].total_s += row->self_s;
    }
    tree->nodes[node].self_s += row->self_s;
    return true;
}

static const char *cell_self(const struct bp_page *page, const void *value, char text[64]) {
    return *(const double *)value > 0 ? bp_cell_time(page, value, text) : "";
}

static const struct bp_column columns[] = {
    BP_LABEL(48),
    BP_COLUMN("self", 11, cell_self, struct node, self_s),
    BP_COLUMN("total", 11, bp_cell_time, struct node, total_s),
    BP_COLUMN("of CPU", 10, bp_cell_share, struct node, total_s),
    BP_LAST_COLUMN,
};

static int compare(const void *a, const void *b, void *data) {
    const struct node *nodes = data;
    const struct node *x = &nodes[*(const uint32_t *)a];
    const struct node *y = &nodes[*(const uint32_t *)b];
    return x->total_s != y->total_s ? (x->total_s > y->total_s ? -1 : 1) : 0;
}

/* The children by falling total: a new array. */
static uint32_t *order_children(const struct tree *tree, uint32_t parent, uint32_t *count) {
    uint32_t *order = NULL;
    *count = 0;
    for (uint32_t i = tree->nodes[parent].child; i; i = tree->nodes[i].sibling)
        *BP_APPEND(order, *count) = i;
    if (*count)
        qsort_r(order, *count, sizeof(*order), compare, tree->nodes);
    return order;
}

static void print_node(const struct tree *tree, const struct node *node, uint32_t level) {
    int indent = 2 * (int)(level < DEEPEST_INDENT ? level : DEEPEST_INDENT);
    char *mark = bp_make_text("%*s", indent, "");
    bp_columns_row(tree->page, columns, mark,
                   node->function == BP_NO_FUNCTION
                       ? "(unknown callers)"
                       : bp_function_frame(&tree->model->functions[node->function]),
                   node);
    free(mark);
}

/* As deep as stacks are, which the walk bounds. */
static void print_children(struct tree *tree, uint32_t parent, uint32_t level) {
    uint32_t count;
    uint32_t *order = order_children(tree, parent, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct node *node = &tree->nodes[order[i]];
        if (node->total_s < tree->least_s || (tree->depth && level >= tree->depth)) {
            tree->hidden++;
            continue;
        }
        print_node(tree, node, level);
        print_children(tree, order[i], level + 1);
    }
    free(order);
}

void bp_report_stack_tree(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings) {
    struct bp_page table = *page;
    struct tree tree = {.page = &table, .model = model, .depth = settings->depth};
    double least = settings->least < 0 ? USUAL_LEAST : settings->least;
    if (model->samples.stack_count == 0)
        return;
    *BP_APPEND(tree.nodes, tree.count) = (struct node){.function = BP_NO_FUNCTION};
    bp_walk_stacks(model, BP_ALL_THREADS, add_stack, &tree);
    table.whole = tree.nodes[0].total_s;
    tree.least_s = least / 100 * table.whole;
    bp_columns_title(page, "Sampled stacks, CPU time", columns);
    print_children(&tree, 0, 0);
    if (tree.hidden)
        fprintf(page->out, "%u branch%s not shown: --min 0%s\n", tree.hidden,
                tree.hidden == 1 ? "" : "es", tree.depth ? ", without --depth" : "");
    bp_keys_fini(&tree.keys);
    free(tree.nodes);
    free(tree.path);
}
