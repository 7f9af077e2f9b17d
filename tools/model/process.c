/* SPDX-License-Identifier: MIT
 *
 * When processes began and ended, in seconds. A process that was killed says nothing about its end;
 * its parent's wait does, and failing that the last trace in its file.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/runs.h"
#include "tools/model/internal.h"

/* Two clock pairs closer than this give a worse rate than the constructor's estimate. */
#define SHORTEST_PAIR_NS 10000000u

/* Pids and ticks are those of one machine. */
struct reaped_item {
    struct bp_reaped record;
    const char *boot_id;
};

struct reaped_list {
    struct reaped_item *items; /* by machine, pid, ticks */
    uint32_t count;
};

static uint64_t pair_length(const struct bp_header *header) {
    if (header->last.monotonic_ns <= header->first.monotonic_ns ||
        header->last.ticks <= header->first.ticks)
        return 0;
    return header->last.monotonic_ns - header->first.monotonic_ns;
}

static double own_tick(const struct bp_header *header) {
    uint64_t length = pair_length(header);
    if (header->clock == BP_CLOCK_MONOTONIC)
        return 1e-9;
    if (length >= SHORTEST_PAIR_NS)
        return 1e-9 * (double)length / (double)(header->last.ticks - header->first.ticks);
    return header->ticks_per_s ? 1 / (double)header->ticks_per_s : 1e-9;
}

static void keep_longer(const struct bp_header **best, const struct bp_model_process *list,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_header *header = &list[i].profile->header;
        if (!*best || pair_length(header) > pair_length(*best))
            *best = header;
    }
}

static void set_ticks(struct bp_model_process *list, uint32_t count, const struct bp_header *best) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_header *header = &list[i].profile->header;
        bool same = header->clock == best->clock && strcmp(header->boot_id, best->boot_id) == 0;
        list[i].tick_s = own_tick(same ? best : header);
    }
}

/* One rate for all processes of a machine, from the longest pair: parts that are added up must be
 * measured with the same clock. */
static void settle_ticks(struct bp_model *model) {
    const struct bp_header *best = NULL;
    keep_longer(&best, model->sessions, model->session_count);
    keep_longer(&best, model->processes, model->process_count);
    set_ticks(model->sessions, model->session_count, best);
    set_ticks(model->processes, model->process_count, best);
    model->run.tick_s = own_tick(best);
    model->run.clock_assumed =
        best->clock == BP_CLOCK_TSC && pair_length(best) < SHORTEST_PAIR_NS && !best->ticks_per_s;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ticks(const struct bp_header *header) {
#ifdef __x86_64__
    if (header->clock == BP_CLOCK_TSC)
        return __builtin_ia32_rdtsc();
#endif
    return header->clock == BP_CLOCK_MONOTONIC ? clock_ns(CLOCK_MONOTONIC) : 0;
}

static int compare_reaped(const void *a, const void *b) {
    const struct reaped_item *x = a;
    const struct reaped_item *y = b;
    int boot = strcmp(x->boot_id, y->boot_id);
    if (boot)
        return boot;
    if (x->record.pid != y->record.pid)
        return x->record.pid < y->record.pid ? -1 : 1;
    return x->record.ticks < y->record.ticks ? -1 : x->record.ticks > y->record.ticks;
}

static void collect(struct reaped_list *list, const struct bp_model_process *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < from[i].profile->reaped_count; k++) {
            struct reaped_item *item = BP_APPEND(list->items, list->count);
            item->record = from[i].profile->reaped[k];
            item->boot_id = from[i].profile->header.boot_id;
        }
}

/* The first wait that returned this pid after the process began; NULL if nobody waited. */
static const struct bp_reaped *find_reaped(const struct reaped_list *list,
                                           const struct bp_header *header) {
    struct reaped_item wanted = {{.pid = header->pid, .ticks = header->start}, header->boot_id};
    uint32_t low = 0;
    uint32_t high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_reaped(&list->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < list->count && list->items[low].record.pid == header->pid &&
                 strcmp(list->items[low].boot_id, header->boot_id) == 0;
    return found ? &list->items[low].record : NULL;
}

static void settle_status(struct bp_model_process *process, const struct bp_reaped *reaped) {
    const struct bp_header *header = &process->profile->header;
    process->exit_status =
        header->state == BP_EXITED && header->exit_status != -1 ? header->exit_status & 0xff : -1;
    if (!reaped || header->state == BP_EXECED)
        return;
    if (WIFEXITED(reaped->status))
        process->exit_status = WEXITSTATUS(reaped->status);
    else if (WIFSIGNALED(reaped->status))
        process->signal = WTERMSIG(reaped->status);
    process->ended_by_parent = process->signal && reaped->sent == (uint32_t)process->signal;
    if (process->signal)
        process->exit_status = 128 + process->signal;
}

static void settle_end(struct bp_model_process *process, const struct bp_reaped *reaped) {
    const struct bp_header *header = &process->profile->header;
    process->end = header->end;
    process->end_v = header->end_v;
    if (header->state == BP_EXITED || header->state == BP_EXECED) {
        if (header->end < header->start)
            process->end = header->start;
        return;
    }
    process->live = !reaped && bp_runs_is_alive(header);
    process->killed = !process->live;
    process->end_v = reaped ? reaped->v : 0;
    if (reaped)
        process->end = reaped->ticks;
    else if (process->live)
        process->end = now_ticks(header);
    else
        process->end = process->profile->latest;
    process->end_estimated = !reaped && !process->live;
    if (process->end < header->start)
        process->end = header->start;
}

static void settle_list(struct bp_model_process *list, uint32_t count,
                        const struct reaped_list *reaped) {
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_reaped *record = find_reaped(reaped, &list[i].profile->header);
        settle_status(&list[i], record);
        settle_end(&list[i], record);
        list[i].lifetime_s = (double)(list[i].end - list[i].profile->header.start) * list[i].tick_s;
    }
}

/* The target that `battprof run` started is what the user means by the exit status. */
static void settle_run(struct bp_model *model) {
    const struct bp_model_process *first = model->process_count ? &model->processes[0] : NULL;
    const struct bp_model_process *last = first;
    const struct bp_model_process *session = model->session_count ? &model->sessions[0] : NULL;
    for (uint32_t i = 1; i < model->process_count; i++)
        if (model->processes[i].profile->header.pid == first->profile->header.pid &&
            strcmp(model->processes[i].profile->header.boot_id, first->profile->header.boot_id) ==
                0)
            last = &model->processes[i];
    model->run.command = (session ? session : first)->profile->header.command;
    model->run.began_ns = (session ? session : first)->profile->header.first.realtime_ns;
    model->run.exit_status = last ? last->exit_status : session->exit_status;
    model->run.signal = last ? last->signal : 0;
    model->run.live = last ? last->live : session->live;
    if (!session || session->profile->reaped_count == 0)
        return;
    struct bp_model_process target = *session;
    target.signal = 0;
    settle_status(&target, &session->profile->reaped[session->profile->reaped_count - 1]);
    model->run.exit_status = target.exit_status;
    model->run.signal = target.signal;
    for (uint32_t i = 1; i < model->session_count; i++) /* of runs side by side the worst */
        if (model->sessions[i].exit_status > model->run.exit_status)
            model->run.exit_status = model->sessions[i].exit_status;
}

struct image_key {
    char boot_id[sizeof(((struct bp_header *)0)->boot_id)];
    int32_t pid;
    uint32_t image;
};

static struct image_key make_image_key(const struct bp_header *header, uint32_t image) {
    struct image_key key;
    memset(&key, 0, sizeof(key));
    snprintf(key.boot_id, sizeof(key.boot_id), "%s", header->boot_id);
    key.pid = header->pid;
    key.image = image;
    return key;
}

/* An image counts only if the one before it is not here. */
static void count_pids(struct bp_model *model) {
    struct bp_keys images = {0};
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        struct image_key key = make_image_key(header, header->image);
        bp_keys_put(&images, &key, sizeof(key));
    }
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        struct image_key before = make_image_key(header, header->image - 1);
        model->processes[i].continues =
            header->image > 0 && bp_keys_get(&images, &before, sizeof(before)) != BP_KEYS_NONE;
        model->pid_count += !model->processes[i].continues;
    }
    bp_keys_fini(&images);
}

void bp_model_settle_processes(struct bp_model *model) {
    struct reaped_list reaped = {0};
    settle_ticks(model);
    collect(&reaped, model->sessions, model->session_count);
    collect(&reaped, model->processes, model->process_count);
    if (reaped.count)
        qsort(reaped.items, reaped.count, sizeof(*reaped.items), compare_reaped);
    settle_list(model->processes, model->process_count, &reaped);
    settle_list(model->sessions, model->session_count, &reaped);
    free(reaped.items);
    settle_run(model);
    count_pids(model);
}
