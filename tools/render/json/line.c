/* SPDX-License-Identifier: MIT
 *
 * The lines of a function, and what the interpreter was doing in it, in the JSON report.
 */
#include <stdlib.h>

#include <jansson.h>

#include "tools/base/json.h"
#include "tools/render/json/report.h"

static json_t *make_works(const struct bp_model *model, const struct bp_work *works, uint32_t count,
                          double whole) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *object = json_object();
        bp_json_set_text(object, "work", bp_work_name(works[i].kind));
        bp_json_take_text(object, "name", bp_work_label(model, &works[i]));
        bp_json_set(object, "self_s", works[i].s);
        bp_json_set(object, "error_s", works[i].error_s);
        bp_json_set_percent(object, "pct", works[i].s, whole);
        bp_json_set_count(object, "samples", works[i].samples);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *make_line(const struct bp_model *model, const struct bp_function_lines *of,
                         const struct bp_source_line *line) {
    const char *source = bp_model_source(model, line);
    json_t *object = json_object();
    bp_json_set_text(object, "file", line->file);
    bp_json_set_count(object, "line", line->line);
    json_object_set_new(object, "source", source ? bp_json_text(source) : json_null());
    bp_json_set(object, "self_s", line->self_s);
    bp_json_set(object, "self_error_s", line->self_error_s);
    bp_json_set_percent(object, "self_pct", line->self_s, of->self_s);
    bp_json_set(object, "self_wall_s", line->self_wall_s);
    bp_json_set_count(object, "self_samples", line->self_samples);
    bp_json_set(object, "total_s", line->total_s);
    bp_json_set(object, "total_error_s", line->total_error_s);
    bp_json_set_percent(object, "total_pct", line->total_s, of->total_s);
    bp_json_set(object, "total_wall_s", line->total_wall_s);
    bp_json_set_count(object, "total_samples", line->total_samples);
    json_object_set_new(object, "callee", json_null());
    if (line->callee != BP_NO_FUNCTION)
        bp_json_set_text(object, "callee", model->functions[line->callee].full_name);
    bp_json_set(object, "callee_s", line->callee_s);
    json_object_set_new(object, "doing",
                        make_works(model, line->works, line->work_count, line->self_s));
    return object;
}

static json_t *make_exact(const struct bp_model *model, const struct bp_exact_line *line,
                          double self_s, double total_s) {
    const char *source = bp_model_exact_source(model, line);
    json_t *object = json_object();
    bp_json_set_text(object, "file", model->functions[line->function].file);
    bp_json_set_count(object, "line", line->line);
    json_object_set_new(object, "source", source ? bp_json_text(source) : json_null());
    json_object_set_new(object, "exact", json_true());
    bp_json_set_count(object, "hits", line->hits);
    bp_json_set(object, "self_s", line->self_s);
    bp_json_set_percent(object, "self_pct", line->self_s, self_s);
    bp_json_set(object, "total_s", line->total_s);
    bp_json_set_percent(object, "total_pct", line->total_s, total_s);
    bp_json_set(object, "error_s", line->error_s);
    return object;
}

/* Where lines were counted, nothing need be estimated. */
static json_t *make_lines(const struct bp_model *model, uint32_t function) {
    const struct bp_function_lines *of = bp_model_lines(model, function);
    uint32_t count;
    const struct bp_exact_line *exact = bp_model_exact_lines(model, function, &count);
    json_t *list = json_array();
    double self_s = 0;
    double total_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        self_s += exact[i].self_s;
        total_s += exact[i].total_s;
    }
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, make_exact(model, &exact[i], self_s, total_s));
    for (uint32_t i = 0; !count && i < of->count; i++)
        json_array_append_new(list, make_line(model, of, &of->lines[i]));
    return list;
}

void bp_report_json_lines(json_t *object, const struct bp_model *model, uint32_t function) {
    const struct bp_function_lines *of = bp_model_lines(model, function);
    json_t *list = make_lines(model, function);
    json_object_set_new(object, "lines", list);
    json_object_set_new(object, "doing", make_works(model, of->works, of->work_count, of->self_s));
}

static json_t *make_sampled(const struct bp_model *model, uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    const struct bp_function_lines *of = bp_model_lines(model, number);
    json_t *object = json_object();
    bp_json_set_text(object, "name", function->full_name);
    bp_json_set_text(object, "library", function->library);
    bp_json_set_text(object, "category", bp_category_name(function->category));
    bp_json_set_text(object, "group", function->group);
    bp_json_set(object, "self_s", of->self_s);
    bp_json_set(object, "total_s", of->total_s);
    bp_report_json_lines(object, model, number);
    return object;
}

json_t *bp_report_json_sampled(const struct bp_model *model,
                               const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t *order = bp_report_line_order(model, settings, &count);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        if (!bp_function_used(&model->functions[order[i]]))
            json_array_append_new(list, make_sampled(model, order[i]));
    free(order);
    return list;
}

/* Both kinds of lines have the same columns; a sampled one has no hits, and its error is that of
 * its self time. */
static json_t *make_row(const struct bp_model *model, uint32_t function, const char *file,
                        uint32_t line, const char *source) {
    json_t *row = json_object();
    bp_json_set_text(row, "function", model->functions[function].full_name);
    bp_json_set_text(row, "file", file);
    bp_json_set_count(row, "line", line);
    json_object_set_new(row, "hits", json_null());
    json_object_set_new(row, "self_s", json_null());
    json_object_set_new(row, "total_s", json_null());
    json_object_set_new(row, "error_s", json_null());
    json_object_set_new(row, "exact", json_false());
    json_object_set_new(row, "source", source ? bp_json_text(source) : json_null());
    return row;
}

static void add_rows(json_t *list, const struct bp_model *model, uint32_t function) {
    const struct bp_function_lines *of = bp_model_lines(model, function);
    uint32_t count;
    const struct bp_exact_line *exact = bp_model_exact_lines(model, function, &count);
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = make_row(model, function, model->functions[function].file, exact[i].line,
                               bp_model_exact_source(model, &exact[i]));
        bp_json_set_count(row, "hits", exact[i].hits);
        bp_json_set(row, "self_s", exact[i].self_s);
        bp_json_set(row, "total_s", exact[i].total_s);
        bp_json_set(row, "error_s", exact[i].error_s);
        json_object_set_new(row, "exact", json_true());
        json_array_append_new(list, row);
    }
    for (uint32_t i = 0; !count && i < of->count; i++) {
        const struct bp_source_line *line = &of->lines[i];
        json_t *row =
            make_row(model, function, line->file, line->line, bp_model_source(model, line));
        bp_json_set(row, "self_s", line->self_s);
        bp_json_set(row, "total_s", line->total_s);
        bp_json_set(row, "error_s", line->self_error_s);
        json_array_append_new(list, row);
    }
}

json_t *bp_report_json_line_rows(const struct bp_model *model,
                                 const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t *order = bp_report_line_order(model, settings, &count);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        add_rows(list, model, order[i]);
    free(order);
    return list;
}
