/* SPDX-License-Identifier: MIT
 *
 * Traces of the PyTorch profiler (torch.profiler, Kineto): Chrome's trace events. Times are
 * microseconds, whole ones in older files, from `baseTimeNanoseconds` on in newer ones; categories
 * once were `Runtime`, `Kernel`, `Memcpy`. Operators, annotations and Python functions become
 * frames, so that a copy has the operator as its caller.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/import.h"
#include "tools/memory.h"
#include "tools/text.h"

struct kineto {
    struct bp_trace *trace;
    uint64_t base; /* ns */
    uint64_t cuda_calls;
    uint64_t broken; /* events without what their kind needs */
    int64_t pid;     /* of the first host event */
    char process_name[256];
};

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static uint64_t count_of(const json_t *object, const char *key) {
    double value = json_number_value(json_object_get(object, key));
    return value > 0 && value < 0x1p63 ? (uint64_t)value : 0;
}

/* Whole microseconds must not go through a double: 2^53 ns are 104 days. */
static uint64_t ns_of(const json_t *number) {
    if (json_is_integer(number))
        return json_integer_value(number) > 0 ? (uint64_t)json_integer_value(number) * 1000 : 0;
    double value = json_number_value(number);
    if (!(value > 0 && value < 0x1p53))
        return 0;
    double whole = floor(value);
    return (uint64_t)whole * 1000 + (uint64_t)((value - whole) * 1000 + 0.5);
}

static bool is_one_of(const char *category, const char *const *names) {
    for (; *names; names++)
        if (strcasecmp(category, *names) == 0)
            return true;
    return false;
}

/* "dsl.py(17): objects" is function objects of module dsl; "<built-in function len>" has no file.
 */
static uint32_t python_func(struct bp_trace *trace, const char *name) {
    char file[1024];
    char module[256];
    const char *open = strstr(name, "(");
    const char *close = open ? strstr(open, "): ") : NULL;
    if (!close) {
        struct bp_trace_func func = {(char *)name, "", "", "", 0, BP_FUNC_CALL, 0};
        return bp_trace_func(trace, &func);
    }
    snprintf(file, sizeof(file), "%.*s", (int)(open - name), name);
    snprintf(module, sizeof(module), "%.200s", bp_base_name(file));
    char *suffix = strstr(module, ".py");
    if (suffix)
        *suffix = 0;
    struct bp_trace_func func = {(char *)close + 3,        "",           file,          module,
                                 (uint32_t)atoi(open + 1), BP_FUNC_CALL, BP_FUNC_PYTHON};
    return bp_trace_func(trace, &func);
}

static void take_frame(struct kineto *kineto, const json_t *event, uint64_t start, uint64_t end,
                       uint32_t func) {
    const json_t *process = json_object_get(event, "pid");
    const json_t *thread = json_object_get(event, "tid");
    if (!json_is_integer(process) || !json_is_integer(thread)) {
        kineto->broken++;
        return;
    }
    int64_t pid = json_integer_value(process);
    if (kineto->pid == 0)
        kineto->pid = pid;
    struct bp_trace_frame frame = {
        .start = start,
        .end = end,
        .thread = bp_trace_thread(kineto->trace, pid, json_integer_value(thread)),
        .func = func,
        .correlation = count_of(json_object_get(event, "args"), "correlation"),
    };
    bp_trace_frame(kineto->trace, &frame);
}

static uint8_t memory_named(const char *text) {
    static const struct {
        const char *name;
        uint8_t memory;
    } names[] = {{"Pageable", BP_MEMORY_PAGEABLE}, {"Pinned", BP_MEMORY_PINNED},
                 {"Device", BP_MEMORY_DEVICE},     {"Array", BP_MEMORY_ARRAY},
                 {"Managed", BP_MEMORY_MANAGED},   {"Unified", BP_MEMORY_MANAGED}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncasecmp(text, names[i].name, strlen(names[i].name)) == 0)
            return names[i].memory;
    return BP_MEMORY_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)" */
static void describe_copy(const char *name, struct bp_trace_work *work) {
    static const struct {
        const char *name;
        uint8_t direction;
    } names[] = {{"HtoD", BP_H2D}, {"HtoA", BP_H2D}, {"DtoH", BP_D2H},
                 {"AtoH", BP_D2H}, {"PtoP", BP_P2P}, {"DtoD", BP_D2D}};
    work->direction = BP_D2D;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(name, names[i].name))
            work->direction = names[i].direction;
    const char *open = strchr(name, '(');
    const char *arrow = strstr(name, "-> ");
    work->source = open ? memory_named(open + 1) : BP_MEMORY_UNKNOWN;
    work->target = arrow ? memory_named(arrow + 3) : BP_MEMORY_UNKNOWN;
}

enum work_sort { KERNEL, COPY, SET };

static void take_work(struct kineto *kineto, const json_t *event, uint64_t start, uint64_t end,
                      enum work_sort sort) {
    const json_t *arguments = json_object_get(event, "args");
    const char *name = text_of(event, "name");
    const json_t *device = json_object_get(arguments, "device");
    if (!device)
        device = json_object_get(event, "pid");
    struct bp_trace_work work = {
        .start = start,
        .end = end,
        .bytes = count_of(arguments, "bytes"),
        .correlation = count_of(arguments, "correlation"),
        .device = (uint32_t)json_integer_value(device),
    };
    if (sort == KERNEL) {
        work.kernel = true;
        work.name = bp_trace_name(kineto->trace, name);
    } else if (sort == COPY) {
        describe_copy(name, &work);
    } else {
        work.direction = BP_MEMSET;
        work.target = BP_MEMORY_DEVICE;
    }
    bp_trace_work(kineto->trace, &work);
}

static void take_event(struct kineto *kineto, const json_t *event) {
    static const char *const calls[] = {"cuda_runtime", "cuda_driver", "Runtime", "Driver", NULL};
    static const char *const frames[] = {"cpu_op", "user_annotation", "Operator", NULL};
    const char *category = text_of(event, "cat");
    const char *name = text_of(event, "name");
    const json_t *duration = json_object_get(event, "dur");
    const json_t *ts = json_object_get(event, "ts");
    if (strcmp(text_of(event, "ph"), "X") != 0)
        return;
    if (!json_is_number(ts) || !json_is_number(duration)) {
        kineto->broken++;
        return;
    }
    uint64_t start = kineto->base + ns_of(ts);
    uint64_t end = start + ns_of(duration);
    if (is_one_of(category, calls)) {
        kineto->cuda_calls++;
        take_frame(kineto, event, start, end, bp_trace_cuda_func(kineto->trace, name));
    } else if (strcasecmp(category, "python_function") == 0) {
        take_frame(kineto, event, start, end, python_func(kineto->trace, name));
    } else if (is_one_of(category, frames)) {
        struct bp_trace_func func = {(char *)name, "PyTorch", "", "", 0, BP_FUNC_CALL, 0};
        take_frame(kineto, event, start, end, bp_trace_func(kineto->trace, &func));
    } else if (strcasecmp(category, "kernel") == 0) {
        take_work(kineto, event, start, end, KERNEL);
    } else if (is_one_of(category, (const char *const[]){"gpu_memcpy", "Memcpy", NULL})) {
        take_work(kineto, event, start, end, COPY);
    } else if (is_one_of(category, (const char *const[]){"gpu_memset", "Memset", NULL})) {
        take_work(kineto, event, start, end, SET);
    }
}

static void take_names(struct kineto *kineto, const json_t *event) {
    const char *name = text_of(json_object_get(event, "args"), "name");
    int64_t pid = json_integer_value(json_object_get(event, "pid"));
    if (strcmp(text_of(event, "ph"), "M") != 0)
        return;
    if (strcmp(text_of(event, "name"), "process_name") == 0 && pid == kineto->pid)
        snprintf(kineto->process_name, sizeof(kineto->process_name), "%s", name);
    if (strcmp(text_of(event, "name"), "thread_name") != 0)
        return;
    int64_t key[2] = {pid, json_integer_value(json_object_get(event, "tid"))};
    uint32_t thread = bp_table_get(&kineto->trace->thread_table, key, sizeof(key));
    if (thread != BP_TABLE_NONE)
        snprintf(kineto->trace->threads[thread].name, sizeof(kineto->trace->threads[thread].name),
                 "%s", name);
}

static void take_devices(struct bp_trace *trace, const json_t *list) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        struct bp_trace_device *device =
            bp_trace_device(trace, (uint32_t)json_integer_value(json_object_get(item, "id")));
        free(device->name);
        device->name = bp_copy_text(text_of(item, "name"));
        device->memory = count_of(item, "totalGlobalMem");
    }
}

/* One process per file; the work of the devices is its. */
static void finish(struct kineto *kineto) {
    struct bp_trace *trace = kineto->trace;
    for (uint32_t i = 0; i < trace->work_count; i++)
        trace->works[i].process = (uint32_t)kineto->pid;
    trace->pid = (int32_t)kineto->pid;
    trace->realtime = trace->start;
    snprintf(trace->executable, sizeof(trace->executable), "%s", kineto->process_name);
    snprintf(trace->command, sizeof(trace->command), "%s",
             kineto->process_name[0] ? kineto->process_name : "PyTorch");
    if (kineto->cuda_calls == 0)
        bp_trace_miss(trace, "no CUDA calls in it, so no copy is seen to cost host time");
    if (kineto->broken)
        bp_trace_miss(trace, "%llu events without time or thread left out",
                      (unsigned long long)kineto->broken);
}

static int read_events(struct kineto *kineto, const json_t *json, const char *path,
                       struct bp_error *error) {
    const json_t *events = json_is_array(json) ? json : json_object_get(json, "traceEvents");
    size_t i;
    const json_t *event;
    if (!json_is_array(events))
        return bp_error_set(error, BP_FAILED,
                            "%s: JSON, but no trace of the PyTorch profiler (no traceEvents)",
                            path);
    kineto->base = count_of(json, "baseTimeNanoseconds");
    if (json_is_integer(json_object_get(json, "baseTimeNanoseconds")))
        kineto->base = (uint64_t)json_integer_value(json_object_get(json, "baseTimeNanoseconds"));
    take_devices(kineto->trace, json_object_get(json, "deviceProperties"));
    json_array_foreach(events, i, event) {
        take_event(kineto, event);
    }
    json_array_foreach(events, i, event) {
        take_names(kineto, event);
    }
    if (kineto->trace->frame_count + kineto->trace->work_count == 0)
        return bp_error_set(error, BP_FAILED,
                            "%s: %zu events, but none of the kinds that the PyTorch profiler "
                            "writes (cpu_op, cuda_runtime, kernel, gpu_memcpy)",
                            path, json_array_size(events));
    finish(kineto);
    return 0;
}

int bp_import_kineto(struct bp_trace *trace, const char *path, struct bp_error *error) {
    struct kineto kineto = {.trace = trace};
    json_t *json = bp_import_json(trace, path, error);
    if (!json)
        return -1;
    int result = read_events(&kineto, json, path, error);
    json_decref(json);
    return result;
}
