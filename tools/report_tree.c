/* SPDX-License-Identifier: MIT
 *
 * The calling contexts of all threads as one indented tree, the largest first; with a tilde the
 * functions that samples found in a context's own time. Times are thread-seconds. What is below 0.1
 * % of the wall is left out and counted.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/report_internal.h"

#define SMALLEST_PART 0.001
/* Deeper levels are indented no further: the names must stay readable. */
#define DEEPEST_INDENT 12
/* Functions that samples found in one context. */
#define SAMPLED_ROWS 6
/* A damaged file may chain all its nodes; real call paths end long before. */
#define DEEPEST 1000

struct tree {
    const struct bp_page *page;
    const struct bp_model *model;
    uint32_t *children; /* contexts by parent, then falling total */
    uint32_t *first;    /* per context, where its children begin; one more at the end */
    uint32_t *size;     /* per context, with all below it */
    uint32_t *sampled;  /* per context, where its parts begin; one more at the end */
    uint32_t pruned;
    double pruned_s;
};

static int compare_contexts(const void *a, const void *b, void *data) {
    const struct bp_context *x = &((const struct bp_context *)data)[*(const uint32_t *)a];
    const struct bp_context *y = &((const struct bp_context *)data)[*(const uint32_t *)b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total_s != y->total_s)
        return x->total_s > y->total_s ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void sort_children(struct tree *tree) {
    const struct bp_model *model = tree->model;
    uint32_t count = model->context_count - 1;
    tree->children = bp_alloc(count, sizeof(*tree->children));
    tree->first = bp_alloc(model->context_count + 1, sizeof(*tree->first));
    for (uint32_t i = 0; i < count; i++)
        tree->children[i] = i + 1;
    qsort_r(tree->children, count, sizeof(*tree->children), compare_contexts, model->contexts);
    uint32_t at = 0;
    for (uint32_t i = 0; i <= model->context_count; i++) {
        while (at < count && model->contexts[tree->children[at]].parent < i)
            at++;
        tree->first[i] = at;
    }
    tree->size = bp_alloc(model->context_count, sizeof(*tree->size));
    for (uint32_t i = model->context_count; i-- > 1;) {
        tree->size[i]++;
        tree->size[model->contexts[i].parent] += tree->size[i];
    }
}

static void print_row(const struct tree *tree, const struct bp_context *context, int depth) {
    const struct bp_page *page = tree->page;
    const struct bp_function *function = &tree->model->functions[context->function];
    char label[400];
    char name[300];
    char text[32];
    int indent = 2 * (depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT);
    if (function->kind == BP_FUNC_ROOT)
        snprintf(label, sizeof(label), "%s", function->library);
    else
        snprintf(label, sizeof(label), "%s%s", bp_report_name(function, name, sizeof(name)),
                 function->kind == BP_FUNC_WAIT ? " [wait]"
                 : function->kind == BP_FUNC_IO ? " [io]"
                                                : "");
    fprintf(page->out, "%*s", indent, "");
    bp_page_left(page, label, 44 - indent);
    if (function->kind == BP_FUNC_ROOT || function->kind == BP_FUNC_FOLDED)
        bp_page_right(page, "", 14);
    else
        bp_page_right(page, bp_page_count(context->calls, text), 14);
    bp_page_right(page, bp_page_time(page, context->self_s, text), 11);
    bp_page_right(page, bp_page_time(page, context->total_s, text), 11);
    fputc('\n', page->out);
}

static void print_part(const struct tree *tree, const struct bp_context_part *part, double s,
                       int indent) {
    const struct bp_page *page = tree->page;
    char label[400];
    char name[300];
    char text[32];
    snprintf(label, sizeof(label), "~ %s",
             bp_report_name(&tree->model->functions[part->function], name, sizeof(name)));
    fprintf(page->out, "%*s", indent, "");
    bp_page_left(page, label, 58 - indent);
    bp_page_right(page, bp_page_time(page, s, text), 11);
    fputc('\n', page->out);
}

/* What samples found in a context's own time, below it: of what it was not blocked. */
static void print_sampled(const struct tree *tree, uint32_t number, int depth) {
    const struct bp_model *model = tree->model;
    const struct bp_context *context = &model->contexts[number];
    int indent = 2 * (depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT);
    uint32_t shown = 0;
    for (uint32_t i = tree->sampled[number]; i < tree->sampled[number + 1]; i++) {
        const struct bp_context_part *part = &model->context_parts[i];
        double s = part->part * (context->self_s - context->blocked_s);
        if (part->function == context->function || s < SMALLEST_PART * model->wall_s)
            continue;
        if (shown++ < SAMPLED_ROWS)
            print_part(tree, part, s, indent);
    }
}

/* Where the parts of each context begin; one more at the end. */
static void find_sampled(struct tree *tree) {
    const struct bp_model *model = tree->model;
    uint32_t at = 0;
    tree->sampled = bp_alloc(model->context_count + 1, sizeof(*tree->sampled));
    for (uint32_t i = 0; i <= model->context_count; i++) {
        while (at < model->context_part_count && model->context_parts[at].context < i)
            at++;
        tree->sampled[i] = at;
    }
}

static void print_children(struct tree *tree, uint32_t parent, int depth) {
    for (uint32_t i = tree->first[parent]; i < tree->first[parent + 1]; i++) {
        const struct bp_context *context = &tree->model->contexts[tree->children[i]];
        double smallest = SMALLEST_PART * tree->model->wall_s;
        bool small = context->total_s < smallest && context->in_flight == 0;
        if (small || depth > DEEPEST) {
            tree->pruned_s += context->total_s;
            tree->pruned += tree->size[tree->children[i]];
            continue;
        }
        print_row(tree, context, depth);
        print_sampled(tree, tree->children[i], depth + 1);
        print_children(tree, tree->children[i], depth + 1);
    }
}

int bp_report_tree(const struct bp_model *model, const struct bp_report_settings *settings,
                   FILE *out) {
    struct bp_page page;
    struct tree tree = {.page = &page, .model = model};
    char text[32];
    (void)settings;
    bp_page_init(&page, out);
    bp_report_headline(&page, model);
    sort_children(&tree);
    find_sampled(&tree);
    bp_page_heading(&page, "Calling context");
    bp_page_right(&page, "calls", 43);
    bp_page_right(&page, "self", 11);
    bp_page_right(&page, "total", 11);
    fputc('\n', out);
    print_children(&tree, 0, 0);
    if (tree.pruned)
        fprintf(out, "%u context%s below 0.1 %% of wall not shown, %s together\n", tree.pruned,
                tree.pruned == 1 ? "" : "s", bp_page_time(&page, tree.pruned_s, text));
    bp_report_notes(&page, model);
    fprintf(out, "\nnext: battprof report --json %s\n", model->path);
    free(tree.children);
    free(tree.first);
    free(tree.size);
    free(tree.sampled);
    return 0;
}
