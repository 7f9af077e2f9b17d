/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as a profile, chunk by chunk into memory and then as one file. The clock is one of
 * nanoseconds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/header.h"
#include "profile/image.h"
#include "tools/base/memory.h"
#include "tools/import/trace.h"

/* Where a target would have had the file; entries point to nodes by such addresses. */
#define ADDRESS UINT64_C(0x100000000)

struct output {
    struct bp_image image;
    char *strings;
    size_t string_size;
    struct bp_keys string_table;
    uint32_t *string_places; /* by number in the table */
    uint32_t string_count;
};

/* Place of a copy of the text among the strings; 0 is "". */
static uint32_t put_string(struct output *output, const char *text) {
    size_t length = strlen(text);
    if (length == 0)
        return 0;
    uint32_t number = bp_keys_put(&output->string_table, text, length);
    if (number < output->string_count)
        return output->string_places[number];
    uint32_t *place = BP_APPEND(output->string_places, output->string_count);
    *place = (uint32_t)output->string_size;
    output->string_size += length + 1;
    output->strings = bp_resize(output->strings, output->string_size, 1);
    memcpy(output->strings + *place, text, length + 1);
    return *place;
}

static void add(struct output *output, enum bp_chunk_kind kind, uint32_t thread, const void *items,
                uint32_t count) {
    if (count)
        bp_image_add(&output->image, kind, thread, items, count);
}

static void add_threads(struct output *output, const struct bp_trace *trace) {
    struct bp_thread *threads = bp_alloc(trace->thread_count, sizeof(*threads));
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        const struct bp_trace_thread *from = &trace->threads[i];
        struct bp_thread *thread = &threads[i];
        thread->index = i;
        thread->tid = from->tid;
        thread->state = BP_THREAD_ENDED;
        thread->lives = 1;
        thread->start = thread->root.start = from->start;
        thread->end = from->end;
        memcpy(thread->name, from->name, sizeof(thread->name));
        add(output, BP_NODES, i, from->nodes, from->node_count);
    }
    add(output, BP_THREADS, BP_NO_THREAD, threads, trace->thread_count);
    free(threads);
}

static uint32_t find_object(struct output *output, struct bp_object *objects, uint32_t *count,
                            const char *library) {
    if (!library[0])
        return BP_NO_OBJECT;
    uint32_t name = put_string(output, library);
    for (uint32_t i = 0; i < *count; i++)
        if (objects[i].path == name)
            return i;
    objects[*count] = (struct bp_object){.path = name, .soname = name};
    return (*count)++;
}

static void add_funcs(struct output *output, const struct bp_trace *trace) {
    struct bp_func *funcs = bp_alloc(trace->func_count, sizeof(*funcs));
    struct bp_object *objects = bp_alloc(trace->func_count, sizeof(*objects));
    uint32_t object_count = 0;
    for (uint32_t i = 0; i < trace->func_count; i++) {
        const struct bp_trace_function *from = &trace->funcs[i];
        funcs[i] = (struct bp_func){
            .name = put_string(output, from->name),
            .object = find_object(output, objects, &object_count, from->library),
            .kind = from->kind,
            .flags = from->flags,
            .module = put_string(output, from->module),
            .file = put_string(output, from->file),
            .line = from->line,
        };
    }
    add(output, BP_OBJECTS, BP_NO_THREAD, objects, object_count);
    add(output, BP_FUNCS, BP_NO_THREAD, funcs, trace->func_count);
    free(funcs);
    free(objects);
}

/* The fastest copy of each direction, and the shortest tiny ones. */
static void measure_device(const struct bp_trace *trace, struct bp_device *device) {
    bool large[BP_DIRECTIONS] = {false};
    for (uint32_t i = 0; i < trace->work_count; i++) {
        const struct bp_trace_work *work = &trace->works[i];
        uint64_t time = work->end - work->start;
        if (work->kernel || work->device != device->index || time == 0)
            continue;
        unsigned direction = work->direction;
        bool pageable = work->source == BP_MEMORY_PAGEABLE || work->target == BP_MEMORY_PAGEABLE;
        uint64_t *latency =
            pageable ? &device->latency_pageable[direction] : &device->latency_pinned[direction];
        if (work->bytes <= BP_TINY_COPY && (*latency == 0 || time < *latency))
            *latency = time;
        double bytes_s = (double)work->bytes * 1e9 / (double)time;
        uint64_t rate = bytes_s < 1e19 ? (uint64_t)bytes_s : 0; /* the sizes of a damaged trace */
        if (work->bytes >= BP_LARGE_COPY && !large[direction]) {
            large[direction] = true;
            device->best[direction] = 0;
        }
        if (large[direction] == (work->bytes >= BP_LARGE_COPY) && rate > device->best[direction])
            device->best[direction] = rate;
    }
}

static void add_devices(struct output *output, const struct bp_trace *trace) {
    struct bp_device *devices = bp_alloc(trace->device_count, sizeof(*devices));
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct bp_trace_device *from = &trace->devices[i];
        uint32_t slot = from->index < BP_ATTRIBUTE_DEVICES ? from->index : BP_ATTRIBUTE_DEVICES - 1;
        devices[i] = (struct bp_device){
            .index = from->index,
            .name = put_string(output, from->name ? from->name : ""),
            .memory = from->memory,
            .busy = trace->sums.busy[slot].any,
            .busy_copy = trace->sums.busy[slot].copy,
            .busy_compute = trace->sums.busy[slot].compute,
        };
        measure_device(trace, &devices[i]);
    }
    add(output, BP_DEVICES, BP_NO_THREAD, devices, trace->device_count);
    free(devices);
}

static void add_sums(struct output *output, struct bp_trace *trace, const char *source) {
    struct bp_trace_sums *sums = &trace->sums;
    for (uint32_t i = 0; i < sums->kernel_count; i++)
        sums->kernels[i].name = put_string(output, trace->names[sums->kernels[i].name]);
    add(output, BP_TRANSFERS, BP_NO_THREAD, sums->transfers, sums->transfer_count);
    add(output, BP_KERNELS, BP_NO_THREAD, sums->kernels, sums->kernel_count);
    add(output, BP_SPLITS, BP_NO_THREAD, sums->splits, sums->split_count);
    add(output, BP_WAITS, BP_NO_THREAD, sums->waits, sums->wait_count);
    struct bp_collector collector = {
        .state = BP_COLLECTOR_IMPORTED,
        .mode = BP_CUDA_FULL,
        .records = trace->work_count,
        .unmatched = sums->unmatched,
        .flushed = trace->end,
    };
    snprintf(collector.library, sizeof(collector.library), "%s", source);
    int length =
        snprintf(collector.reason, sizeof(collector.reason), "%s", bp_text_get(&trace->missing));
    if (length >= (int)sizeof(collector.reason))
        memcpy(collector.reason + sizeof(collector.reason) - 4, "...", 4);
    add(output, BP_COLLECTOR, BP_NO_THREAD, &collector, 1);
}

static struct bp_clock_pair clock_pair(const struct bp_trace *trace, uint64_t time) {
    uint64_t realtime = trace->realtime ? trace->realtime + (time - trace->start) : time;
    return (struct bp_clock_pair){time, time, realtime};
}

static void fill_header(struct bp_header *header, const struct bp_trace *trace) {
    bp_header_begin(header, BP_CLOCK_MONOTONIC);
    header->state = BP_EXITED;
    header->pid = trace->pid;
    header->ticks_per_s = 1000000000;
    header->first = clock_pair(trace, trace->start);
    header->last = clock_pair(trace, trace->end);
    header->start = trace->start;
    header->end = trace->end;
    snprintf(header->executable, sizeof(header->executable), "%s", trace->executable);
    snprintf(header->command, sizeof(header->command), "%s", trace->command);
    bp_header_publish(header);
}

static int save(const struct bp_image *image, const char *path, struct bp_error *error) {
    FILE *file = fopen(path, "wbe");
    if (!file)
        return bp_error_set(error, BP_FAILED, "%s: %s; choose another place with -o", path,
                            strerror(errno));
    size_t written = fwrite(image->data, 1, image->size, file);
    if (fclose(file) == 0 && written == image->size)
        return 0;
    int result = bp_error_set(error, BP_FAILED, "%s: %s; choose another place with -o", path,
                              strerror(errno));
    unlink(path);
    return result;
}

int bp_trace_write(struct bp_trace *trace, const char *source, const char *path,
                   struct bp_error *error) {
    struct output output = {0};
    bp_image_init(&output.image, ADDRESS);
    bp_trace_place_frames(trace);
    bp_trace_attribute(trace);
    output.strings = bp_alloc(output.string_size = 1, 1);
    add_threads(&output, trace);
    add_funcs(&output, trace);
    add_devices(&output, trace);
    add_sums(&output, trace, source);
    add(&output, BP_STRINGS, BP_NO_THREAD, output.strings, (uint32_t)output.string_size);
    int result = output.image.error;
    if (result) {
        bp_error_set(error, BP_FAILED, "%s: no memory for the profile", source);
    } else {
        fill_header((struct bp_header *)output.image.data, trace);
        result = save(&output.image, path, error);
    }
    bp_image_fini(&output.image);
    free(output.strings);
    free(output.string_places);
    bp_keys_fini(&output.string_table);
    return result;
}
