/* SPDX-License-Identifier: MIT
 *
 * The comparison as JSON, schema battprof-diff/1, and its tables as CSV. `differences` is what the
 * text shows; the tables hold everything that was compared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/json.h"
#include "tools/render/json/report.h"

#define SCHEMA "battprof-diff/1"

static const char *const kind_names[] = {"wall",     "category", "split",  "idle", "group",
                                         "function", "transfer", "kernel", "task", "sampled"};

static json_t *make_row(const struct bp_diff_row *row) {
    json_t *object = json_object();
    const struct bp_function *function = row->function;
    bp_json_set_text(object, "kind", kind_names[row->kind]);
    bp_json_set_text(object, "name", row->name);
    if (function) {
        bp_json_set_text(object, "name", function->full_name);
        bp_json_set_text(object, "library", function->library);
    }
    if (function || row->kind == BP_DIFF_KERNEL)
        bp_json_set_text(object, "category", bp_category_name(row->category));
    bp_json_set(object, "old_s", row->old_s);
    bp_json_set(object, "new_s", row->new_s);
    bp_json_set(object, "change_s", row->change_s);
    bp_json_set_percent(object, "change_pct", row->change_s, row->old_s);
    bp_json_set(object, "spread_s", row->spread_s);
    bp_json_set(object, "wall_change_s", row->wall_change_s);
    if (row->kind >= BP_DIFF_GROUP) {
        bp_json_set(object, "old_calls", row->old_count);
        bp_json_set(object, "new_calls", row->new_count);
    }
    if (row->kind == BP_DIFF_TRANSFER) {
        bp_json_set(object, "old_bytes", row->old_bytes);
        bp_json_set(object, "new_bytes", row->new_bytes);
    }
    json_object_set_new(object, "time_differs", json_boolean(row->time_differs));
    json_object_set_new(object, "calls_differ", json_boolean(row->count_differs));
    if (row->other)
        json_object_set_new(object, "time_compared", json_false());
    return object;
}

static json_t *make_side(const struct bp_diff_side *side, const struct bp_diff_run *runs) {
    json_t *object = json_object();
    json_t *walls = json_array();
    json_t *slowness = json_array();
    bp_json_set_text(object, "path", side->path);
    bp_json_set_text(object, "command", runs[0].model->run.command);
    bp_json_set(object, "began", (double)side->began_ns * 1e-9);
    bp_json_set_count(object, "runs", side->count);
    const char *cuda = bp_diff_mode_name(side->cuda);
    json_object_set_new(object, "cuda", cuda ? json_string(cuda) : json_null());
    for (uint32_t i = 0; i < side->count; i++) {
        json_array_append_new(walls, json_real(runs[i].model->wall.total_s));
        json_array_append_new(slowness, json_real(runs[i].slowness));
    }
    json_object_set_new(object, "wall_s", walls);
    json_object_set_new(object, "slowness", slowness);
    return object;
}

static json_t *make_table(const struct bp_diff *diff, enum bp_diff_kind kind) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (diff->rows[i].kind == kind && (diff->rows[i].in_old || diff->rows[i].in_new))
            json_array_append_new(list, make_row(&diff->rows[i]));
    return list;
}

static json_t *make_differences(const struct bp_diff *diff) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        if (bp_diff_is_cause(row) && bp_diff_differs(row))
            json_array_append_new(list, make_row(row));
    }
    return list;
}

static void set_chance(json_t *root, const struct bp_diff *diff) {
    double spread = bp_diff_relative_spread(diff);
    if (diff->run_count != 2)
        return;
    if (!isinf(bp_diff_chance_slower(spread)))
        bp_json_set(root, "chance_slower_pct", 100 * bp_diff_chance_slower(spread));
    bp_json_set(root, "chance_faster_pct", 100 * bp_diff_chance_faster(spread));
}

/* What was measured, and what it is made of. */
static void set_wall(json_t *root, const struct bp_diff *diff) {
    const struct bp_diff_wall *wall = &diff->wall;
    json_t *object = json_object();
    json_t *notes = json_array();
    int next = 0;
    bp_json_set(object, "old_s", wall->old_s);
    bp_json_set(object, "new_s", wall->new_s);
    bp_json_set(object, "change_s", wall->new_s - wall->old_s);
    bp_json_set(object, "factor", wall->factor);
    bp_json_set(object, "low", wall->low);
    bp_json_set(object, "high", wall->high);
    bp_json_set(object, "quiet_old_s", bp_diff_quiet_mean(diff->runs, diff->old_side.count));
    bp_json_set(object, "quiet_new_s",
                bp_diff_quiet_mean(diff->runs + diff->old_side.count, diff->new_side.count));
    json_object_set_new(object, "certain", json_boolean(diff->wall.certain));
    json_object_set_new(object, "likely", json_boolean(bp_diff_is_likely(diff)));
    bp_json_set_text(object, "interval_from", diff->run_count > 2 ? "runs" : "model");
    bp_json_set(object, "certain_s", wall->certain_s);
    bp_json_set(object, "even_s", wall->even_s);
    bp_json_set(object, "parallel_s", wall->parallel_s);
    bp_json_set(object, "profiler_s", wall->overhead_s);
    bp_json_set(object, "unexplained_s", wall->unexplained_s);
    json_object_set_new(root, "headline", object);
    for (char *text; (text = bp_diff_describe_sides(diff, &next)); free(text))
        json_array_append_new(notes, json_string(text));
    json_object_set_new(root, "notes", notes);
}

int bp_diff_json(const struct bp_diff *diff, FILE *out) {
    static const struct {
        const char *key;
        enum bp_diff_kind kind;
    } tables[] = {{"wall", BP_DIFF_WALL},          {"categories", BP_DIFF_CATEGORY},
                  {"split", BP_DIFF_SPLIT},        {"groups", BP_DIFF_GROUP},
                  {"functions", BP_DIFF_FUNCTION}, {"transfers", BP_DIFF_TRANSFER},
                  {"kernels", BP_DIFF_KERNEL},     {"tasks", BP_DIFF_TASK},
                  {"sampled", BP_DIFF_SAMPLED}};
    json_t *root = json_object();
    bp_json_set_text(root, "schema", SCHEMA);
    json_object_set_new(root, "old", make_side(&diff->old_side, diff->runs));
    json_object_set_new(root, "new", make_side(&diff->new_side, diff->runs + diff->old_side.count));
    set_wall(root, diff);
    bp_json_set(root, "slowness", diff->common);
    bp_json_set_count(root, "slowness_functions", diff->alike);
    bp_json_set(root, "scatter_pct", 100 * diff->scatter);
    set_chance(root, diff);
    bp_json_set(root, "net_wall_change_s", diff->wall.certain_s);
    bp_json_set_percent(root, "net_wall_change_pct", diff->wall.certain_s, diff->wall.old_s);
    json_object_set_new(root, "differences", make_differences(diff));
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        json_object_set_new(root, tables[i].key, make_table(diff, tables[i].kind));
    return bp_json_print(root, out);
}

int bp_diff_csv(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out) {
    const char *by = settings->by;
    int next = 0;
    for (char *text; (text = bp_diff_describe_sides(diff, &next)); free(text))
        bp_note("%s", text);
    json_t *list = by ? NULL : make_differences(diff);
    for (int kind = 0; by && kind < BP_DIFF_KINDS; kind++)
        if (strcmp(by, kind_names[kind]) == 0)
            list = make_table(diff, (enum bp_diff_kind)kind);
    bp_csv_write(list, settings->top, out);
    if (json_array_size(list) == 0)
        bp_note("the table is empty: %s%s%s", by ? "no " : "", by ? by : "no differences",
                by ? " in either run" : "");
    json_decref(list);
    return 0;
}
