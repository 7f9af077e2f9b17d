/* SPDX-License-Identifier: MIT
 *
 * Writes a trace as a profile, chunk by chunk into memory and then as one file: the target's writer
 * is of no use here, it maps a file that it keeps open. The clock is one of nanoseconds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/memory.h"
#include "tools/trace.h"

/* Where a target would have had the file; entries point to nodes by such addresses. */
#define ADDRESS UINT64_C(0x100000000)

struct image {
    char *data;
    size_t size;
    char *strings;
    size_t string_size;
    struct bp_table string_table;
    uint32_t *string_places; /* by number in the table */
    uint32_t string_count;
};

static void grow(char **data, size_t *size, size_t more) {
    *data = realloc(*data, *size + more);
    if (!*data) {
        fputs("battprof: out of memory\n", stderr);
        _exit(1);
    }
    memset(*data + *size, 0, more);
    *size += more;
}

/* Place of a copy of the text among the strings; 0 is "". */
static uint32_t put_string(struct image *image, const char *text) {
    size_t length = strlen(text);
    if (length == 0)
        return 0;
    uint32_t number = bp_table_put(&image->string_table, text, length);
    if (number < image->string_count)
        return image->string_places[number];
    uint32_t *place = BP_APPEND(image->string_places, image->string_count);
    *place = (uint32_t)image->string_size;
    grow(&image->strings, &image->string_size, length + 1);
    memcpy(image->strings + *place, text, length);
    return *place;
}

static void add_chunk(struct image *image, enum bp_chunk_kind kind, uint32_t thread,
                      const void *items, size_t item_size, uint32_t count) {
    size_t offset = image->size;
    size_t bytes = sizeof(struct bp_chunk) + item_size * count;
    if (count == 0)
        return;
    grow(&image->data, &image->size, (bytes + BP_PAGE - 1) / BP_PAGE * BP_PAGE);
    struct bp_chunk head = {
        .magic = BP_CHUNK_MAGIC,
        .kind = (uint16_t)kind,
        .item_size = (uint16_t)item_size,
        .size = image->size - offset,
        .address = ADDRESS + offset,
        .thread = thread,
        .capacity = count,
        .count = count,
    };
    memcpy(image->data + offset, &head, sizeof(head));
    memcpy(image->data + offset + sizeof(head), items, item_size * count);
}

static void add_threads(struct image *image, const struct bp_trace *trace) {
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
        add_chunk(image, BP_NODES, i, from->nodes, sizeof(*from->nodes), from->node_count);
    }
    add_chunk(image, BP_THREADS, BP_NO_THREAD, threads, sizeof(*threads), trace->thread_count);
    free(threads);
}

static uint32_t find_object(struct image *image, struct bp_object *objects, uint32_t *count,
                            const char *library) {
    if (!library[0])
        return BP_NO_OBJECT;
    uint32_t name = put_string(image, library);
    for (uint32_t i = 0; i < *count; i++)
        if (objects[i].path == name)
            return i;
    objects[*count] = (struct bp_object){.path = name, .soname = name};
    return (*count)++;
}

static void add_funcs(struct image *image, const struct bp_trace *trace) {
    struct bp_func *funcs = bp_alloc(trace->func_count, sizeof(*funcs));
    struct bp_object *objects = bp_alloc(trace->func_count, sizeof(*objects));
    uint32_t object_count = 0;
    for (uint32_t i = 0; i < trace->func_count; i++) {
        const struct bp_trace_func *from = &trace->funcs[i];
        funcs[i] = (struct bp_func){
            .name = put_string(image, from->name),
            .object = find_object(image, objects, &object_count, from->library),
            .kind = from->kind,
            .flags = from->flags,
            .module = put_string(image, from->module),
            .file = put_string(image, from->file),
            .line = from->line,
        };
    }
    add_chunk(image, BP_OBJECTS, BP_NO_THREAD, objects, sizeof(*objects), object_count);
    add_chunk(image, BP_FUNCS, BP_NO_THREAD, funcs, sizeof(*funcs), trace->func_count);
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
        uint64_t rate = (uint64_t)((double)work->bytes * 1e9 / (double)time);
        if (work->bytes >= BP_LARGE_COPY && !large[direction]) {
            large[direction] = true;
            device->best[direction] = 0;
        }
        if (large[direction] == (work->bytes >= BP_LARGE_COPY) && rate > device->best[direction])
            device->best[direction] = rate;
    }
}

static void add_devices(struct image *image, const struct bp_trace *trace) {
    struct bp_device *devices = bp_alloc(trace->device_count, sizeof(*devices));
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct bp_trace_device *from = &trace->devices[i];
        uint32_t slot = from->index < BP_ATTRIBUTE_DEVICES ? from->index : BP_ATTRIBUTE_DEVICES - 1;
        devices[i] = (struct bp_device){
            .index = from->index,
            .name = put_string(image, from->name ? from->name : ""),
            .memory = from->memory,
            .busy = trace->sums.busy[slot].any,
            .busy_copy = trace->sums.busy[slot].copy,
            .busy_compute = trace->sums.busy[slot].compute,
        };
        measure_device(trace, &devices[i]);
    }
    add_chunk(image, BP_DEVICES, BP_NO_THREAD, devices, sizeof(*devices), trace->device_count);
    free(devices);
}

static void add_sums(struct image *image, struct bp_trace *trace, const char *source) {
    struct bp_trace_sums *sums = &trace->sums;
    for (uint32_t i = 0; i < sums->kernel_count; i++)
        sums->kernels[i].name = put_string(image, trace->names[sums->kernels[i].name]);
    add_chunk(image, BP_TRANSFERS, BP_NO_THREAD, sums->transfers, sizeof(*sums->transfers),
              sums->transfer_count);
    add_chunk(image, BP_KERNELS, BP_NO_THREAD, sums->kernels, sizeof(*sums->kernels),
              sums->kernel_count);
    add_chunk(image, BP_SPLITS, BP_NO_THREAD, sums->splits, sizeof(*sums->splits),
              sums->split_count);
    add_chunk(image, BP_WAITS, BP_NO_THREAD, sums->waits, sizeof(*sums->waits), sums->wait_count);
    struct bp_collector collector = {
        .state = BP_COLLECTOR_IMPORTED,
        .mode = BP_CUDA_FULL,
        .records = trace->work_count,
        .unmatched = sums->unmatched,
        .flushed = trace->end,
    };
    snprintf(collector.library, sizeof(collector.library), "%s", source);
    int length = snprintf(collector.reason, sizeof(collector.reason), "%s", trace->missing);
    if (length >= (int)sizeof(collector.reason))
        memcpy(collector.reason + sizeof(collector.reason) - 4, "...", 4);
    add_chunk(image, BP_COLLECTOR, BP_NO_THREAD, &collector, sizeof(collector), 1);
}

static struct bp_clock_pair clock_pair(const struct bp_trace *trace, uint64_t time) {
    uint64_t realtime = trace->realtime ? trace->realtime + (time - trace->start) : time;
    return (struct bp_clock_pair){time, time, realtime};
}

static void fill_header(struct image *image, const struct bp_trace *trace) {
    struct bp_header *header = (struct bp_header *)image->data;
    memcpy(header->magic, BP_MAGIC, sizeof(header->magic));
    header->major = BP_MAJOR;
    header->minor = BP_MINOR;
    header->header_size = BP_PAGE;
    header->byte_order = BP_BYTE_ORDER;
    header->clock = BP_CLOCK_MONOTONIC;
    header->state = BP_EXITED;
    header->pid = trace->pid;
    header->exit_status = -1;
    header->used = image->size;
    header->ticks_per_s = 1000000000;
    header->first = clock_pair(trace, trace->start);
    header->last = clock_pair(trace, trace->end);
    header->start = trace->start;
    header->end = trace->end;
    snprintf(header->executable, sizeof(header->executable), "%s", trace->executable);
    snprintf(header->command, sizeof(header->command), "%s", trace->command);
    snprintf(header->version, sizeof(header->version), "%s", BP_VERSION);
}

static int save(const struct image *image, const char *path, struct bp_error *error) {
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
    struct image image = {0};
    bp_trace_place_frames(trace);
    bp_trace_attribute(trace);
    grow(&image.data, &image.size, BP_PAGE);
    grow(&image.strings, &image.string_size, 1);
    add_threads(&image, trace);
    add_funcs(&image, trace);
    add_devices(&image, trace);
    add_sums(&image, trace, source);
    add_chunk(&image, BP_STRINGS, BP_NO_THREAD, image.strings, 1, (uint32_t)image.string_size);
    fill_header(&image, trace);
    int result = save(&image, path, error);
    free(image.data);
    free(image.strings);
    free(image.string_places);
    bp_table_fini(&image.string_table);
    return result;
}
