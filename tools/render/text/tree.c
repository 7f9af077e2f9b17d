/* SPDX-License-Identifier: MIT
 *
 * The calling contexts of all threads as one indented tree, the largest first; with a tilde the
 * functions that samples found in a context's own time. Times are thread-seconds, shares are of
 * those of all threads. What is below 0.1 % of the wall is left out and counted.
 */
#include <stdlib.h>

#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"
#include "tools/model/walk.h"
#include "tools/render/text/internal.h"

/* Share of the wall, in per cent. */
#define SMALLEST_PART 0.1
/* Deeper levels are indented no further: the names must stay readable. */
#define DEEPEST_INDENT 12
/* Functions that samples found in one context. */
#define SAMPLED_ROWS 6

struct tree {
    const struct bp_page *page;
    const struct bp_model *model;
    uint32_t depth; /* levels; 0: all */
    double least_s;
    uint32_t pruned;
    double pruned_s;
    uint32_t sampled; /* rows of the context that came last */
};

struct line {
    bool counted;
    uint64_t calls;
    double self_s;
    double total_s;
};

static const char *cell_calls(const struct bp_page *page, const void *value, char text[64]) {
    const struct line *line = value;
    return line->counted ? bp_cell_count(page, &line->calls, text) : "";
}

static const struct bp_column columns[] = {
    BP_LABEL(37),
    {"calls", 13, cell_calls, 0},
    BP_COLUMN("self", 10, bp_cell_time, struct line, self_s),
    BP_COLUMN("total", 10, bp_cell_time, struct line, total_s),
    BP_COLUMN("share", 10, bp_cell_share, struct line, total_s),
    BP_LAST_COLUMN,
};
static const struct bp_column part_columns[] = {
    BP_LABEL(50),
    BP_COLUMN("self", 10, bp_cell_time, struct line, self_s),
    BP_COLUMN("share", 20, bp_cell_share, struct line, self_s),
    BP_LAST_COLUMN,
};

static void print_line(const struct tree *tree, const struct bp_walk_row *row) {
    static const char indent[] = "                        ";
    _Static_assert(sizeof(indent) - 1 == 2 * DEEPEST_INDENT, "room for the deepest");
    const struct bp_function *function = &tree->model->functions[row->functions[row->depth]];
    bool part = row->kind == BP_WALK_PART;
    bool counted = function->kind != BP_FUNC_ROOT && function->kind != BP_FUNC_FOLDED;
    uint32_t deep = row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT;
    struct line line = {counted, row->calls, row->self_s, row->total_s};
    char *label = bp_make_text("%s%s%s", part ? "~ " : "", bp_function_frame(function),
                               part                             ? ""
                               : function->kind == BP_FUNC_WAIT ? " [wait]"
                               : function->kind == BP_FUNC_IO   ? " [io]"
                                                                : "");
    bp_columns_row(tree->page, part ? part_columns : columns, indent + 2 * (DEEPEST_INDENT - deep),
                   label, &line);
    free(label);
}

/* What samples found in a context's own time, below it. */
static void print_part(struct tree *tree, const struct bp_walk_row *row) {
    if (row->self_s >= tree->least_s && (!tree->depth || row->depth < tree->depth) &&
        tree->sampled++ < SAMPLED_ROWS)
        print_line(tree, row);
}

static bool print_row(const struct bp_walk_row *row, void *data) {
    struct tree *tree = data;
    const struct bp_model *model = tree->model;
    if (row->kind == BP_WALK_PART) {
        print_part(tree, row);
        return true;
    }
    bool small = row->total_s < tree->least_s && model->contexts[row->context].in_flight == 0;
    if (small || row->depth > BP_WALK_DEEPEST || (tree->depth && row->depth >= tree->depth)) {
        tree->pruned_s += row->total_s;
        tree->pruned += row->contexts;
        return false;
    }
    tree->sampled = 0;
    print_line(tree, row);
    return true;
}

int bp_report_tree(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                   FILE *out) {
    const struct bp_model *model = analysis->model;
    struct bp_page page;
    struct tree tree = {.page = &page, .model = model};
    double least = settings->least < 0 ? SMALLEST_PART : settings->least;
    tree.least_s = least / 100 * model->wall.total_s;
    tree.depth = settings->depth;
    bp_page_init(&page, out);
    page.whole = model->thread_time.total_s;
    bp_report_headline(&page, model);
    bp_columns_names(&page, "Calling context", columns);
    bp_walk_contexts(model, BP_ALL_THREADS, print_row, &tree);
    if (tree.pruned)
        fprintf(out, "%u context%s%s %g %% of wall not shown, %s together\n", tree.pruned,
                tree.pruned == 1 ? "" : "s", tree.depth ? " deeper or below" : " below", least,
                BP_TIME(&page, tree.pruned_s));
    bp_report_stack_tree(&page, model, settings);
    bp_report_notes(&page, analysis);
    bp_report_next_command(&page, bp_hint_report(model->run.path, "--json"));
    return 0;
}
