/* SPDX-License-Identifier: MIT
 *
 * Sums over the threads of a run. The wall is divided as the report divides it: a thread's part
 * among its categories in proportion to its busy time. What no thread has is the framework's: time
 * in which nobody was busy.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/live/look.h"

static bool read_text(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* The kernel's two clocks of a thread: on a CPU, and ready without one. */
static void read_clocks(struct bp_live_thread *thread, int32_t pid) {
    char path[80], text[96];
    unsigned long long on, ready;
    uint64_t now = bp_clock_ns(CLOCK_MONOTONIC);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, thread->tid);
    thread->cpu_s = thread->ready_s = -1;
    if (!read_text(path, text, sizeof(text)) || sscanf(text, "%llu %llu", &on, &ready) != 2)
        return;
    double s = 1e-9 * (double)(now - thread->clocks_ns);
    if (thread->clocks_ns && on >= thread->clocks[0] && ready >= thread->clocks[1]) {
        thread->cpu_s = 1e-9 * (double)(on - thread->clocks[0]) / s;
        thread->ready_s = 1e-9 * (double)(ready - thread->clocks[1]) / s;
    }
    thread->clocks[0] = on;
    thread->clocks[1] = ready;
    thread->clocks_ns = now;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, thread->tid);
    if (!thread->name[0] && read_text(path, text, sizeof(text)))
        sscanf(text, "%15[^\n]", thread->name);
}

void bp_look_read_clocks(struct bp_look *look) {
    for (uint32_t i = 0; i < look->process_count; i++) {
        struct bp_live_process *process = look->processes[i];
        for (uint32_t t = 0; t < process->thread_count; t++)
            if (process->threads[t].alive)
                read_clocks(&process->threads[t], process->pid);
    }
}

/* Divides a thread's part of the wall. */
static void add_times(struct bp_live_totals *totals, const struct bp_live_times *times) {
    double busy = bp_live_times_busy(times);
    totals->busy_s += busy;
    totals->waiting_s += times->waiting_s;
    totals->paused_s += times->paused_s;
    for (int i = 0; busy > 0 && i < BP_CATEGORIES; i++)
        totals->category_s[i] += times->wall_s * times->category_s[i] / busy;
}

static void add_process(struct bp_live_totals *start, struct bp_live_totals *interval,
                        const struct bp_live_process *process) {
    start->running += process->state == BP_LIVE_RUNS;
    start->lost += process->state == BP_LIVE_GONE && !process->seen;
    start->paused_s += process->paused_idle_s;
    start->processes += process->state != BP_LIVE_REPLACED;
    for (uint32_t i = 0; i < process->thread_count; i++) {
        const struct bp_live_thread *thread = &process->threads[i];
        struct bp_live_times times = bp_live_thread_interval(thread);
        add_times(start, &thread->now);
        add_times(interval, &times);
        start->threads++;
        start->alive += thread->alive;
        if (thread->alive && thread->ready_s >= 0)
            interval->ready_s = (interval->ready_s < 0 ? 0 : interval->ready_s) + thread->ready_s;
    }
}

/* The wall from the page's beginning to now, or to the end of the run. */
static double wall_of(const struct bp_look *look, const struct bp_tree *tree) {
    const struct bp_live_file *root = bp_look_root(look);
    const struct bp_header *header = root ? bp_live_file_header(root) : NULL;
    if (!header || !tree)
        return 0;
    struct bp_clock_pair now = bp_clock_pair_now(header->clock);
    double s = 1e-9 * (double)(now.monotonic_ns - header->first.monotonic_ns);
    double ticks = (double)(now.ticks - header->first.ticks);
    uint64_t end = tree->closed ? tree->closed : now.ticks;
    return end > tree->start && ticks > 0 ? (double)(end - tree->start) * s / ticks : 0;
}

/* Parts of the wall may be a little more than it: the looks at threads are not at one instant. */
static void give_rest(struct bp_live_totals *totals) {
    double named = totals->category_s[BP_DSL] + totals->category_s[BP_TRANSFER];
    double most = totals->wall_s > named ? totals->wall_s - named : 0;
    totals->paused_s = totals->paused_s < most ? totals->paused_s : most;
    totals->category_s[BP_FRAMEWORK] = most - totals->paused_s;
    if (named > totals->wall_s)
        totals->wall_s = named;
}

void bp_look_sum(struct bp_look *look, const struct bp_tree *tree, uint64_t now_ns) {
    struct bp_live_totals start = {0}, interval = {.ready_s = -1};
    look->devices_before = look->devices;
    look->devices = (struct bp_live_devices){0};
    for (uint32_t i = 0; i < look->process_count; i++) {
        add_process(&start, &interval, look->processes[i]);
        bp_live_devices_add(&look->devices, &look->processes[i]->devices);
    }
    double before_s = look->since_start.wall_s, paused_s = look->since_start.paused_s;
    start.wall_s = wall_of(look, tree);
    interval.wall_s = tree ? start.wall_s - before_s : 1e-9 * (double)(now_ns - look->looked_ns);
    interval.paused_s = start.paused_s > paused_s ? start.paused_s - paused_s : 0;
    if (!look->looks || interval.wall_s < 0)
        interval = (struct bp_live_totals){.ready_s = -1};
    give_rest(&start);
    give_rest(&interval);
    look->since_start = start;
    look->interval = interval;
    look->looked_ns = now_ns;
}
