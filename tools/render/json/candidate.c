/* SPDX-License-Identifier: MIT
 *
 * "candidates" of the JSON report: see tools/analyze/priority.h. Shares are percent of the wall, as
 * everywhere; a break-even batch that no number of calls reaches is null.
 */
#include <math.h>

#include "tools/analyze/priority.h"
#include "tools/base/json.h"
#include "tools/render/json/report.h"

static void set_known(json_t *object, const char *key, double value) {
    if (value >= 0 && isfinite(value))
        bp_json_set(object, key, value);
    else
        json_object_set_new(object, key, json_null());
}

static void set_line(json_t *object, const struct bp_main_line *line) {
    bp_json_set_text(object, "file", line->spot->file);
    bp_json_set_count(object, "line", line->spot->line);
    bp_json_set_percent(object, "line_pct", line->wall_s, line->whole_s);
}

static json_t *make_candidate(const struct bp_model *model, const struct bp_candidate *candidate) {
    static const char *const verdicts[] = {"keep", "batch", "move", "line"};
    const struct bp_function *function = &model->functions[candidate->function];
    json_t *object = json_object();
    bp_json_set_text(object, "name", function->full_name);
    bp_json_set_text(object, "library", function->library);
    bp_json_set_text(object, "priority", bp_priority_name(candidate->priority));
    bp_json_set(object, "pct", 100 * candidate->share);
    bp_json_set_count(object, "calls", function->calls);
    bp_json_set(object, "self_s", function->self_s);
    bp_json_set(object, "wall_s", function->wall_s);
    bp_json_set(object, "call_s", candidate->call_s);
    bp_json_set(object, "speedup_min", candidate->factor[0]);
    bp_json_set(object, "speedup_max", candidate->factor[1]);
    bp_json_set(object, "run_best_s", candidate->after_s[0]);
    bp_json_set(object, "run_worst_s", candidate->after_s[1]);
    set_known(object, "bytes_in", candidate->bytes[0]);
    set_known(object, "bytes_out", candidate->bytes[1]);
    bp_json_set(object, "device_call_s", candidate->device_s);
    bp_json_set(object, "calls_together", candidate->together);
    set_known(object, "break_even_calls", candidate->break_even);
    bp_json_set_text(object, "verdict", verdicts[candidate->verdict]);
    if (candidate->verdict == BP_LINE)
        set_line(object, &candidate->line);
    return object;
}

static json_t *make_part(const struct bp_model *model, const struct bp_framework_part *part) {
    json_t *object = json_object();
    bp_json_set_text(object, "name", part->label);
    bp_json_set_text(object, "priority", bp_priority_name(part->priority));
    bp_json_set(object, "wall_s", part->wall_s);
    bp_json_set_percent(object, "pct", part->wall_s, model->wall.total_s);
    bp_json_set(object, "run_if_twice_as_fast_s", part->half_s);
    bp_json_set(object, "run_without_s", part->without_s);
    return object;
}

static json_t *make_device(const struct bp_device_cost *device) {
    json_t *object = json_object();
    bp_json_set(object, "launch_s", device->launch_s);
    bp_json_set(object, "copy_in_s", device->copy_s[0]);
    bp_json_set(object, "copy_out_s", device->copy_s[1]);
    bp_json_set(object, "rate_in", device->rate[0]);
    bp_json_set(object, "rate_out", device->rate[1]);
    bp_json_set_text(object, "launch", device->launch_known ? "measured" : "assumed");
    bp_json_set_text(object, "copy_in", device->copy_known[0] ? "measured" : "assumed");
    bp_json_set_text(object, "copy_out", device->copy_known[1] ? "measured" : "assumed");
    return object;
}

json_t *bp_report_json_candidates(const struct bp_model *model,
                                  const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    const double levels[] = {settings->levels.high, settings->levels.medium, settings->levels.low};
    json_t *object = json_object();
    json_t *list = json_array();
    json_t *parts = json_array();
    json_t *limits = json_array();
    for (uint32_t i = 0; i < priorities->candidate_count; i++)
        json_array_append_new(list, make_candidate(model, &priorities->candidates[i]));
    for (uint32_t i = 0; i < priorities->part_count; i++)
        json_array_append_new(parts, make_part(model, &priorities->parts[i]));
    for (int i = 0; i < 3; i++)
        json_array_append_new(limits, json_real(levels[i]));
    json_object_set_new(object, "levels_pct", limits);
    json_object_set_new(object, "device", make_device(&priorities->device));
    json_object_set_new(object, "list", list);
    bp_json_set(object, "run_best_s", priorities->after_s[0]);
    bp_json_set(object, "run_worst_s", priorities->after_s[1]);
    json_object_set_new(object, "framework", parts);
    bp_priorities_free(priorities);
    return object;
}
