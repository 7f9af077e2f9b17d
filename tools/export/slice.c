/* SPDX-License-Identifier: MIT
 *
 * Slices are collected thread by thread, from the tasks of its profile and the marks of the run,
 * and put into the first lane in which each fits.
 */
#include "tools/export/slice.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"

/* Takes the text; it becomes UTF-8. */
static uint32_t put_name(struct bp_slices *slices, char *text) {
    char *clean = bp_utf8_text(text);
    uint32_t number = bp_keys_put(&slices->name_keys, clean, strlen(clean));
    free(text);
    if (number == slices->name_count)
        *BP_APPEND(slices->names, slices->name_count) = clean;
    else
        free(clean);
    return number;
}

static char *name_task(const struct bp_profile *profile, const struct bp_task *item) {
    const char *id = bp_profile_string(profile, item->id);
    const char *name = item->func == BP_NO_FUNC
                           ? bp_profile_string(profile, item->name)
                           : bp_profile_string(profile, profile->funcs[item->func].name);
    if (!name[0] && !id[0])
        return bp_copy_text("task");
    return bp_make_text("%s%s%s", name, name[0] && id[0] ? " " : "", id);
}

static uint64_t time_of(const struct bp_model_process *process, uint64_t ticks) {
    int64_t since = (int64_t)(ticks - process->profile->header.start);
    return bp_export_ns(process->start_s + (double)since * process->tick_s);
}

static void add_slice(struct bp_slices *slices, const struct bp_model *model, uint32_t thread,
                      const struct bp_task *item) {
    const struct bp_model_process *process = &model->processes[model->threads[thread].process];
    bool open = item->end == 0 || item->end > process->end;
    struct bp_slice slice = {.thread = thread,
                             .name = put_name(slices, name_task(process->profile, item)),
                             .phase = item->flags & BP_TASK_PHASE,
                             .failed = item->flags & BP_TASK_FAILED,
                             .unfinished = open || item->flags & BP_TASK_UNFINISHED,
                             .start_ns = time_of(process, item->start),
                             .end_ns = time_of(process, open ? process->end : item->end)};
    if (slice.end_ns >= slice.start_ns)
        *BP_APPEND(slices->list, slices->count) = slice;
}

static void add_thread(struct bp_slices *slices, const struct bp_model *model, uint32_t number) {
    const struct bp_model_thread *thread = &model->threads[number];
    const struct bp_profile *profile = model->processes[thread->process].profile;
    for (uint32_t i = 0; i < profile->task_count; i++)
        if (profile->tasks[i].thread == thread->source->slot &&
            !(profile->tasks[i].flags & BP_TASK_INPUT))
            add_slice(slices, model, number, &profile->tasks[i]);
}

/* The process that a mark is of: a number may be used twice. */
static uint32_t process_of(const struct bp_model *model, const struct bp_model_mark *mark) {
    uint32_t found = 0;
    for (uint32_t i = model->process_count; i-- > 0;) {
        const struct bp_model_process *process = &model->processes[i];
        bool lived =
            process->start_s <= mark->at_s && mark->at_s <= process->start_s + process->lifetime_s;
        if (process->profile->header.pid == mark->pid && (lived || !found))
            found = i;
    }
    return found;
}

static char *name_mark(const struct bp_model_mark *mark) {
    if (mark->kind == BP_MARK_START)
        return bp_copy_text("recording starts");
    return bp_copy_text(mark->kind == BP_MARK_STOP ? "recording stops" : mark->text);
}

/* Per mark: the process that it is of. */
static uint32_t *owners_of_marks(const struct bp_model *model) {
    uint32_t *owners = bp_alloc(model->pauses.mark_count + 1, sizeof(*owners));
    for (uint32_t i = 0; i < model->pauses.mark_count; i++)
        owners[i] = process_of(model, &model->pauses.marks[i]);
    return owners;
}

/* Marks of the process, on its first thread. */
static void add_marks(struct bp_slices *slices, const struct bp_model *model, uint32_t thread,
                      const uint32_t *owners) {
    uint32_t process = model->threads[thread].process;
    if (thread > 0 && model->threads[thread - 1].process == process)
        return;
    for (uint32_t i = 0; i < model->pauses.mark_count; i++) {
        const struct bp_model_mark *mark = &model->pauses.marks[i];
        if (owners[i] == process)
            *BP_APPEND(slices->list, slices->count) =
                (struct bp_slice){.thread = thread,
                                  .name = put_name(slices, name_mark(mark)),
                                  .instant = true,
                                  .start_ns = bp_export_ns(mark->at_s),
                                  .end_ns = bp_export_ns(mark->at_s)};
    }
}

static int compare(const void *a, const void *b) {
    const struct bp_slice *x = a;
    const struct bp_slice *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* Ends of the slices of a lane that are open. */
struct open_lane {
    uint64_t *ends;
    uint32_t count;
};

/* Whether the slice lies within what is open, or beside it. */
static bool fits(struct open_lane *lane, const struct bp_slice *slice) {
    while (lane->count && lane->ends[lane->count - 1] <= slice->start_ns)
        lane->count--;
    return lane->count == 0 || lane->ends[lane->count - 1] >= slice->end_ns;
}

/* Gives one thread's slices their lanes. The slices are sorted; the thread's lanes are the latest.
 */
static void assign_lanes(struct bp_slices *slices, uint32_t first, uint32_t end) {
    uint32_t first_lane = slices->lane_count;
    struct open_lane *open = NULL;
    for (uint32_t i = first; i < end; i++) {
        struct bp_slice *slice = &slices->list[i];
        uint32_t lane = 0;
        while (first_lane + lane < slices->lane_count && !fits(&open[lane], slice))
            lane++;
        if (first_lane + lane == slices->lane_count) {
            *BP_PLACE(open, lane) = (struct open_lane){0};
            *BP_APPEND(slices->lanes, slices->lane_count) =
                (struct bp_slice_lane){.thread = slice->thread, .depth = lane};
        }
        slice->lane = first_lane + lane;
        slice->depth = open[lane].count;
        slices->lanes[slice->lane].ranges += !slice->instant;
        *BP_APPEND(open[lane].ends, open[lane].count) = slice->end_ns;
        if (slice->end_ns > slices->lanes[slice->lane].end_ns)
            slices->lanes[slice->lane].end_ns = slice->end_ns;
    }
    for (uint32_t i = first_lane; i < slices->lane_count; i++)
        free(open[i - first_lane].ends);
    free(open);
}

void bp_slices_init(struct bp_slices *slices, const struct bp_model *model) {
    uint32_t *owners = owners_of_marks(model);
    *slices = (struct bp_slices){0};
    for (uint32_t i = 0; i < model->thread_count; i++) {
        uint32_t first = slices->count;
        add_thread(slices, model, i);
        add_marks(slices, model, i, owners);
        if (slices->count > first)
            qsort(slices->list + first, slices->count - first, sizeof(*slices->list), compare);
        assign_lanes(slices, first, slices->count);
    }
    free(owners);
    if (slices->count)
        qsort(slices->list, slices->count, sizeof(*slices->list), compare);
}

void bp_slices_fini(struct bp_slices *slices) {
    for (uint32_t i = 0; i < slices->name_count; i++)
        free(slices->names[i]);
    free(slices->names);
    free(slices->list);
    free(slices->lanes);
    bp_keys_fini(&slices->name_keys);
}

const char *bp_slice_kind(const struct bp_slice *slice) {
    return slice->instant ? "mark" : slice->phase ? "phase" : "task";
}

void bp_slices_visit(const struct bp_slices *slices, uint32_t lane, bp_slice_visit *visit,
                     void *data) {
    const struct bp_slice **open = NULL;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < slices->count; i++) {
        const struct bp_slice *slice = &slices->list[i];
        if (slice->lane != lane)
            continue;
        while (depth > slice->depth)
            visit(open[--depth], false, data);
        visit(slice, true, data);
        *BP_APPEND(open, depth) = slice;
    }
    while (depth > 0)
        visit(open[--depth], false, data);
    free(open);
}
