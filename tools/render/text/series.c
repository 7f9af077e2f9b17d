/* SPDX-License-Identifier: MIT
 *
 * The report of a series, `run --repeat`: means, how far single runs are from them, and which
 * shares of the wall move so much that a single run would mislead.
 */
#include "tools/render/text/series.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/destination.h"
#include "tools/base/json.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/terminal/pager.h"
#include "tools/render/json/report.h"
#include "tools/render/text/internal.h"

#define SCHEMA "battprof-series/1"
#define DEFAULT_TOP 12
/* Points of per cent. */
#define MOVES 3.0
/* Per cent of the wall below which a sum is rounding. */
#define ROUNDING 1e-4

/* One row over the runs. */
struct figures {
    double mean_s;
    double deviation_s; /* of a single run */
    double share;       /* per cent of the wall, mean */
    double least;
    double most;
};

/* What a row can be. */
static const struct table {
    enum bp_by by;
    enum bp_diff_kind kind;
    const char *title;
} tables[] = {
    {BP_BY_OVERVIEW, BP_DIFF_FUNCTION, "Functions, self time"},
    {BP_BY_FUNCTION, BP_DIFF_FUNCTION, "Functions, self time"},
    {BP_BY_GROUP, BP_DIFF_GROUP, "Groups"},
    {BP_BY_TRANSFER, BP_DIFF_TRANSFER, "Copies, exposed time"},
};

/* Before the functions that were intercepted where nothing was named: most have not been then. */
static const struct table by_samples = {BP_BY_FUNCTION, BP_DIFF_SAMPLED, "Functions, by samples"};

/* Steals both arrays. */
static struct figures make_figures(double *seconds, double *shares, uint32_t count) {
    struct figures figures = {
        .mean_s = bp_mean(seconds, count),
        .deviation_s = bp_deviation(seconds, count),
        .share = bp_mean(shares, count),
    };
    bp_sort_values(shares, count);
    figures.least = shares[0];
    figures.most = shares[count - 1];
    free(seconds);
    free(shares);
    return figures;
}

static double share_of(const struct bp_model *model, double wall_s) {
    return model->wall.total_s > 0 ? 100 * wall_s / model->wall.total_s : 0;
}

static struct figures figure(const struct bp_diff *diff, const struct bp_diff_row *row) {
    double *seconds = bp_alloc(diff->run_count, sizeof(*seconds));
    double *shares = bp_alloc(diff->run_count, sizeof(*shares));
    for (uint32_t i = 0; i < diff->run_count; i++) {
        seconds[i] = row->values[i].s;
        shares[i] = share_of(diff->runs[i].model, row->values[i].wall_s);
    }
    return make_figures(seconds, shares, diff->run_count);
}

/* Comparisons have no row for it: it is not the program's. */
static struct figures overhead(const struct bp_diff *diff) {
    double *seconds = bp_alloc(diff->run_count, sizeof(*seconds));
    double *shares = bp_alloc(diff->run_count, sizeof(*shares));
    for (uint32_t i = 0; i < diff->run_count; i++) {
        seconds[i] = diff->runs[i].model->wall.overhead_s;
        shares[i] = share_of(diff->runs[i].model, seconds[i]);
    }
    return make_figures(seconds, shares, diff->run_count);
}

static bool moves(const struct figures *figures) {
    return figures->most - figures->least > MOVES;
}

static const char *cell_share(const struct bp_page *page, const void *value, char text[64]) {
    const struct figures *figures = value;
    (void)page;
    snprintf(text, 64, "%.1f %%", figures->share);
    return text;
}

static const char *cell_moves(const struct bp_page *page, const void *value, char text[64]) {
    const struct figures *figures = value;
    (void)page;
    snprintf(text, 64, "%.1f to %.1f", figures->least, figures->most);
    return text;
}

/* The wall itself has times alone. */
static void print_row(const struct bp_page *page, const char *name, const struct figures *figures,
                      bool share) {
    const struct bp_column columns[] = {
        BP_LABEL(29),
        BP_COLUMN("", 11, bp_cell_time, struct figures, mean_s),
        BP_COLUMN("", 11, bp_cell_time, struct figures, deviation_s),
        {"", share ? 10 : 0, cell_share, 0},
        {"", share ? 15 : 0, cell_moves, 0},
        BP_LAST_COLUMN,
    };
    bp_columns_begin(page, columns, "  ", name, figures);
    fputs(share && moves(figures) ? " !\n" : "\n", page->out);
}

static void print_heading(const struct bp_page *page, const char *title) {
    const struct bp_column columns[] = {
        BP_LABEL(29),           BP_HEAD("mean", 11),  BP_HEAD(page->utf8 ? "±" : "+-", 11),
        BP_HEAD("of wall", 10), BP_HEAD("moves", 15), BP_LAST_COLUMN,
    };
    bp_columns_title(page, title, columns);
}

static void print_sums(const struct bp_page *page, const struct bp_diff *diff) {
    print_heading(page, "Wall");
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        struct figures figures = figure(diff, row);
        if (row->kind == BP_DIFF_WALL)
            print_row(page, "all", &figures, false);
        if (bp_diff_is_headline(diff, row) &&
            (row->kind == BP_DIFF_CATEGORY || figures.share > ROUNDING))
            print_row(page, bp_diff_headline_name(row), &figures, true);
    }
    struct figures figures = overhead(diff);
    if (!diff->runs[0].model->split.leads) /* else it is a row like the others */
        print_row(page, "overhead", &figures, true);
}

static int compare_rows(const void *a, const void *b, void *data) {
    const struct bp_diff_row *x = &((const struct bp_diff_row *)data)[*(const uint32_t *)a];
    const struct bp_diff_row *y = &((const struct bp_diff_row *)data)[*(const uint32_t *)b];
    if (x->old_s != y->old_s)
        return x->old_s > y->old_s ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Rows of a kind by falling mean: a new array. */
static uint32_t *order_rows(struct bp_diff *diff, enum bp_diff_kind kind, uint32_t *count) {
    uint32_t *order = bp_alloc(diff->row_count, sizeof(*order));
    *count = 0;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        diff->rows[i].old_s = figure(diff, &diff->rows[i]).mean_s;
        if (diff->rows[i].kind == kind)
            order[(*count)++] = i;
    }
    qsort_r(order, *count, sizeof(*order), compare_rows, diff->rows);
    return order;
}

static uint32_t print_rows(const struct bp_page *page, struct bp_diff *diff,
                           const struct table *table, unsigned top) {
    uint32_t count;
    uint32_t moving = 0;
    uint32_t *order = order_rows(diff, table->kind, &count);
    print_heading(page, table->title);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_diff_row *row = &diff->rows[order[i]];
        struct figures figures = figure(diff, row);
        moving += moves(&figures);
        if (i < top || moves(&figures))
            print_row(page, bp_diff_name(row), &figures, true);
    }
    if (count == 0)
        fprintf(page->out, "  none in these runs\n");
    bp_columns_more(page, "  ", count, top);
    free(order);
    return moving;
}

static int print_text(struct bp_diff *diff, const char *path, const struct table *table,
                      unsigned top, FILE *out) {
    struct bp_page page;
    int worst = 0;
    bp_page_init(&page, out);
    bp_page_heading(&page, diff->runs[0].model->run.command);
    for (uint32_t i = 0; i < diff->run_count; i++)
        if (diff->runs[i].model->run.exit_status > worst)
            worst = diff->runs[i].model->run.exit_status;
    fprintf(out, "\n%u runs, worst exit status %d\n", diff->run_count, worst);
    print_sums(&page, diff);
    uint32_t moving = 0;
    if (diff->runs[0].model->split.leads && table->kind == BP_DIFF_FUNCTION)
        moving = print_rows(&page, diff, &by_samples, top ? top : DEFAULT_TOP);
    moving += print_rows(&page, diff, table, top ? top : DEFAULT_TOP);
    if (moving)
        bp_page_wrap(&page,
                     "! the share moves by more than 3 points from run to run: a single run says "
                     "little about it",
                     2);
    char *first = bp_make_text("%s/1", path);
    bp_report_next_command(&page, bp_hint_report(first, ""));
    free(first);
    return 0;
}

static json_t *make_figure_row(const char *name, const struct figures *figures) {
    json_t *object = json_object();
    bp_json_set_text(object, "name", name);
    bp_json_set(object, "mean_s", figures->mean_s);
    bp_json_set(object, "deviation_s", figures->deviation_s);
    bp_json_set(object, "pct", figures->share);
    bp_json_set(object, "least_pct", figures->least);
    bp_json_set(object, "most_pct", figures->most);
    json_object_set_new(object, "moves", json_boolean(moves(figures)));
    return object;
}

static json_t *make_overhead(const struct bp_diff *diff) {
    struct figures figures = overhead(diff);
    json_t *object = make_figure_row("profiler", &figures);
    json_t *seconds = json_array();
    for (uint32_t i = 0; i < diff->run_count; i++)
        json_array_append_new(seconds, json_real(diff->runs[i].model->wall.overhead_s));
    json_object_set_new(object, "s", seconds);
    return object;
}

static json_t *make_row(const struct bp_diff *diff, const struct bp_diff_row *row) {
    struct figures figures = figure(diff, row);
    json_t *seconds = json_array();
    json_t *calls = json_array();
    json_t *object = make_figure_row(bp_diff_name(row), &figures);
    for (uint32_t i = 0; i < diff->run_count; i++) {
        json_array_append_new(seconds, json_real(row->values[i].s));
        json_array_append_new(calls, json_integer((json_int_t)row->values[i].count));
    }
    json_object_set_new(object, "s", seconds);
    if (row->kind == BP_DIFF_FUNCTION || row->kind == BP_DIFF_TRANSFER)
        json_object_set_new(object, "calls", calls);
    else
        json_decref(calls);
    return object;
}

static json_t *make_list(struct bp_diff *diff, enum bp_diff_kind kind) {
    json_t *list = json_array();
    uint32_t count;
    uint32_t *order = order_rows(diff, kind, &count);
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, make_row(diff, &diff->rows[order[i]]));
    free(order);
    return list;
}

static int print_json(struct bp_diff *diff, FILE *out) {
    json_t *root = json_object();
    json_t *categories = json_object();
    json_t *split = json_object();
    bp_json_set_text(root, "schema", SCHEMA);
    bp_json_set_text(root, "command", diff->runs[0].model->run.command);
    bp_json_set_count(root, "runs", diff->run_count);
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        if (row->kind == BP_DIFF_WALL)
            json_object_set_new(root, "wall", make_row(diff, row));
        if (row->kind == BP_DIFF_CATEGORY)
            json_object_set_new(categories, row->name, make_row(diff, row));
        if (row->kind == BP_DIFF_SPLIT)
            json_object_set_new(split, row->name, make_row(diff, row));
    }
    json_object_set_new(categories, "profiler", make_overhead(diff));
    json_object_set_new(root, "categories", categories);
    json_object_set_new(root, "split", split);
    json_object_set_new(root, "groups", make_list(diff, BP_DIFF_GROUP));
    json_object_set_new(root, "functions", make_list(diff, BP_DIFF_FUNCTION));
    json_object_set_new(root, "sampled", make_list(diff, BP_DIFF_SAMPLED));
    json_object_set_new(root, "transfers", make_list(diff, BP_DIFF_TRANSFER));
    return bp_json_print(root, out);
}

static int print_csv(struct bp_diff *diff, const struct table *table, unsigned top, FILE *out) {
    json_t *list = make_list(diff, table->kind);
    bp_csv_write(list, top, out);
    if (json_array_size(list) == 0)
        bp_note("the table is empty: no %s in these runs", bp_views[table->by].word);
    json_decref(list);
    return 0;
}

static int show(struct bp_diff *diff, const char *path, const struct table *table,
                const struct bp_report_settings *settings, FILE *out) {
    if (settings->json)
        return print_json(diff, out);
    if (settings->csv)
        return print_csv(diff, table, settings->top, out);
    struct bp_pager pager;
    if (bp_pager_open(&pager, out))
        return -1;
    int result = print_text(diff, path, table, settings->top, pager.memory);
    bp_pager_end(&pager);
    if (result == 0)
        result = bp_pager_show(&pager, !settings->no_pager);
    bp_pager_fini(&pager);
    return result;
}

/* NULL if it takes a single run to show what was asked for. */
static const struct table *find_table(const struct bp_report_settings *settings) {
    bool single = settings->tree || settings->folded || settings->search.count || settings->scale ||
                  settings->budget_s > 0 || settings->tasks.drop_outliers || settings->sort ||
                  settings->tasks.outlier_k > 0 || bp_report_judges(settings);
    for (size_t i = 0; !single && i < sizeof(tables) / sizeof(tables[0]); i++)
        if (settings->by == tables[i].by)
            return &tables[i];
    return NULL;
}

int bp_report_series(const struct bp_runs *runs, const char *path,
                     const struct bp_report_settings *settings, const struct bp_rules *rules,
                     FILE *out, struct bp_error *error) {
    struct bp_runs none = {0};
    const struct table *table = find_table(settings);
    if (!table)
        return bp_error_set(error, BP_USAGE,
                            "report: %s is a series of %u runs; give one of them for this: %s/1",
                            path, runs->count, path);
    struct bp_diff *diff = bp_diff_new(runs, &none, rules, error);
    if (!diff)
        return -1;
    struct bp_destination destination;
    int result = bp_destination_open(&destination, settings->output, out, error);
    if (result == 0)
        result = bp_destination_close(
            &destination, show(diff, path, table, settings, destination.out), "the report", error);
    bp_diff_free(diff);
    return result;
}
