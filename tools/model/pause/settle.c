/* SPDX-License-Identifier: MIT
 *
 * What a thread missed of pauses stands in its file where it took notice of them; one that did not
 * run again could not. Here the file is brought to where the thread would have brought it
 * (interpose/ledger/pause.c), so that all others find one paused stretch like any other call.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/tree.h"
#include "tools/base/memory.h"
#include "tools/model/internal.h"

/* Less before a pause is what a busy machine took of the startup. */
#define LEAST_RECORDED_S 0.01

static uint64_t above(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* The function that stands for pauses; the count of functions if there is none. */
static uint32_t find_function(const struct bp_profile *profile) {
    uint32_t i = 0;
    while (i < profile->func_count && profile->funcs[i].kind != BP_FUNC_PAUSED)
        i++;
    return i;
}

static struct bp_node *find_node(struct bp_profile_thread *thread, uint32_t func) {
    for (uint32_t i = 1; i < thread->node_count; i++)
        if (thread->nodes[i].func == func)
            return &thread->nodes[i];
    struct bp_node *nodes = bp_resize(thread->nodes, thread->node_count + 1, sizeof(*nodes));
    thread->nodes = nodes;
    nodes[thread->node_count] =
        (struct bp_node){.func = func, .index = thread->node_count, .min = UINT64_MAX};
    return &nodes[thread->node_count++];
}

/* The last instant that the open calls know of. */
static uint64_t last_trace(const struct bp_profile_call *call) {
    uint64_t child = call->child;
    for (; call->start == BP_ENTRY_UNTIMED; child += call->child)
        call++;
    return call->start + child;
}

/* Ticks that the thread was paused and has not said. */
static uint64_t missed_by(const struct bp_header *header, const struct bp_profile_thread *thread,
                          uint64_t end) {
    uint64_t trace = last_trace(thread->open);
    uint64_t since =
        header->paused_since && header->paused_since < end ? header->paused_since : end;
    uint64_t seen = thread->info.paused_seen, missed = above(header->paused, seen);
    uint64_t room = above(since, trace);
    missed = missed < room ? missed : room;
    uint64_t stopped = since + above(seen, header->paused);
    if (stopped < trace + missed)
        stopped = trace + missed;
    return missed + above(end, stopped);
}

static void take_out(struct bp_profile_thread *thread, uint32_t func, uint64_t ticks) {
    struct bp_node *node = find_node(thread, func);
    thread->missed = ticks;
    for (uint32_t i = 0; i + 1 < thread->open_count; i++)
        thread->open[i].start += thread->open[i].start == BP_ENTRY_UNTIMED ? 0 : ticks;
    thread->open[thread->open_count - 1].child += ticks;
    node->self += ticks;
    node->total += ticks;
}

void bp_model_settle_pauses(struct bp_model_process *process) {
    struct bp_profile *profile = process->profile;
    uint32_t func = find_function(profile);
    if (!profile->header.pauses || func == profile->func_count)
        return;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        struct bp_profile_thread *thread = &profile->threads[i];
        uint64_t ticks = thread->open_count ? missed_by(&profile->header, thread, process->end) : 0;
        if (ticks)
            take_out(thread, func, ticks);
    }
}

uint64_t bp_model_paused_v(const struct bp_header *header, const struct bp_thread *info, bool busy,
                           uint64_t end_v) {
    if (!header->pauses)
        return 0;
    uint64_t now = header->paused_v;
    if (header->paused_since)
        now += above(end_v, header->paused_since_v);
    return info->paused_v + (busy ? above(now, info->paused_seen_v) : 0);
}

/* What of an idle time at the end of a run was in a pause, of whoever was in one for longest. */
uint64_t bp_model_paused_idle(const struct bp_model *model, uint64_t from, uint64_t to) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        uint64_t since = process->profile->header.paused_since;
        uint64_t end = process->end < to ? process->end : to;
        uint64_t part = since ? above(end, since > from ? since : from) : 0;
        most = part > most ? part : most;
    }
    return most;
}

static int by_time(const void *a, const void *b) {
    const struct bp_model_mark *x = a, *y = b;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return 0;
}

static void add_marks(struct bp_model *model, const struct bp_wall_tree *tree) {
    const struct bp_profile *profile = tree->owner->profile;
    struct bp_pauses *pauses = &model->pauses;
    uint64_t origin = model->work->trees[0].start;
    for (uint32_t i = 0; i < profile->mark_count; i++) {
        const struct bp_run_mark *mark = &profile->marks[i];
        *BP_APPEND(pauses->marks, pauses->mark_count) = (struct bp_model_mark){
            .at_s = (double)(int64_t)(mark->ticks - origin) * tree->owner->tick_s,
            .pid = mark->pid,
            .kind = (enum bp_mark_kind)mark->kind,
            .text = mark->text};
    }
    pauses->marks_lost += profile->marks_lost;
}

/* Was anything of the process recorded? One that began paused is so from the end of its startup on,
 * give or take what it waited for a CPU. */
static bool is_recorded(const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    double before = (double)above(header->paused_since, header->start + header->startup);
    return header->pauses > 1 || !header->paused_since ||
           before * process->tick_s > LEAST_RECORDED_S;
}

void bp_model_find_pauses(struct bp_model *model) {
    struct bp_pauses *pauses = &model->pauses;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        pauses->count += header->pauses;
        pauses->processes += header->pauses > 0;
        pauses->paused += header->paused_since != 0;
        pauses->recorded += is_recorded(&model->processes[i]);
        model->wall.paused_s += (double)header->paused_idle * model->processes[i].tick_s;
    }
    for (uint32_t i = 0; i < model->wall.tree_count; i++)
        add_marks(model, &model->work->trees[i]);
    if (pauses->mark_count)
        qsort(pauses->marks, pauses->mark_count, sizeof(*pauses->marks), by_time);
}
