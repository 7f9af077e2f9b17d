/* SPDX-License-Identifier: MIT
 *
 * Perfetto's track events: processes and their threads, each with its tasks and phases, and how
 * many of the running tasks' seconds each category has. Times are nanoseconds from the start of the
 * run. A profile has sums for functions and devices, not times: there are no slices of them to
 * show.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"
#include "tools/export/proto.h"
#include "tools/export/share_series.h"
#include "tools/export/slice.h"
#include "tools/export/who.h"

/* Numbers of fields. */
enum trace { PACKET = 1 };
enum packet {
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};
enum track {
    TRACK_ID = 1,
    TRACK_NAME,
    TRACK_PROCESS,
    TRACK_THREAD,
    TRACK_PARENT,
    TRACK_COUNTER = 8
};
enum process { PROCESS_PID = 1, PROCESS_COMMAND, PROCESS_NAME = 6 };
enum thread { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };
enum event {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME,
    EVENT_DOUBLE = 44
};
enum annotation { ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };

/* TrackEvent.Type */
enum type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

/* One sequence writes the whole file. */
#define SEQUENCE 1
#define STATE_CLEARED 1

struct perfetto {
    const struct bp_export *export;
    const struct bp_model *model;
    const struct bp_slices *slices;
    const struct bp_who *who;
    FILE *out;
    bool begun;
    struct bp_proto top;
    struct bp_proto packet;
    struct bp_proto message;
    struct bp_proto inner;
};

/* Tracks need numbers of their own: processes, then threads, then lanes, then counters. */
static uint64_t process_track(uint32_t number) {
    return 1 + (uint64_t)number;
}

static uint64_t thread_track(const struct perfetto *perfetto, uint32_t number) {
    return 1 + (uint64_t)perfetto->model->process_count + number;
}

/* The first lane of a thread is the thread's own track. */
static uint64_t lane_track(const struct perfetto *perfetto, uint32_t lane) {
    const struct bp_slice_lane *where = &perfetto->slices->lanes[lane];
    if (where->depth == 0)
        return thread_track(perfetto, where->thread);
    return thread_track(perfetto, perfetto->model->thread_count) + lane;
}

static uint64_t counter_track(const struct perfetto *perfetto, int category) {
    return thread_track(perfetto, perfetto->model->thread_count) + perfetto->slices->lane_count +
           (uint64_t)category;
}

static void end_packet(struct perfetto *perfetto) {
    bp_proto_number(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
    if (!perfetto->begun)
        bp_proto_number(&perfetto->packet, PACKET_FLAGS, STATE_CLEARED);
    perfetto->begun = true;
    bp_proto_message(&perfetto->top, PACKET, &perfetto->packet);
    fwrite(perfetto->top.data, 1, perfetto->top.length, perfetto->out);
    perfetto->top.length = 0;
}

/* The message is a track that is complete. */
static void end_track(struct perfetto *perfetto) {
    bp_proto_message(&perfetto->packet, PACKET_TRACK, &perfetto->message);
    end_packet(perfetto);
}

static void put_text(struct bp_proto *to, uint32_t field, const char *text) {
    char *clean = bp_utf8_text(text);
    bp_proto_text(to, field, clean);
    free(clean);
}

static void put_process(struct perfetto *perfetto, uint32_t number) {
    const struct bp_model_process *process = &perfetto->model->processes[number];
    const struct bp_header *header = &process->profile->header;
    char *name = bp_who_name(perfetto->who, number);
    bp_proto_number(&perfetto->inner, PROCESS_PID, perfetto->who->pids[number]);
    put_text(&perfetto->inner, PROCESS_COMMAND, header->command);
    put_text(&perfetto->inner, PROCESS_NAME, name);
    bp_proto_number(&perfetto->message, TRACK_ID, process_track(number));
    bp_proto_message(&perfetto->message, TRACK_PROCESS, &perfetto->inner);
    end_track(perfetto);
    free(name);
}

static void put_thread(struct perfetto *perfetto, uint32_t number) {
    const struct bp_model_thread *thread = &perfetto->model->threads[number];
    bp_proto_number(&perfetto->inner, THREAD_PID, perfetto->who->pids[thread->process]);
    bp_proto_number(&perfetto->inner, THREAD_TID, perfetto->who->tids[number]);
    put_text(&perfetto->inner, THREAD_NAME, thread->source->info.name);
    bp_proto_number(&perfetto->message, TRACK_ID, thread_track(perfetto, number));
    bp_proto_number(&perfetto->message, TRACK_PARENT, process_track(thread->process));
    bp_proto_message(&perfetto->message, TRACK_THREAD, &perfetto->inner);
    end_track(perfetto);
}

/* The lane of slices that lie beside those of their thread. */
static void put_lane(struct perfetto *perfetto, uint32_t lane) {
    const struct bp_slice_lane *where = &perfetto->slices->lanes[lane];
    if (where->depth == 0)
        return;
    bp_proto_number(&perfetto->message, TRACK_ID, lane_track(perfetto, lane));
    bp_proto_text(&perfetto->message, TRACK_NAME, "at the same time");
    bp_proto_number(&perfetto->message, TRACK_PARENT, thread_track(perfetto, where->thread));
    end_track(perfetto);
}

static void end_event(struct perfetto *perfetto, uint64_t time_ns) {
    bp_proto_number(&perfetto->packet, PACKET_TIME, time_ns);
    bp_proto_message(&perfetto->packet, PACKET_EVENT, &perfetto->message);
    end_packet(perfetto);
}

static void put_begin(struct perfetto *perfetto, enum type type, uint64_t track,
                      const char *category, const char *name) {
    bp_proto_number(&perfetto->message, EVENT_TYPE, type);
    bp_proto_number(&perfetto->message, EVENT_TRACK, track);
    bp_proto_text(&perfetto->message, EVENT_CATEGORY, category);
    put_text(&perfetto->message, EVENT_NAME, name);
}

static void put_end(struct perfetto *perfetto, uint64_t track, uint64_t time_ns) {
    bp_proto_number(&perfetto->message, EVENT_TYPE, SLICE_END);
    bp_proto_number(&perfetto->message, EVENT_TRACK, track);
    end_event(perfetto, time_ns);
}

static void put_state(struct perfetto *perfetto, const char *state) {
    bp_proto_text(&perfetto->inner, ANNOTATION_NAME, "state");
    bp_proto_text(&perfetto->inner, ANNOTATION_TEXT, state);
    bp_proto_message(&perfetto->message, EVENT_ANNOTATION, &perfetto->inner);
}

static void put_slice(const struct bp_slice *slice, bool opens, void *data) {
    struct perfetto *perfetto = data;
    uint64_t track = lane_track(perfetto, slice->lane);
    if (!opens && !slice->instant)
        put_end(perfetto, track, slice->end_ns);
    if (!opens)
        return;
    put_begin(perfetto, slice->instant ? INSTANT : SLICE_BEGIN, track, bp_slice_kind(slice),
              perfetto->slices->names[slice->name]);
    if (slice->failed || slice->unfinished)
        put_state(perfetto, slice->failed ? "failed" : "unfinished");
    end_event(perfetto, slice->start_ns);
}

/* From its start to its end, on the track of the process. */
static void put_lifetime(struct perfetto *perfetto, uint32_t number) {
    const struct bp_model_process *process = &perfetto->model->processes[number];
    uint64_t track = process_track(number);
    put_begin(perfetto, SLICE_BEGIN, track, "process", process->role);
    if (process->killed)
        put_state(perfetto, "killed");
    end_event(perfetto, bp_export_ns(process->start_s));
    put_end(perfetto, track, bp_export_ns(process->start_s + process->lifetime_s));
}

static void put_counter_tracks(struct perfetto *perfetto) {
    for (int i = 0; i < BP_CATEGORIES; i++) {
        char *name = bp_make_text("%s in the running tasks", bp_category_name((enum bp_category)i));
        bp_proto_number(&perfetto->message, TRACK_ID, counter_track(perfetto, i));
        bp_proto_text(&perfetto->message, TRACK_NAME, name);
        bp_proto_message(&perfetto->message, TRACK_COUNTER, &perfetto->inner);
        end_track(perfetto);
        free(name);
    }
}

static void put_point(const struct bp_share_point *point, void *data) {
    struct perfetto *perfetto = data;
    for (int i = 0; i < BP_CATEGORIES; i++) {
        bp_proto_number(&perfetto->message, EVENT_TYPE, COUNTER);
        bp_proto_number(&perfetto->message, EVENT_TRACK, counter_track(perfetto, i));
        bp_proto_double(&perfetto->message, EVENT_DOUBLE, point->category[i]);
        end_event(perfetto, bp_export_ns(point->time_s));
    }
}

static void put_all(struct perfetto *perfetto) {
    for (uint32_t i = 0; i < perfetto->model->process_count; i++)
        put_process(perfetto, i);
    for (uint32_t i = 0; i < perfetto->model->thread_count; i++)
        put_thread(perfetto, i);
    for (uint32_t i = 0; i < perfetto->slices->lane_count; i++)
        put_lane(perfetto, i);
    for (uint32_t i = 0; i < perfetto->model->process_count; i++)
        put_lifetime(perfetto, i);
    for (uint32_t i = 0; i < perfetto->slices->lane_count; i++)
        bp_slices_visit(perfetto->slices, i, put_slice, perfetto);
    if (perfetto->model->tasks.count)
        put_counter_tracks(perfetto);
    bp_share_series(perfetto->model, put_point, perfetto);
}

int bp_export_perfetto(const struct bp_export *export, FILE *out) {
    struct bp_slices slices;
    struct bp_who who;
    struct perfetto perfetto = {
        .export = export, .model = export->model, .slices = &slices, .who = &who, .out = out};
    bp_slices_init(&slices, export->model);
    bp_who_init(&who, export->model);
    put_all(&perfetto);
    bp_who_fini(&who);
    bp_slices_fini(&slices);
    bp_proto_fini(&perfetto.top);
    bp_proto_fini(&perfetto.packet);
    bp_proto_fini(&perfetto.message);
    bp_proto_fini(&perfetto.inner);
    return ferror(out) ? -1 : 0;
}
