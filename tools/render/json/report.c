/* SPDX-License-Identifier: MIT
 *
 * The report as JSON, schema battprof-report/1: tests and users rely on the names. Every key is
 * always there, with an empty value where there is nothing. Keys are only ever added.
 */
#include "tools/render/json/report.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/base/json.h"
#include "tools/render/text/internal.h"

#define SCHEMA "battprof-report/1"

static json_t *make_part(const struct bp_model *model, double s, double thread_s) {
    json_t *part = json_object();
    bp_json_set(part, "s", s);
    bp_json_set_percent(part, "pct", s, model->wall.total_s);
    bp_json_set(part, "thread_s", thread_s);
    return part;
}

static json_t *make_categories(const struct bp_model *model) {
    json_t *object = json_object();
    for (int i = 0; i < BP_CATEGORIES; i++)
        json_object_set_new(
            object, bp_category_name((enum bp_category)i),
            make_part(model, model->wall.category_s[i], model->thread_time.category_s[i]));
    json_object_set_new(object, "profiler",
                        make_part(model, model->wall.overhead_s, model->thread_time.overhead_s));
    return object;
}

static json_t *make_framework(const struct bp_model *model) {
    json_t *object = json_object();
    bp_json_set(object, "running_s", model->thread_time.running_s);
    bp_json_set(object, "waiting_s", model->thread_time.waiting_s);
    bp_json_set(object, "gil_s", model->thread_time.gil_s);
    bp_json_set(object, "io_s", model->thread_time.io_s);
    bp_json_set(object, "cuda_api_s", model->thread_time.cuda_api_s);
    bp_json_set(object, "kernel_wait_s", model->thread_time.kernel_wait_s);
    json_object_set_new(object, "functions", bp_report_json_framework_functions(model));
    bp_json_take_text(object, "count", bp_report_suspect(model));
    return object;
}

static const char *kind_name(uint32_t kind) {
    static const char *const names[] = {"root", "call", "wait", "io", "folded", "paused"};
    return names[kind];
}

static void set_python(json_t *object, const struct bp_model *model,
                       const struct bp_function *function) {
    uint32_t others;
    const struct bp_function *caller = bp_report_caller(model, function, &others);
    bp_json_set_text(object, "module", function->module);
    bp_json_set_text(object, "file", function->file);
    bp_json_set_count(object, "line", function->line);
    if (caller)
        bp_json_set_text(object, "called_from", caller->full_name);
}

/* Only the mean is known of a generator's calls, and of calls of which none returned. */
static void set_call(json_t *object, const struct bp_function *function) {
    static const char *const names[] = {"min_s", "median_s", "p99_s", "max_s", "first_s"};
    double values[] = {function->min_s, function->median_s, function->p99_s, function->max_s,
                       function->first_s};
    bp_json_set(object, "mean_s", bp_function_mean(function));
    for (int i = 0; i < 5; i++) {
        bp_json_set(object, names[i], values[i]);
        if (function->untold)
            json_object_set_new(object, names[i], json_null());
    }
}

static json_t *make_function(const struct bp_model *model, uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    json_t *object = json_object();
    bp_json_set_text(object, "name", function->full_name);
    bp_json_set_text(object, "library", function->library);
    bp_json_set_text(object, "category", bp_category_name(function->category));
    bp_json_set_text(object, "group", function->group);
    bp_json_set_text(object, "kind", kind_name(function->kind));
    if (function->module[0] || function->file[0])
        set_python(object, model, function);
    bp_json_set_count(object, "calls", function->calls);
    bp_json_set_count(object, "aborted", function->aborted);
    bp_json_set_count(object, "in_flight", function->in_flight);
    bp_json_set(object, "self_s", function->self_s);
    bp_json_set(object, "total_s", function->total_s);
    bp_json_set(object, "wall_s", function->wall_s);
    bp_report_json_set_known(object, "cpu_s", function->cpu_s);
    bp_json_set_text(object, "owner", bp_split_key(bp_split_row_of(function)));
    set_call(object, function);
    bp_json_set_percent(object, "pct", function->wall_s + function->idle_s, model->wall.total_s);
    bp_json_set_count(object, "tasks", function->tasks);
    bp_json_set(object, "per_task_s", function->tasks ? function->task_s / function->tasks : 0);
    bp_json_set(object, "idle_s", function->idle_s);
    bp_json_set(object, "self_error_s", bp_function_self_error(function));
    bp_json_set(object, "total_error_s", bp_function_total_error(function));
    if (function->untimed)
        bp_json_set_count(object, "untimed", function->untimed);
    if (function->counted)
        json_object_set_new(object, "counted", json_true());
    if (function->cuda) {
        bp_json_set(object, "transfer_s", function->transfer_s);
        bp_json_set(object, "kernel_wait_s", function->kernel_wait_s);
    }
    bp_report_json_lines(object, model, number);
    return object;
}

static json_t *make_functions(const struct bp_model *model,
                              const struct bp_report_settings *settings) {
    json_t *list = json_array();
    uint32_t count;
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++)
        if (bp_report_wanted(settings, &model->functions[order[i]]))
            json_array_append_new(list, make_function(model, order[i]));
    free(order);
    return list;
}

static json_t *make_coverage(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->coverage_count; i++) {
        const struct bp_coverage *coverage = &model->coverage[i];
        json_t *object = json_object();
        bp_json_set_text(object, "library", coverage->library);
        bp_json_set_count(object, "exports", coverage->exports);
        bp_json_set_count(object, "hooked", coverage->hooked);
        bp_json_set_count(object, "called", coverage->called);
        bp_json_set_text(object, "reason", coverage->reason);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *make_in_flight(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->in_flight_count; i++) {
        const struct bp_in_flight *item = &model->in_flight[i];
        const struct bp_model_thread *thread = &model->threads[item->thread];
        json_t *object = json_object();
        bp_json_set_count(object, "process",
                          (uint64_t)model->processes[thread->process].profile->header.pid);
        bp_json_set_count(object, "thread", (uint64_t)thread->source->info.tid);
        bp_json_set_text(object, "function", model->functions[item->function].name);
        bp_json_set_text(object, "library", model->functions[item->function].library);
        bp_json_set_count(object, "depth", item->depth);
        bp_json_set(object, "for_s", item->for_s);
        json_array_append_new(list, object);
    }
    return list;
}

static void set_categories(json_t *object, const double *category_s) {
    json_t *categories = json_object();
    for (int i = 0; i < BP_CATEGORIES; i++)
        bp_json_set(categories, bp_category_name((enum bp_category)i), category_s[i]);
    json_object_set_new(object, "thread_s", categories);
}

static json_t *make_threads(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        const struct bp_thread *info = &thread->source->info;
        json_t *object = json_object();
        bp_json_set_count(object, "process",
                          (uint64_t)model->processes[thread->process].profile->header.pid);
        bp_json_set_count(object, "tid", (uint64_t)info->tid);
        bp_json_take_text(object, "name", bp_report_thread_name(model, thread));
        bp_json_set_count(object, "lives", info->lives ? info->lives : 1);
        json_object_set_new(object, "ended", json_boolean(info->state == BP_THREAD_ENDED));
        bp_json_set(object, "lifetime_s", thread->lifetime_s);
        bp_json_set(object, "sum_s", thread->sum_s);
        bp_json_set(object, "overhead_s", thread->overhead_s);
        bp_json_set(object, "busy_s", thread->busy_s);
        bp_json_set(object, "waiting_s", thread->waiting_s);
        bp_json_set(object, "paused_s", thread->paused_s);
        json_object_set_new(object, "all_wait_s",
                            thread->all_wait_s < 0 ? json_null() : json_real(thread->all_wait_s));
        json_object_set_new(object, "all_wait_least_s",
                            thread->all_wait_least_s < 0 ? json_null()
                                                         : json_real(thread->all_wait_least_s));
        bp_json_set(object, "io_s", thread->io_s);
        bp_report_json_set_known(object, "cpu_s", thread->has_clocks ? thread->cpu_s : -1);
        bp_json_set(object, "wall_s", thread->wall_s);
        bp_json_set(object, "blocked_s", thread->blocked_s);
        bp_json_set(object, "idle_s", thread->own_idle_s);
        bp_json_set_percent(object, "pct", thread->wall_s + thread->own_idle_s,
                            model->wall.total_s);
        bp_json_set(object, "runqueue_s", thread->runqueue_s);
        set_categories(object, thread->category_s);
        json_array_append_new(list, object);
    }
    return list;
}

static const char *state_name(const struct bp_model_process *process) {
    if (process->live)
        return "running";
    if (process->profile->header.state == BP_EXECED)
        return "execed";
    bool exited = process->exit_status >= 0 && !process->signal; /* or whoever reaped it says so */
    return process->killed && !exited ? "killed" : "exited";
}

static json_t *make_processes(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        const struct bp_header *header = &process->profile->header;
        json_t *object = json_object();
        bp_json_set_count(object, "process", (uint64_t)header->pid);
        bp_json_set_count(object, "parent", (uint64_t)header->parent_pid);
        bp_json_set_count(object, "image", header->image);
        bp_json_set_text(object, "host", header->host);
        bp_json_set_text(object, "role", process->role);
        json_object_set_new(object, "rank",
                            process->rank < 0 ? json_null() : json_integer(process->rank));
        bp_json_set_text(object, "command", header->command);
        bp_json_set_text(object, "state", state_name(process));
        json_object_set_new(object, "exit_status",
                            process->exit_status < 0 ? json_null()
                                                     : json_integer(process->exit_status));
        json_object_set_new(object, "end_estimated", json_boolean(process->end_estimated));
        bp_json_set_count(object, "threads", process->threads);
        bp_json_set(object, "start_s", process->start_s);
        bp_json_set(object, "lifetime_s", process->lifetime_s);
        bp_json_set(object, "threads_lifetime_s", process->thread_s);
        bp_json_set(object, "sum_s", process->sum_s);
        bp_json_set(object, "overhead_s", process->overhead_s);
        bp_json_set(object, "waiting_s", process->waiting_s);
        bp_report_json_set_known(object, "cpu_s", process->cpu_s);
        bp_json_set(object, "wall_s", process->wall_s);
        bp_json_set(object, "idle_s", process->idle_s);
        bp_json_set_percent(object, "pct", process->wall_s + process->idle_s, model->wall.total_s);
        set_categories(object, process->category_s);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *make_notes(const struct bp_analysis *analysis) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < analysis->note_count; i++)
        json_array_append_new(list, bp_json_text(analysis->notes[i]));
    return list;
}

static void set_run(json_t *root, const struct bp_model *model) {
    bp_json_set_text(root, "schema", SCHEMA);
    bp_json_set_text(root, "command", model->run.command);
    json_object_set_new(root, "exit_status",
                        model->run.exit_status < 0 ? json_null()
                                                   : json_integer(model->run.exit_status));
    json_object_set_new(root, "signal",
                        model->run.signal ? json_integer(model->run.signal) : json_null());
    json_object_set_new(root, "live", json_boolean(model->run.live));
    bp_json_set(root, "wall_s", model->wall.total_s);
    bp_json_set(root, "cpu_s", model->thread_time.cpu_s);
    bp_json_set(root, "thread_s", model->thread_time.total_s);
    bp_json_set(root, "overhead_s", model->thread_time.overhead_s);
    bp_json_set(root, "overhead_wall_s", model->wall.overhead_s);
    bp_json_set(root, "overhead_error_s", model->thread_time.overhead_error_s);
    bp_json_set_count(root, "processes", model->pid_count);
    bp_json_set_count(root, "threads", model->lived_count);
    json_object_set_new(root, "device", bp_report_json_device(model));
}

json_t *bp_report_json_make(const struct bp_analysis *analysis,
                            const struct bp_report_settings *settings) {
    const struct bp_model *model = analysis->model;
    json_t *root = json_object();
    set_run(root, model);
    json_object_set_new(root, "categories", make_categories(model));
    json_object_set_new(root, "framework", make_framework(model));
    json_object_set_new(root, "split", bp_report_json_split(model));
    json_object_set_new(root, "choice", bp_report_json_choice(model));
    json_object_set_new(root, "recording", bp_report_json_recording(model));
    bp_json_set(root, "idle_s", model->wall.idle_s);
    bp_json_set(root, "start_s", model->wall.start_s);
    bp_json_set(root, "unsplit_s", model->wall.unsplit_s);
    json_object_set_new(root, "functions", make_functions(model, settings));
    json_object_set_new(root, "sampled", bp_report_json_sampled(model, settings));
    bp_report_json_devices(root, model);
    json_object_set_new(root, "groups", bp_report_json_groups(model));
    json_object_set_new(root, "phases", bp_report_json_phases(model));
    json_object_set_new(root, "tasks", bp_report_json_tasks(model, settings));
    json_object_set_new(root, "projection", bp_report_json_projection(model, settings));
    json_object_set_new(root, "budget", bp_report_json_budget(analysis, settings));
    json_object_set_new(root, "advice", bp_report_json_advice(analysis));
    json_object_set_new(root, "candidates", bp_report_json_candidates(model, settings));
    json_object_set_new(root, "coverage", make_coverage(model));
    json_object_set_new(root, "in_flight", make_in_flight(model));
    json_object_set_new(root, "process_list", make_processes(model));
    bp_report_json_roles(root, model);
    json_object_set_new(root, "thread_list", make_threads(model));
    json_object_set_new(root, "notes", make_notes(analysis));
    return root;
}

int bp_report_json(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                   FILE *out) {
    return bp_json_print(bp_report_json_make(analysis, settings), out);
}
