/* SPDX-License-Identifier: MIT
 *
 * Devices in the JSON report: `transfers` by direction, `transfer_list` by direction, calling
 * function and memory, `kernels` by launching function, and what the collector says of itself.
 */
#include "tools/base/json.h"
#include "tools/render/json/report.h"

static const char *const memories[] = {"unknown", "pageable", "pinned",
                                       "device",  "array",    "managed"};

/* "" if there is none. */
static void set_function(json_t *object, const char *key, const struct bp_model *model,
                         uint32_t number) {
    if (number == BP_NO_FUNCTION)
        bp_json_set_text(object, key, "");
    else
        bp_json_set_text(object, key, model->functions[number].full_name);
}

/* Without kernel records it is unknown when the device did nothing, and without any not even which
 * device that was. */
static void set_use(json_t *object, const struct bp_model *model,
                    const struct bp_model_device *device) {
    static const char *const with_kernels[] = {"busy_s", "idle_s", "compute_s", "busy_pct"};
    double idle_s = model->cuda.wall_s - device->busy_s;
    bp_json_set(object, "busy_s", device->busy_s);
    bp_json_set(object, "idle_s", idle_s > 0 ? idle_s : 0);
    bp_json_set(object, "copy_s", device->copy_s);
    bp_json_set(object, "compute_s", device->compute_s);
    bp_json_set_percent(object, "busy_pct", device->busy_s, model->cuda.wall_s);
    bool unknown = device->kernels_unknown || !(device->name[0] || device->busy_s > 0);
    for (size_t i = 0; i < 4 && unknown; i++)
        json_object_set_new(object, with_kernels[i], json_null());
}

static json_t *make_device(const struct bp_model *model, const struct bp_model_device *device) {
    json_t *object = json_object();
    json_t *best = json_object();
    bp_json_set_text(object, "name", device->name);
    json_object_set_new(object, "simulated", json_boolean(device->simulated));
    bp_json_set_count(object, "index", device->index);
    bp_json_set_count(object, "memory_bytes", device->memory);
    bp_json_set_count(object, "processes", device->processes);
    bp_json_set_count(object, "instances", device->instances);
    set_use(object, model, device);
    for (int i = 0; i < BP_DIRECTIONS; i++)
        if (device->best[i] > 0)
            bp_json_set(best, bp_direction_names[i], device->best[i] / 1e9);
    json_object_set_new(object, "best_gb_s", best);
    return object;
}

json_t *bp_report_json_device(const struct bp_model *model) {
    const struct bp_model_device *busiest = NULL;
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        if (model->cuda.devices[i].name[0] &&
            (!busiest || model->cuda.devices[i].busy_s > busiest->busy_s))
            busiest = &model->cuda.devices[i];
    return busiest ? make_device(model, busiest) : json_null();
}

static void set_or_null(json_t *object, const char *key, bool known, double s) {
    if (known)
        bp_json_set(object, key, s);
    else
        json_object_set_new(object, key, json_null());
}

/* The three parts sum to the whole. */
static void set_calls(json_t *object, const struct bp_model_transfer *sum) {
    bool divided = sum->call_s > 0 && sum->call_whole_s == 0;
    set_or_null(object, "in_call_s", sum->call_s > 0, sum->call_s);
    set_or_null(object, "in_call_moving_s", divided, sum->call_moving_s);
    set_or_null(object, "in_call_wait_s", divided, sum->call_wait_s);
    set_or_null(object, "in_call_own_s", divided,
                sum->call_s - sum->call_moving_s - sum->call_wait_s);
}

static void set_sums(json_t *object, const struct bp_model_transfer *sum) {
    bp_json_set_count(object, "count", sum->count);
    bp_json_set_count(object, "bytes", sum->bytes);
    bp_json_set(object, "device_s", sum->device_s);
    bp_json_set(object, "exposed_s", sum->exposed_s);
    bp_json_set(object, "hidden_s", sum->hidden_s);
    bp_json_set(object, "faulted_s", sum->faulted_s);
    set_calls(object, sum);
    bp_json_set_count(object, "small_count", sum->small_count);
    if (sum->untimed)
        bp_json_set_count(object, "untimed", sum->untimed);
}

static json_t *make_directions(const struct bp_model *model) {
    struct bp_model_transfer sums[BP_DIRECTIONS] = {0};
    json_t *object = json_object();
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->cuda.transfers[i];
        bp_transfer_add(&sums[transfer->direction], transfer);
    }
    for (int i = 0; i < BP_DIRECTIONS; i++) {
        json_t *direction = json_object();
        set_sums(direction, &sums[i]);
        json_object_set_new(object, bp_direction_names[i], direction);
    }
    return object;
}

/* [[bytes from, copies], …] of the sizes that occur. */
static json_t *make_sizes(const struct bp_model_transfer *transfer) {
    json_t *list = json_array();
    for (int i = 0; i < BP_SIZE_BUCKETS; i++)
        if (transfer->sizes[i])
            json_array_append_new(list, json_pack("[I, I]", (json_int_t)(i ? UINT64_C(1) << i : 0),
                                                  (json_int_t)transfer->sizes[i]));
    return list;
}

static json_t *make_transfer(const struct bp_model *model,
                             const struct bp_model_transfer *transfer) {
    const struct bp_model_device *device = &model->cuda.devices[transfer->device];
    json_t *object = json_object();
    bp_json_set_text(object, "direction", bp_direction_names[transfer->direction]);
    set_function(object, "function", model, transfer->caller);
    set_function(object, "call", model, transfer->call);
    bp_json_set_count(object, "device", device->index);
    bp_json_set_text(object, "source", memories[transfer->source]);
    bp_json_set_text(object, "target", memories[transfer->target]);
    json_object_set_new(object, "async", json_boolean(transfer->flags & BP_TRANSFER_ASYNC));
    json_object_set_new(object, "host_only", json_boolean(transfer->flags & BP_TRANSFER_HOST_ONLY));
    set_sums(object, transfer);
    double rate = transfer->device_s > 0 ? (double)transfer->bytes / transfer->device_s : 0;
    bp_json_set(object, "gb_s", rate / 1e9);
    bp_json_set(object, "best_gb_s", device->best[transfer->direction] / 1e9);
    bp_json_set(object, "min_s", transfer->min_s);
    bp_json_set(object, "max_s", transfer->max_s);
    bp_json_set_count(object, "duplicates", transfer->duplicates);
    bp_json_set_count(object, "duplicate_bytes", transfer->duplicate_bytes);
    bp_json_set_count(object, "round_trips", transfer->round_trips);
    bp_json_set_count(object, "round_trip_bytes", transfer->round_trip_bytes);
    json_object_set_new(object, "sizes", make_sizes(transfer));
    return object;
}

static json_t *make_kernel(const struct bp_model *model, const struct bp_model_kernel *kernel) {
    json_t *object = json_object();
    bp_json_set_text(object, "name", kernel->name);
    bp_json_set_count(object, "count", kernel->count);
    bp_json_set(object, "device_s", kernel->device_s);
    set_function(object, "launched_by", model, kernel->caller);
    bp_json_set_text(object, "category", kernel->dsl ? "dsl" : "framework");
    bp_json_set_count(object, "device", model->cuda.devices[kernel->device].index);
    bp_json_set(object, "wait_s", kernel->wait_s);
    bp_json_set(object, "min_s", kernel->min_s);
    bp_json_set(object, "max_s", kernel->max_s);
    return object;
}

/* The collector of the first process that has one; the notes name all. */
static json_t *make_collector(const struct bp_model *model) {
    static const char *const states[] = {"off",    "waiting", "host only",
                                         "active", "stopped", "imported"};
    static const char *const modes[] = {"off", "wrappers", "transfers", "full"};
    uint32_t first = 0;
    while (first < model->process_count && !model->processes[first].profile->collector)
        first++;
    if (first == model->process_count)
        return json_null();
    const struct bp_model_process *process = &model->processes[first];
    const struct bp_collector *collector = process->profile->collector;
    json_t *object = json_object();
    bp_json_set_text(object, "state",
                     collector->state <= BP_COLLECTOR_IMPORTED ? states[collector->state] : "");
    bp_json_set_text(object, "mode", collector->mode <= BP_CUDA_FULL ? modes[collector->mode] : "");
    bp_json_set_text(object, "reason", collector->reason);
    bp_json_set_text(object, "library", collector->library);
    bp_json_set_count(object, "cupti_version", collector->cupti_version);
    bp_json_set_count(object, "records", collector->records);
    bp_json_set_count(object, "dropped", collector->dropped);
    bp_json_set_count(object, "unmatched", collector->unmatched);
    bp_json_set_count(object, "late", collector->late);
    bp_json_set_count(object, "lost_calls", collector->lost_calls);
    bp_json_set(object, "cupti_s", (double)collector->cupti_time * process->tick_s);
    bp_json_set(object, "loading_s", (double)collector->loading_time * process->tick_s);
    bp_json_set(object, "queue_full_s", (double)collector->full_time * process->tick_s);
    return object;
}

void bp_report_json_devices(json_t *root, const struct bp_model *model) {
    json_t *transfers = json_array();
    json_t *kernels = json_array();
    json_t *devices = json_array();
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++)
        json_array_append_new(transfers, make_transfer(model, &model->cuda.transfers[i]));
    for (uint32_t i = 0; i < model->cuda.kernel_count; i++)
        json_array_append_new(kernels, make_kernel(model, &model->cuda.kernels[i]));
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        json_array_append_new(devices, make_device(model, &model->cuda.devices[i]));
    json_object_set_new(root, "transfers", make_directions(model));
    json_object_set_new(root, "transfer_list", transfers);
    json_object_set_new(root, "copy_sites", bp_report_json_sites(model));
    json_object_set_new(root, "kernels", kernels);
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "cuda", make_collector(model));
}

json_t *bp_report_json_advice(const struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    json_t *list = json_array();
    for (uint32_t i = 0; i < analysis->advice_count; i++) {
        const struct bp_advice *advice = &analysis->advice[i];
        json_t *object = json_object();
        bp_json_set_text(object, "level", advice->level);
        bp_json_set_text(object, "what", advice->what);
        bp_json_set_percent(object, "share_pct", advice->saves_s, model->wall.total_s);
        bp_json_set(object, "saves_s", advice->saves_s);
        bp_json_set_text(object, "why", advice->why);
        bp_json_set_count(object, "bytes", advice->bytes);
        set_function(object, "function", model, advice->function);
        if (advice->cause) {
            bp_json_set_text(object, "cause", advice->cause);
            bp_json_set_text(object, "file", advice->file);
            bp_json_set_count(object, "line", advice->line);
        }
        json_array_append_new(list, object);
    }
    return list;
}
