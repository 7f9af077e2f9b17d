/* SPDX-License-Identifier: MIT
 *
 * Filling a trace: functions, threads and names are numbered as they come.
 */
#include "tools/import/trace.h"

#include "tools/base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

void bp_trace_init(struct bp_trace *trace) {
    *trace = (struct bp_trace){.start = UINT64_MAX};
    bp_trace_function(trace, &(struct bp_trace_function){"", "", "", "", 0, BP_FUNC_ROOT, 0});
    bp_trace_function(trace, &(struct bp_trace_function){"", "", "", "", 0, BP_FUNC_FOLDED, 0});
}

void bp_trace_fini(struct bp_trace *trace) {
    for (uint32_t i = 0; i < trace->func_count; i++) {
        free(trace->funcs[i].name);
        free(trace->funcs[i].library);
        free(trace->funcs[i].file);
        free(trace->funcs[i].module);
    }
    for (uint32_t i = 0; i < trace->thread_count; i++)
        free(trace->threads[i].nodes);
    for (uint32_t i = 0; i < trace->device_count; i++)
        free(trace->devices[i].name);
    for (uint32_t i = 0; i < trace->name_count; i++)
        free(trace->names[i]);
    free(trace->funcs);
    free(trace->frames);
    free(trace->works);
    free(trace->threads);
    free(trace->devices);
    free(trace->names);
    free(trace->sums.transfers);
    free(trace->sums.kernels);
    free(trace->sums.splits);
    free(trace->sums.waits);
    bp_text_fini(&trace->missing);
    bp_keys_fini(&trace->function_table);
    bp_keys_fini(&trace->thread_table);
    bp_keys_fini(&trace->name_table);
}

uint32_t bp_trace_function(struct bp_trace *trace, const struct bp_trace_function *func) {
    char *key = bp_make_text("%u:%u:%u:%s:%s:%s:%s", func->kind, func->flags, func->line,
                             func->library, func->module, func->file, func->name);
    uint32_t number = bp_keys_put(&trace->function_table, key, strlen(key));
    free(key);
    if (number < trace->func_count)
        return number;
    struct bp_trace_function *fresh = BP_APPEND(trace->funcs, trace->func_count);
    *fresh = *func;
    fresh->name = bp_copy_text(func->name);
    fresh->library = bp_copy_text(func->library);
    fresh->file = bp_copy_text(func->file);
    fresh->module = bp_copy_text(func->module);
    return number;
}

uint32_t bp_trace_cuda_function(struct bp_trace *trace, const char *name) {
    bool runtime = strncmp(name, "cuda", 4) == 0;
    const char *library = runtime                        ? "libcudart"
                          : strncmp(name, "hip", 3) == 0 ? "libamdhip64"
                                                         : "libcuda";
    char *plain = bp_copy_text(name);
    char *version = strstr(plain, "_v");
    size_t digits = version ? strspn(version + 2, "0123456789") : 0;
    /* cuMemcpyHtoD_v2 is the driver's own name, cudaMemcpy_v3020 that of a CUPTI callback. */
    if (runtime && digits >= 4 && version[2 + digits] == 0)
        *version = 0;
    struct bp_trace_function func = {plain, (char *)library, "", "", 0, BP_FUNC_CALL, BP_FUNC_CUDA};
    uint32_t number = bp_trace_function(trace, &func);
    free(plain);
    return number;
}

uint32_t bp_trace_thread(struct bp_trace *trace, int64_t process, int64_t tid) {
    int64_t key[2] = {process, tid};
    uint32_t number = bp_keys_put(&trace->thread_table, key, sizeof(key));
    if (number < trace->thread_count)
        return number;
    struct bp_trace_thread *fresh = BP_APPEND(trace->threads, trace->thread_count);
    fresh->process = (int32_t)process;
    fresh->tid = (int32_t)tid;
    fresh->main = process == tid;
    fresh->start = UINT64_MAX;
    return number;
}

uint32_t bp_trace_name(struct bp_trace *trace, const char *name) {
    uint32_t number = bp_keys_put(&trace->name_table, name, strlen(name));
    if (number == trace->name_count)
        *BP_APPEND(trace->names, trace->name_count) = bp_copy_text(name);
    return number;
}

struct bp_trace_device *bp_trace_device(struct bp_trace *trace, uint32_t index) {
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].index == index)
            return &trace->devices[i];
    struct bp_trace_device *fresh = BP_APPEND(trace->devices, trace->device_count);
    fresh->index = index;
    return fresh;
}

static void span(struct bp_trace *trace, uint64_t start, uint64_t end) {
    if (start < trace->start)
        trace->start = start;
    if (end > trace->end)
        trace->end = end;
}

/* Python calls operators, these the CUDA runtime, and that the driver. */
static uint32_t layer_of(const struct bp_trace_function *func) {
    if (func->flags & BP_FUNC_CUDA)
        return strcmp(func->library, "libcuda") == 0 ? 3 : 2;
    return func->library[0] ? 1 : 0;
}

void bp_trace_frame(struct bp_trace *trace, const struct bp_trace_frame *frame) {
    struct bp_trace_thread *thread = &trace->threads[frame->thread];
    if (frame->end < frame->start)
        return;
    struct bp_trace_frame *fresh = BP_APPEND(trace->frames, trace->frame_count);
    *fresh = *frame;
    fresh->layer = layer_of(&trace->funcs[frame->func]);
    if (frame->start < thread->start)
        thread->start = frame->start;
    if (frame->end > thread->end)
        thread->end = frame->end;
    span(trace, frame->start, frame->end);
}

void bp_trace_work(struct bp_trace *trace, const struct bp_trace_work *work) {
    if (work->end < work->start)
        return;
    struct bp_trace_work *fresh = BP_APPEND(trace->works, trace->work_count);
    *fresh = *work;
    bp_trace_device(trace, work->device);
    span(trace, work->start, work->end);
    if (work->kernel)
        return;
    /* Through the host for want of peer access: two records, but one copy, between devices. */
    bool between = work->source == BP_MEMORY_DEVICE && work->target == BP_MEMORY_DEVICE;
    if (!between || work->direction > BP_D2H)
        return;
    fresh->second = work->direction == BP_H2D;
    fresh->direction = BP_P2P;
}

void bp_trace_miss(struct bp_trace *trace, const char *format, ...) {
    va_list arguments;
    if (trace->missing.length > 0)
        bp_text_add(&trace->missing, "; ");
    va_start(arguments, format);
    bp_text_add_list(&trace->missing, format, arguments);
    va_end(arguments);
}

void bp_trace_miss_count(struct bp_trace *trace, uint64_t count, const char *what) {
    if (count)
        bp_trace_miss(trace, "%llu %s", (unsigned long long)count, what);
}
