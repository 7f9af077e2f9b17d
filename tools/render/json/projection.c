/* SPDX-License-Identifier: MIT
 *
 * "projection" and "budget" of the JSON report: null unless asked for by --scale and --budget.
 */
#include "tools/base/json.h"
#include "tools/render/json/report.h"
#include "tools/render/text/projection.h"

static json_t *make_categories(const struct bp_scaled *scaled) {
    json_t *object = json_object();
    for (int i = 0; i <= BP_CATEGORIES; i++) {
        bool last = i == BP_CATEGORIES;
        double s = last ? scaled->overhead_s : scaled->category_s[i];
        json_t *part = json_object();
        bp_json_set(part, "s", s);
        bp_json_set_percent(part, "pct", s, scaled->wall_s);
        json_object_set_new(object, last ? "profiler" : bp_category_name((enum bp_category)i),
                            part);
    }
    return object;
}

json_t *bp_report_json_projection(const struct bp_model *model,
                                  const struct bp_report_settings *settings) {
    struct bp_projection projection;
    if (!settings->scale)
        return json_null();
    if (!bp_projection_init(&projection, model, &settings->grows)) {
        bp_projection_fini(&projection);
        return json_null();
    }
    struct bp_scaled scaled = bp_projection_at(&projection, settings->scale);
    json_t *object = json_object();
    bp_json_set_count(object, "tasks", scaled.tasks);
    bp_json_set(object, "wall_s", scaled.wall_s);
    bp_json_set(object, "low_s", scaled.low_s);
    bp_json_set(object, "high_s", scaled.high_s);
    json_object_set_new(object, "categories", make_categories(&scaled));
    bp_json_set_count(object, "from_tasks", projection.from);
    bp_json_set_count(object, "at_once", projection.places);
    bp_json_set(object, "once_s", projection.once_s);
    bp_json_set(object, "before_s", projection.before_s);
    bp_json_set(object, "after_s", projection.after_s);
    bp_json_set(object, "first_tasks_s", projection.warm_s);
    bp_json_set(object, "uneven_s", projection.uneven_s);
    bp_json_set(object, "per_task_s", bp_projection_step(&projection));
    bp_json_set(object, "task_s", projection.task_s);
    bp_json_set(object, "deviation_s", projection.deviation_s);
    bp_json_set(object, "gap_s", projection.gap_s);
    json_object_set_new(object, "drifts", json_boolean(projection.drifts));
    bp_json_set(object, "drift_s", projection.drift_s);
    bp_json_set(object, "load", projection.load);
    json_t *phases = json_object();
    for (uint32_t i = 0; i < model->phase_count; i++) {
        json_t *key = bp_json_text(model->phases[i].name);
        bp_json_set(phases, json_string_value(key),
                    bp_phase_scaled(&model->phases[i], &projection, settings));
        json_decref(key);
    }
    json_object_set_new(object, "phases", phases);
    json_object_set_new(object, "by_workers", json_boolean(projection.by_workers));
    bp_projection_fini(&projection);
    return object;
}

json_t *bp_report_json_budget(const struct bp_analysis *analysis,
                              const struct bp_report_settings *settings) {
    struct bp_budget budget;
    if (!(settings->budget_s > 0))
        return json_null();
    bp_budget_init(&budget, analysis, settings);
    json_t *object = json_object();
    json_t *list = json_array();
    for (uint32_t i = 0; i < budget.count; i++) {
        json_t *row = json_object();
        bp_json_set_text(row, "change", budget.rows[i].what);
        bp_json_set(row, "run_s", budget.rows[i].run_s);
        bp_json_set_count(row, "runs", budget.rows[i].runs);
        bp_json_set_count(row, "tasks", budget.rows[i].tasks);
        json_array_append_new(list, row);
    }
    bp_json_set(object, "s", budget.s);
    bp_json_set_count(object, "tasks_of_a_run", budget.tasks);
    json_object_set_new(object, "list", list);
    bp_budget_fini(&budget);
    return object;
}
