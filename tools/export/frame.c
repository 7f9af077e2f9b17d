/* SPDX-License-Identifier: MIT */
#include "tools/export/frame.h"

#include <math.h>

#include "tools/base/text.h"

const char *const bp_weight_names[] = {"wall", "thread", "cpu", "calls", "bytes"};

uint64_t bp_export_ns(double s) {
    return s > 0 && s < 1e9 ? (uint64_t)llround(1e9 * s) : 0;
}

const char *bp_export_library(const struct bp_model *model, uint32_t frame) {
    const struct bp_function *function = bp_export_function(model, frame);
    if (!function)
        return "";
    return function->path && function->path[0] ? function->path : function->library;
}

const char *bp_export_file(const struct bp_model *model, uint32_t frame) {
    const struct bp_function *function = bp_export_function(model, frame);
    bool known = function && function->file && function->file[0];
    return known ? function->file : bp_export_library(model, frame);
}

uint32_t bp_export_line(const struct bp_model *model, uint32_t frame) {
    const struct bp_function *function = bp_export_function(model, frame);
    return function ? function->line : 0;
}

const char *bp_export_category(const struct bp_model *model, uint32_t frame,
                               enum bp_category category) {
    if (frame == model->function_count + BP_REST_OVERHEAD)
        return "profiler";
    return frame == model->function_count + BP_REST_PAUSED ? "paused" : bp_category_name(category);
}

/* Wall while no thread was there, or none was busy, is framework in the report. */
void bp_export_shares(const struct bp_model *model, const struct bp_walk_row *row,
                      double shares[BP_CATEGORIES]) {
    const struct bp_function *function =
        bp_export_function(model, bp_export_frame(model, row->functions[row->depth]));
    double whole_s = 0;
    for (int i = 0; i < BP_CATEGORIES; i++)
        whole_s += row->category_s[i];
    for (int i = 0; i < BP_CATEGORIES; i++)
        shares[i] = whole_s > 0 ? row->category_s[i] / whole_s : 0;
    if (!(whole_s > 0))
        shares[function ? function->category : BP_FRAMEWORK] = 1;
}

uint64_t bp_export_weigh(const struct bp_walk_row *row, enum bp_weight weight) {
    bool stack = row->kind == BP_WALK_STACK;
    switch (weight) {
    case BP_WEIGHT_WALL:
        return stack ? 0 : bp_export_ns(row->wall_s);
    case BP_WEIGHT_THREAD:
        return stack ? 0 : bp_export_ns(row->self_s);
    case BP_WEIGHT_CPU:
        return stack ? bp_export_ns(row->self_s) : 0;
    case BP_WEIGHT_CALLS:
        return row->calls;
    default:
        return weight == BP_WEIGHT_BYTES ? row->bytes : 0;
    }
}

/* What of the idle wall is a context's already. */
static double owned_idle(const struct bp_model *model) {
    double sum_s = 0;
    for (uint32_t i = 0; i < model->context_count; i++)
        sum_s += model->contexts[i].idle_s;
    return sum_s;
}

static void visit_rest(const struct bp_model *model, enum bp_rest_frame rest, double wall_s,
                       double thread_s, bp_walk_visit *visit, void *data) {
    uint32_t frame = model->function_count + rest;
    struct bp_walk_row row = {.kind = BP_WALK_CONTEXT,
                              .context = BP_NO_NODE,
                              .functions = &frame,
                              .self_s = thread_s,
                              .total_s = thread_s,
                              .wall_s = wall_s,
                              .total_wall_s = wall_s};
    if (bp_export_ns(wall_s) || bp_export_ns(thread_s))
        visit(&row, data);
}

/* A copy of which only the device's record is there is no context's. */
static void visit_copies(const struct bp_model *model, bp_walk_visit *visit, void *data) {
    uint32_t frame = model->function_count + BP_REST_COPIES;
    struct bp_walk_row row = {.kind = BP_WALK_CONTEXT, .context = BP_NO_NODE, .functions = &frame};
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->cuda.transfers[i];
        if (transfer->call != BP_NO_FUNCTION || transfer->direction >= BP_DIRECTIONS)
            continue;
        row.bytes += transfer->bytes;
        row.direction_bytes[transfer->direction] += transfer->bytes;
    }
    if (row.bytes)
        visit(&row, data);
}

void bp_export_rest(const struct bp_model *model, bp_walk_visit *visit, void *data) {
    const struct bp_wall *wall = &model->wall;
    double idle_s = wall->idle_s - owned_idle(model);
    if (idle_s > BP_EXPORT_ROUNDING_S)
        visit_rest(model, BP_REST_IDLE, idle_s, 0, visit, data);
    visit_rest(model, BP_REST_START, wall->start_s, 0, visit, data);
    visit_rest(model, BP_REST_PAUSED, wall->paused_s, model->thread_time.paused_s, visit, data);
    visit_rest(model, BP_REST_OVERHEAD, wall->overhead_s, model->thread_time.overhead_s, visit,
               data);
    if (wall->unsplit_s > BP_EXPORT_ROUNDING_S)
        visit_rest(model, BP_REST_UNSPLIT, wall->unsplit_s, 0, visit, data);
    visit_copies(model, visit, data);
}

struct exact {
    bp_walk_visit *visit;
    void *data;
};

static bool visit_exact(const struct bp_walk_row *row, void *data) {
    const struct exact *exact = data;
    return row->kind != BP_WALK_CONTEXT || exact->visit(row, exact->data);
}

void bp_export_contexts(const struct bp_model *model, uint32_t thread, bp_walk_visit *visit,
                        void *data) {
    struct exact exact = {visit, data};
    bp_walk_contexts(model, thread, visit_exact, &exact);
    if (thread == BP_ALL_THREADS)
        bp_export_rest(model, visit, data);
}

void bp_export_json_text(const char *text, FILE *out) {
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        if ((unsigned char)*c < ' ')
            fprintf(out, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

char *bp_export_comment(enum bp_export_format format) {
    const struct bp_export_kind *kind = &bp_export_kinds[format];
    return bp_make_text("battprof: %s; without: %s", kind->carries, kind->loses);
}
