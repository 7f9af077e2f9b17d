/* SPDX-License-Identifier: MIT
 *
 * "tasks" and "phases" of the JSON report.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/json.h"
#include "tools/base/statistics.h"
#include "tools/model/task/typical.h"
#include "tools/render/json/report.h"
#include "tools/render/text/task.h"

#define BUCKETS 8
/* Functions with most time that each task has; what is below a hundredth of its time is left out. A
 * task that is searched for has all. */
#define FUNCTIONS 10
#define SMALLEST 0.01

static json_t *make_row(const struct bp_model *model, const struct bp_task_function *row) {
    json_t *object = json_object();
    bp_json_set_text(object, "name", model->functions[row->function].full_name);
    bp_json_set_count(object, "calls", row->calls);
    bp_json_set(object, "self_s", row->self_s);
    bp_json_set(object, "total_s", row->total_s);
    return object;
}

static json_t *make_rows(const struct bp_model *model, const struct bp_model_task *task, bool all) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < task->function_count && (all || i < FUNCTIONS); i++) {
        const struct bp_task_function *row = &model->tasks.functions[task->first_function + i];
        if (all || row->self_s >= SMALLEST * task->duration_s)
            json_array_append_new(list, make_row(model, row));
    }
    return list;
}

static json_t *make_parts(const struct bp_model *model, const struct bp_model_task *task) {
    json_t *object = json_object();
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *part = &model->tasks.phases[task->first_phase + i];
        json_t *key = bp_json_text(model->phases[part->phase].name);
        bp_json_set(object, json_string_value(key), part->s);
        json_decref(key);
    }
    return object;
}

static void set_place(json_t *object, const struct bp_model *model,
                      const struct bp_model_task *task) {
    bp_json_set_count(object, "process",
                      (uint64_t)model->processes[task->process].profile->header.pid);
    if (task->thread == BP_NO_THREAD)
        json_object_set_new(object, "thread", json_null());
    else
        bp_json_set_count(object, "thread",
                          (uint64_t)model->threads[task->thread].source->info.tid);
}

static json_t *make_task(const struct bp_model *model, const struct bp_model_task *task, bool all) {
    json_t *object = json_object();
    bp_json_set_text(object, "id", task->id);
    bp_json_set_text(object, "name", task->name);
    set_place(object, model, task);
    bp_json_set(object, "start_s", task->start_s);
    bp_json_set(object, "duration_s", task->duration_s);
    bp_json_set(object, "wall_s", task->wall_s);
    bp_json_set(object, "idle_s", task->idle_s);
    bp_json_set_percent(object, "pct", bp_task_cost(task), model->wall.total_s);
    bp_json_set(object, "cpu_s", task->cpu_s);
    bp_json_set_count(object, "inner", task->inner);
    bp_json_set(object, "inner_s", task->inner_s);
    bp_json_set(object, "handed_s", task->handed_s);
    json_object_set_new(object, "elsewhere", json_boolean(bp_task_is_elsewhere(task)));
    for (int i = 0; i < BP_CATEGORIES; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%s_s", bp_category_name((enum bp_category)i));
        bp_json_set(object, key, task->category_s[i]);
    }
    bp_json_set(object, "profiler_s", task->overhead_s);
    bp_json_set(object, "waiting_s", task->waiting_s);
    bp_json_set(object, "io_s", task->io_s);
    bp_json_set_count(object, "samples", task->samples);
    json_object_set_new(object, "failed", json_boolean(task->failed));
    json_object_set_new(object, "unfinished", json_boolean(task->unfinished));
    json_object_set_new(object, "time_limit", json_boolean(task->limited));
    json_object_set_new(object, "outlier", json_boolean(task->outlier));
    json_object_set_new(object, "detailed", json_boolean(task->detailed));
    json_object_set_new(object, "phases", make_parts(model, task));
    json_object_set_new(object, "functions", make_rows(model, task, all));
    return object;
}

/* Why it stands out: what took longer than in the median task. */
static json_t *make_outlier(const struct bp_model *model, const struct bp_task_typical *typical,
                            const struct bp_model_task *task) {
    json_t *object = make_task(model, task, false);
    json_t *list = json_array();
    json_t *phases = json_array();
    struct bp_task_function *rows = bp_task_excess(model, typical, task);
    for (uint32_t i = 0; i < task->function_count && i < FUNCTIONS; i++) {
        double usual_s = typical->function_s[rows[i].function];
        if (!(rows[i].self_s - usual_s > SMALLEST * task->duration_s))
            break;
        json_t *row = make_row(model, &rows[i]);
        bp_json_set(row, "median_task_s", usual_s);
        json_array_append_new(list, row);
    }
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *part = &model->tasks.phases[task->first_phase + i];
        json_t *row = json_object();
        bp_json_set_text(row, "name", model->phases[part->phase].name);
        bp_json_set(row, "s", part->s);
        bp_json_set(row, "median_task_s", typical->phase_s[part->phase]);
        json_array_append_new(phases, row);
    }
    free(rows);
    bp_json_set(object, "times_median",
                model->tasks.summary.median_s > 0 ? task->duration_s / model->tasks.summary.median_s
                                                  : 0);
    json_object_set_new(object, "functions", list);
    json_object_set_new(object, "phases", phases);
    return object;
}

static json_t *make_histogram(const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    json_t *list = json_array();
    uint32_t counts[BUCKETS];
    uint32_t count;
    double *values = bp_task_durations(model, &count);
    double low = fmax(summary->min_s, 1e-9);
    double step = log(fmax(summary->max_s, low) / low) / BUCKETS;
    bp_histogram(values, count, low, fmax(summary->max_s, low), BUCKETS, counts);
    for (int i = 0; count && i < BUCKETS; i++) {
        json_t *bucket = json_object();
        bp_json_set(bucket, "from_s", low * exp(step * i));
        bp_json_set(bucket, "to_s", low * exp(step * (i + 1)));
        bp_json_set_count(bucket, "count", counts[i]);
        json_array_append_new(list, bucket);
    }
    free(values);
    return list;
}

static void set_summary(json_t *object, const struct bp_task_summary *summary) {
    struct bp_task_limits limits = bp_task_limits(summary);
    bp_json_set_count(object, "count", summary->count + summary->folded);
    bp_json_set_count(object, "ended", summary->ended);
    bp_json_set_count(object, "failed", summary->failed);
    bp_json_set_count(object, "unfinished", summary->unfinished);
    bp_json_set_count(object, "time_limit", summary->limited);
    bp_json_set_count(object, "not_kept_singly", summary->folded);
    bp_json_set_count(object, "not_recorded", summary->lost);
    bp_json_set_count(object, "without_details", summary->plain);
    bp_json_set_count(object, "samples", summary->samples);
    bp_json_set_count(object, "at_once", summary->slots);
    bp_json_set(object, "sum_s", summary->sum_s + summary->folded_s);
    bp_json_set(object, "wall_s", summary->wall_s);
    bp_json_set(object, "mean_s", summary->mean_s);
    bp_json_set(object, "min_s", summary->min_s);
    bp_json_set(object, "median_s", summary->median_s);
    bp_json_set(object, "p75_s", summary->p75_s);
    bp_json_set(object, "p90_s", summary->p90_s);
    bp_json_set(object, "p95_s", summary->p95_s);
    bp_json_set(object, "p99_s", summary->p99_s);
    bp_json_set(object, "max_s", summary->max_s);
    bp_json_set(object, "mad_s", summary->mad_s);
    bp_json_set(object, "limit_p95_s", limits.p95_s);
    bp_json_set(object, "limit_p99_s", limits.p99_s);
    bp_json_set(object, "limit_max_s", limits.max_s);
    bp_json_set(object, "outlier_k", summary->outlier_k);
    json_object_set_new(object, "outlier_limit_s",
                        isfinite(summary->outlier_limit_s) ? json_real(summary->outlier_limit_s)
                                                           : json_null());
    bp_json_set(object, "outlier_s", summary->outlier_s);
    bp_json_set(object, "outlier_wall_s", summary->outlier_wall_s);
    bp_json_set_count(object, "outliers_dropped", summary->dropped);
}

static json_t *make_levels(const struct bp_model *model) {
    json_t *list = json_array();
    uint32_t count;
    struct bp_task_calls *levels = bp_task_levels(model, &count);
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = json_object();
        bp_json_set_text(row, "name", levels[i].name);
        bp_json_set_text(row, "level", bp_task_level_name(levels[i].level));
        bp_json_set_count(row, "calls", levels[i].count);
        bp_json_set(row, "s", levels[i].s);
        json_array_append_new(list, row);
    }
    free(levels);
    return list;
}

json_t *bp_report_json_tasks(const struct bp_model *model,
                             const struct bp_report_settings *settings) {
    json_t *object = json_object();
    json_t *outliers = json_array();
    json_t *list = json_array();
    struct bp_task_typical typical;
    uint32_t count;
    uint32_t *order = bp_task_order(model, &count);
    bp_task_typical_init(&typical, model);
    set_summary(object, &model->tasks.summary);
    for (uint32_t i = 0; i < count; i++)
        if (model->tasks.list[order[i]].outlier)
            json_array_append_new(outliers,
                                  make_outlier(model, &typical, &model->tasks.list[order[i]]));
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (bp_task_counts(&model->tasks.list[i]) && !model->tasks.list[i].dropped)
            json_array_append_new(list, make_task(model, &model->tasks.list[i],
                                                  bp_report_task_is_wanted(&model->tasks.list[i],
                                                                           &settings->search)));
    json_object_set_new(object, "histogram", make_histogram(model));
    json_object_set_new(object, "other_levels", make_levels(model));
    json_object_set_new(object, "outliers", outliers);
    json_object_set_new(object, "list", list);
    bp_task_typical_fini(&typical);
    free(order);
    return object;
}

json_t *bp_report_json_phases(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->phase_count; i++) {
        const struct bp_model_phase *phase = &model->phases[i];
        json_t *object = json_object();
        bp_json_set_text(object, "name", phase->name);
        bp_json_set_count(object, "count", phase->count);
        bp_json_set(object, "thread_s", phase->thread_s);
        double wall_s = bp_phase_wall(phase);
        bp_json_set(object, "wall_s", phase->wall_s);
        bp_json_set_percent(object, "pct", wall_s, model->wall.total_s);
        bp_json_set_count(object, "tasks", phase->tasks);
        bp_json_set_count(object, "samples", phase->samples);
        bp_json_set(object, "in_tasks_s", phase->task_s);
        bp_json_set(object, "per_task_s", phase->tasks ? phase->task_s / phase->tasks : 0);
        bp_json_set(object, "per_sample_s",
                    phase->samples ? phase->task_s / (double)phase->samples : 0);
        bp_json_set(object, "idle_s", phase->idle_s);
        bp_json_set(object, "waiting_s", phase->waiting_s);
        bp_json_set(object, "open_s", phase->open_s);
        bp_json_set(object, "started_wall_s", phase->started_s);
        json_array_append_new(list, object);
    }
    return list;
}
