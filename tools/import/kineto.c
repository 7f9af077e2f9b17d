/* SPDX-License-Identifier: MIT
 *
 * Traces of the PyTorch profiler (torch.profiler, Kineto): Chrome's trace events. Times are
 * microseconds, whole ones in older files, from `baseTimeNanoseconds` on in newer ones; categories
 * once were `Runtime`, `Kernel`, `Memcpy`, and threads texts ("140212", "stream 7"). With ROCm the
 * categories are the same and the calls begin with `hip`. Operators, annotations and Python
 * functions become frames, so that a copy has the operator as its caller.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/import/import.h"

/* The name of a thread, or of a process (tid 0). Events of what it names may come later. */
struct label {
    int64_t pid;
    int64_t tid;
    char *name;
};

struct kineto {
    struct bp_trace *trace;
    struct label *labels;
    uint32_t label_count;
    uint64_t base; /* ns */
    uint64_t events;
    uint64_t cuda_calls;
    uint64_t broken;         /* events without what their kind needs */
    uint64_t timeless;       /* CUPTI had no time for them: both are 0 */
    uint64_t host_copies;    /* host to host: no device in it */
    uint64_t unknown_copies; /* of a direction that is not known here */
    int64_t pid;             /* of the first host event */
};

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A number, or a text that is one. Threads may be negative: half of a pthread_t. */
static bool read_whole(const json_t *value, int64_t *whole) {
    const char *text = json_string_value(value);
    char *end = NULL;
    double number = json_number_value(value);
    *whole = json_is_integer(value) ? json_integer_value(value) : 0;
    if (text)
        *whole = strtoll(text, &end, 10);
    else if (json_is_real(value) && number > -0x1p63 && number < 0x1p63)
        *whole = (int64_t)number;
    return text ? end != text && *end == 0 : json_is_number(value);
}

static uint64_t count_of(const json_t *value) {
    int64_t whole;
    return read_whole(value, &whole) && whole > 0 ? (uint64_t)whole : 0;
}

/* Microseconds. In nanoseconds a double would not do: 2^53 of them are 104 days. */
static bool read_time(const json_t *number, uint64_t *ns) {
    double value = json_number_value(number);
    if (!json_is_number(number) || !(value >= 0 && value < 0x1p53))
        return false;
    double whole = floor(value);
    *ns = (uint64_t)whole * 1000 + (uint64_t)((value - whole) * 1000 + 0.5);
    return true;
}

static bool is_one_of(const char *category, const char *const *names) {
    for (; *names; names++)
        if (strcasecmp(category, *names) == 0)
            return true;
    return false;
}

static void cut_end(char *text, const char *end) {
    size_t length = strlen(text);
    if (length > strlen(end) && strcmp(text + length - strlen(end), end) == 0)
        text[length - strlen(end)] = 0;
}

/* "lib/dsl.py" is module dsl, as is "lib/dsl/__init__.py", and on Windows with backslashes.
 * A new text. */
static char *name_module(const char *file) {
    char *path = bp_copy_text(file);
    for (char *c = path; *c; c++)
        *c = *c == '\\' ? '/' : *c;
    cut_end(path, "/__init__.py");
    cut_end(path, ".py");
    char *module = bp_copy_text(bp_base_name(path));
    free(path);
    return module;
}

/* "dsl.py(17): objects" is function objects of module dsl; "<built-in function len>" has no file.
 */
static uint32_t python_func(struct bp_trace *trace, const char *name) {
    const char *close = strstr(name, "): ");
    const char *open = close;
    while (open && open > name && *open != '(')
        open--;
    if (!open || *open != '(') {
        struct bp_trace_function func = {(char *)name, "", "", "", 0, BP_FUNC_CALL, 0};
        return bp_trace_function(trace, &func);
    }
    char *file = bp_make_text("%.*s", (int)(open - name), name);
    char *module = name_module(file);
    struct bp_trace_function func = {(char *)close + 3,        "",           file,          module,
                                     (uint32_t)atoi(open + 1), BP_FUNC_CALL, BP_FUNC_PYTHON};
    uint32_t number = bp_trace_function(trace, &func);
    free(module);
    free(file);
    return number;
}

static void take_frame(struct kineto *kineto, const json_t *event, uint64_t start, uint64_t end,
                       uint32_t func) {
    int64_t pid;
    int64_t tid;
    if (!read_whole(json_object_get(event, "pid"), &pid) ||
        !read_whole(json_object_get(event, "tid"), &tid)) {
        kineto->broken++;
        return;
    }
    if (kineto->pid == 0)
        kineto->pid = pid;
    struct bp_trace_frame frame = {
        .start = start,
        .end = end,
        .thread = bp_trace_thread(kineto->trace, pid, tid),
        .func = func,
        .correlation = count_of(json_object_get(json_object_get(event, "args"), "correlation")),
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

/* "Memcpy HtoD (Pageable -> Device)", and with ROCm once "CopyHostToDevice". false if it is no copy
 * of a device. */
static bool describe_copy(struct kineto *kineto, const char *name, struct bp_trace_work *work) {
    static const struct {
        const char *name;
        uint8_t direction;
    } names[] = {{"HtoD", BP_H2D},         {"HtoA", BP_H2D},         {"DtoH", BP_D2H},
                 {"AtoH", BP_D2H},         {"PtoP", BP_P2P},         {"DtoD", BP_D2D},
                 {"AtoA", BP_D2D},         {"AtoD", BP_D2D},         {"DtoA", BP_D2D},
                 {"HostToDevice", BP_H2D}, {"DeviceToHost", BP_D2H}, {"DeviceToDevice", BP_D2D}};
    size_t i = 0;
    while (i < sizeof(names) / sizeof(names[0]) && !strstr(name, names[i].name))
        i++;
    if (i == sizeof(names) / sizeof(names[0])) {
        (*(strstr(name, "HtoH") ? &kineto->host_copies : &kineto->unknown_copies))++;
        return false;
    }
    const char *open = strchr(name, '(');
    const char *arrow = strstr(name, "-> ");
    work->direction = names[i].direction;
    work->source = open ? memory_named(open + 1) : BP_MEMORY_UNKNOWN;
    work->target = arrow ? memory_named(arrow + 3) : BP_MEMORY_UNKNOWN;
    return true;
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
        .bytes = count_of(json_object_get(arguments, "bytes")),
        .correlation = count_of(json_object_get(arguments, "correlation")),
        .device = (uint32_t)count_of(device),
    };
    if (sort == KERNEL) {
        work.kernel = true;
        work.name = bp_trace_name(kineto->trace, name);
    } else if (sort == COPY) {
        if (!describe_copy(kineto, name, &work))
            return;
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
    uint64_t start;
    uint64_t time;
    if (strcmp(text_of(event, "ph"), "X") != 0)
        return;
    if (!read_time(json_object_get(event, "ts"), &start) ||
        !read_time(json_object_get(event, "dur"), &time)) {
        kineto->broken++;
        return;
    }
    if (start + time == 0) {
        kineto->timeless++;
        return;
    }
    uint64_t end = start + time;
    if (is_one_of(category, calls)) {
        kineto->cuda_calls++;
        take_frame(kineto, event, start, end, bp_trace_cuda_function(kineto->trace, name));
    } else if (strcasecmp(category, "python_function") == 0) {
        take_frame(kineto, event, start, end, python_func(kineto->trace, name));
    } else if (is_one_of(category, frames)) {
        struct bp_trace_function func = {(char *)name, "PyTorch", "", "", 0, BP_FUNC_CALL, 0};
        take_frame(kineto, event, start, end, bp_trace_function(kineto->trace, &func));
    } else if (strcasecmp(category, "kernel") == 0) {
        take_work(kineto, event, start, end, KERNEL);
    } else if (is_one_of(category, (const char *const[]){"gpu_memcpy", "Memcpy", NULL})) {
        take_work(kineto, event, start, end, COPY);
    } else if (is_one_of(category, (const char *const[]){"gpu_memset", "Memset", NULL})) {
        take_work(kineto, event, start, end, SET);
    }
}

static void take_label(struct kineto *kineto, const json_t *event) {
    bool process = strcmp(text_of(event, "name"), "process_name") == 0;
    bool thread = strcmp(text_of(event, "name"), "thread_name") == 0;
    if (strcmp(text_of(event, "ph"), "M") != 0 || !(process || thread))
        return;
    struct label label = {0};
    if (!read_whole(json_object_get(event, "pid"), &label.pid) ||
        (thread && !read_whole(json_object_get(event, "tid"), &label.tid)))
        return;
    label.name = bp_copy_text(text_of(json_object_get(event, "args"), "name"));
    *BP_APPEND(kineto->labels, kineto->label_count) = label;
}

static void name_all(struct kineto *kineto) {
    struct bp_trace *trace = kineto->trace;
    for (uint32_t i = 0; i < kineto->label_count; i++) {
        struct label *label = &kineto->labels[i];
        int64_t key[2] = {label->pid, label->tid};
        uint32_t thread = bp_keys_get(&trace->thread_table, key, sizeof(key));
        if (label->tid == 0 && label->pid == kineto->pid)
            snprintf(trace->executable, sizeof(trace->executable), "%s", label->name);
        else if (label->tid != 0 && thread != BP_KEYS_NONE)
            snprintf(trace->threads[thread].name, sizeof(trace->threads[thread].name), "%s",
                     label->name);
        free(label->name);
    }
    free(kineto->labels);
}

static void take_devices(struct bp_trace *trace, const json_t *list) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        struct bp_trace_device *device =
            bp_trace_device(trace, (uint32_t)count_of(json_object_get(item, "id")));
        free(device->name);
        device->name = bp_copy_text(text_of(item, "name"));
        device->memory = count_of(json_object_get(item, "totalGlobalMem"));
    }
}

static void take(void *data, const char *key, const json_t *value) {
    struct kineto *kineto = data;
    if (!key) {
        kineto->events++;
        take_event(kineto, value);
        take_label(kineto, value);
    } else if (strcmp(key, "deviceProperties") == 0) {
        take_devices(kineto->trace, value);
    } else if (strcmp(key, "baseTimeNanoseconds") == 0) {
        kineto->base = count_of(value);
    }
}

/* One process per file, unless somebody has put several together: of the work of the devices it is
 * not told whose it is. */
static void finish(struct kineto *kineto) {
    struct bp_trace *trace = kineto->trace;
    for (uint32_t i = 0; i < trace->work_count; i++)
        trace->works[i].process = (uint32_t)kineto->pid;
    bool mixed = false;
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        mixed |= trace->threads[i].process != (int32_t)kineto->pid;
        trace->threads[i].process = (int32_t)kineto->pid;
    }
    trace->pid = (int32_t)kineto->pid;
    trace->realtime = kineto->base + trace->start;
    snprintf(trace->command, sizeof(trace->command), "%s",
             trace->executable[0] ? trace->executable : "PyTorch");
    if (mixed)
        bp_trace_miss(trace, "calls of several processes in it, shown as one process");
    if (kineto->cuda_calls == 0)
        bp_trace_miss(trace, "no CUDA calls in it: the host time of copies is unknown");
    bp_trace_miss_count(trace, kineto->timeless, "events without a recorded time left out");
    bp_trace_miss_count(trace, kineto->broken, "events without time or thread left out");
    bp_trace_miss_count(trace, kineto->host_copies, "host-to-host copies left out");
    bp_trace_miss_count(trace, kineto->unknown_copies, "copies of an unknown direction left out");
}

int bp_import_kineto(struct bp_trace *trace, const char *path, struct bp_error *error) {
    struct kineto kineto = {.trace = trace};
    int result = bp_import_json(trace, path, take, &kineto, error);
    name_all(&kineto);
    if (result)
        return result;
    if (trace->frame_count + trace->work_count == 0)
        return bp_error_set(error, BP_FAILED,
                            "%s: %llu events, but none of the kinds that the PyTorch profiler "
                            "writes (cpu_op, cuda_runtime, kernel, gpu_memcpy)",
                            path, (unsigned long long)kineto.events);
    finish(&kineto);
    return 0;
}
