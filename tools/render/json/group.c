/* SPDX-License-Identifier: MIT
 *
 * Groups in the JSON report.
 */
#include "tools/base/json.h"
#include "tools/render/json/report.h"

static json_t *make_callers(const struct bp_model *model, const struct bp_caller *callers,
                            uint32_t count, double whole) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *object = json_object();
        bp_json_set_text(object, "name", model->functions[callers[i].function].full_name);
        bp_json_set(object, "s", callers[i].s);
        bp_json_set_percent(object, "pct", callers[i].s, whole);
        json_array_append_new(list, object);
    }
    return list;
}

static const char *kind_name(enum bp_part_kind kind) {
    static const char *const names[] = {"exact", "sampled", "blocked"};
    return names[kind];
}

static json_t *make_part(const struct bp_model *model, const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    json_t *object = json_object();
    bp_json_set_text(object, "name", function->full_name);
    bp_json_set_text(object, "library", function->library);
    bp_json_set_text(object, "category", bp_category_name(part->category));
    bp_json_set_text(object, "kind", kind_name(part->kind));
    bp_json_set_count(object, "calls", part->calls);
    bp_json_set_count(object, "samples", part->samples);
    bp_json_set(object, "self_s", part->self_s);
    bp_json_set(object, "error_s", part->error_s);
    bp_json_set(object, "per_call_s", part->calls ? part->calls_s / (double)part->calls : 0);
    bp_json_set(object, "wall_s", part->wall_s);
    bp_json_set(object, "idle_s", part->idle_s);
    return object;
}

static json_t *make_group(const struct bp_model *model, const struct bp_group *group) {
    json_t *object = json_object();
    json_t *parts = json_array();
    bp_json_set_text(object, "name", group->name);
    bp_json_set_count(object, "calls", group->calls);
    bp_json_set(object, "self_s", group->self_s);
    bp_json_set(object, "error_s", group->error_s);
    bp_json_set(object, "wall_s", group->wall_s);
    bp_json_set_percent(object, "pct", group->wall_s + group->idle_s, model->wall.total_s);
    bp_json_set(object, "idle_s", group->idle_s);
    json_object_set_new(object, "callers",
                        make_callers(model, group->callers, group->caller_count, group->self_s));
    for (uint32_t i = 0; i < group->part_count; i++)
        json_array_append_new(parts, make_part(model, &group->parts[i]));
    json_object_set_new(object, "functions", parts);
    return object;
}

json_t *bp_report_json_groups(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->group_count; i++)
        json_array_append_new(list, make_group(model, &model->groups[i]));
    return list;
}

/* What most of the part's time was for: the same function may serve several purposes. */
static const char *purpose_of(const struct bp_model *model, const struct bp_part *part) {
    const char *most = model->functions[part->function].group;
    double most_s = 0;
    for (uint32_t i = 0; i < model->group_count; i++)
        for (uint32_t k = 0; k < model->groups[i].part_count; k++) {
            const struct bp_part *other = &model->groups[i].parts[k];
            if (other->function != part->function || other->kind != part->kind ||
                other->category != part->category || !(other->self_s > most_s))
                continue;
            most = model->groups[i].name;
            most_s = other->self_s;
        }
    return most;
}

/* As functions[] has it: a sampled function and a counted one can be compared. */
static void set_place(json_t *object, const struct bp_function *function) {
    if (!function->module[0])
        return;
    bp_json_set_text(object, "file", function->file);
    bp_json_set_count(object, "line", function->line);
}

/* Functions of the framework that are neither waits nor CUDA's, exact and sampled. */
json_t *bp_report_json_framework_functions(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_part *part = &model->parts[i];
        const struct bp_function *function = &model->functions[part->function];
        if (part->category != BP_FRAMEWORK || function->kind == BP_FUNC_WAIT || function->cuda)
            continue;
        json_t *object = json_object();
        bp_json_set_text(object, "name", function->full_name);
        bp_json_set_text(object, "library", function->library);
        bp_json_set_text(object, "group", purpose_of(model, part));
        json_object_set_new(object, "sampled", json_boolean(part->kind == BP_PART_SAMPLED));
        json_object_set_new(object, "blocked", json_boolean(part->kind == BP_PART_BLOCKED));
        bp_json_set(object, "s", part->self_s);
        bp_json_set(object, "error_s", part->error_s);
        bp_json_set(object, "wall_s", part->wall_s);
        bp_json_set_percent(object, "pct", part->wall_s, model->wall.total_s);
        bp_json_set_count(object, "calls", part->calls);
        bp_json_set_count(object, "samples", part->samples);
        bp_report_json_set_known(object, "cpu_s",
                                 part->samples && model->samples.tell_cpu ? part->cpu_s : -1);
        bp_json_set_text(object, "owner", bp_split_key(bp_split_row_of(function)));
        set_place(object, function);
        json_object_set_new(object, "callers",
                            make_callers(model, part->callers, part->caller_count, part->self_s));
        json_object_set_new(object, "for",
                            make_callers(model, part->users, part->user_count, part->self_s));
        json_array_append_new(list, object);
    }
    return list;
}
