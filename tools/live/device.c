/* SPDX-License-Identifier: MIT
 *
 * Sums of copies and devices, and whose time the calls of CUDA were.
 */
#include "tools/live/device.h"

#include <string.h>

#define DEEPEST 1000 /* callers of a launch */

static void add_transfers(struct bp_live_devices *devices, const char *items, uint32_t count,
                          uint32_t size) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_transfer *transfer = (const void *)(items + (size_t)i * size);
        if (transfer->direction >= BP_DIRECTIONS)
            continue;
        devices->copies[transfer->direction].count += transfer->count;
        devices->copies[transfer->direction].bytes += transfer->bytes;
    }
}

static void add_devices(struct bp_live_devices *devices, const char *items, uint32_t count,
                        uint32_t size, double tick_s) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_device *device = (const void *)(items + (size_t)i * size);
        if (device->index >= BP_LIVE_DEVICES)
            continue;
        devices->busy_s[device->index] += (double)device->busy * tick_s;
        if (device->index >= devices->count)
            devices->count = device->index + 1;
    }
}

static struct bp_live_thread *thread_at(struct bp_live_thread *threads, uint32_t count,
                                        uint32_t slot, uint32_t node) {
    for (uint32_t i = 0; i < count; i++)
        if (threads[i].slot == slot)
            return node < threads[i].node_count && threads[i].nodes[node].function != BP_KEYS_NONE
                       ? &threads[i]
                       : NULL;
    return NULL;
}

/* From the category of the call to that of what it waited for; never more than there is. */
static void move(struct bp_live_thread *thread, const struct bp_live_view *view, uint32_t node,
                 enum bp_category to, double s) {
    uint32_t row = thread->nodes[node].function;
    double *from = &thread->now.category_s[view->functions->rows[row].category];
    s = s < *from ? s : *from;
    *from -= s;
    thread->now.category_s[to] += s;
}

static bool is_launched_by_dsl(const struct bp_live_view *view, const struct bp_live_thread *thread,
                               uint32_t node) {
    for (int depth = 0; depth < DEEPEST && node && node < thread->node_count; depth++) {
        uint32_t row = thread->nodes[node].function;
        if (row != BP_KEYS_NONE && view->functions->rows[row].category == BP_DSL)
            return true;
        node = thread->nodes[node].parent;
    }
    return false;
}

static void divide_splits(const struct bp_live_view *view, struct bp_live_thread *threads,
                          uint32_t thread_count, const char *items, uint32_t count, uint32_t size) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_split *split = (const void *)(items + (size_t)i * size);
        struct bp_live_thread *thread =
            thread_at(threads, thread_count, split->thread, split->node);
        if (thread)
            move(thread, view, split->node, BP_TRANSFER, (double)split->transfer * view->tick_s);
    }
}

static void divide_waits(const struct bp_live_view *view, struct bp_live_thread *threads,
                         uint32_t thread_count, const char *items, uint32_t count, uint32_t size) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_wait *wait = (const void *)(items + (size_t)i * size);
        struct bp_live_thread *thread = thread_at(threads, thread_count, wait->thread, wait->node);
        const struct bp_live_thread *launcher =
            thread_at(threads, thread_count, wait->launch_thread, wait->launch_node);
        if (thread && launcher && is_launched_by_dsl(view, launcher, wait->launch_node))
            move(thread, view, wait->node, BP_DSL, (double)wait->time * view->tick_s);
    }
}

void bp_live_devices_look(struct bp_live_devices *devices, const struct bp_live_view *view,
                          struct bp_live_thread *threads, uint32_t thread_count) {
    memset(devices, 0, sizeof(*devices));
    for (uint32_t i = 0; i < view->file->chunk_count; i++) {
        const struct bp_live_chunk *chunk = &view->file->chunks[i];
        size_t least = chunk->kind == BP_TRANSFERS ? offsetof(struct bp_transfer, call_time)
                       : chunk->kind == BP_DEVICES ? sizeof(struct bp_device)
                       : chunk->kind == BP_SPLITS  ? sizeof(struct bp_split)
                       : chunk->kind == BP_WAITS   ? sizeof(struct bp_wait)
                                                   : 0;
        uint32_t count;
        const char *items = least ? bp_live_file_items(view->file, chunk, least, &count) : NULL;
        if (!items)
            continue;
        if (chunk->kind == BP_TRANSFERS)
            add_transfers(devices, items, count, chunk->item_size);
        else if (chunk->kind == BP_DEVICES)
            add_devices(devices, items, count, chunk->item_size, view->tick_s);
        else if (chunk->kind == BP_SPLITS)
            divide_splits(view, threads, thread_count, items, count, chunk->item_size);
        else
            divide_waits(view, threads, thread_count, items, count, chunk->item_size);
    }
}

void bp_live_devices_add(struct bp_live_devices *sum, const struct bp_live_devices *more) {
    for (int i = 0; i < BP_DIRECTIONS; i++) {
        sum->copies[i].count += more->copies[i].count;
        sum->copies[i].bytes += more->copies[i].bytes;
    }
    for (uint32_t i = 0; i < more->count; i++)
        sum->busy_s[i] += more->busy_s[i];
    if (more->count > sum->count)
        sum->count = more->count;
}
