/* SPDX-License-Identifier: MIT
 *
 * speedscope's own file format. A profile is what rows weigh in one unit; contexts are samples,
 * each with its weight. Tasks have times of their own: a profile of events for each thread that ran
 * some.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"
#include "tools/export/slice.h"
#include "tools/export/who.h"

static const struct {
    const char *name;
    const char *unit;
} profiles[] = {
    [BP_WEIGHT_WALL] = {"wall", "nanoseconds"},
    [BP_WEIGHT_THREAD] = {"thread time", "nanoseconds"},
    [BP_WEIGHT_CPU] = {"CPU time of sampled stacks", "nanoseconds"},
    [BP_WEIGHT_CALLS] = {"calls", "none"},
    [BP_WEIGHT_BYTES] = {"bytes copied between host and device", "bytes"},
};

struct speedscope {
    const struct bp_export *export;
    FILE *out;
    enum bp_weight weight;
    bool weights; /* the second pass over the rows writes these */
    uint64_t sum;
    uint32_t count;
};

static const char *separator(struct speedscope *speedscope) {
    return speedscope->count++ ? "," : "";
}

static bool write_row(const struct bp_walk_row *row, void *data) {
    struct speedscope *speedscope = data;
    FILE *out = speedscope->out;
    uint64_t weight = bp_export_weigh(row, speedscope->weight);
    if (!weight)
        return true;
    speedscope->sum += weight;
    fputs(separator(speedscope), out);
    if (speedscope->weights) {
        fprintf(out, "%llu", (unsigned long long)weight);
        return true;
    }
    for (uint32_t i = 0; i <= row->depth; i++)
        fprintf(out, "%s%u", i ? "," : "[",
                bp_export_frame(speedscope->export->model, row->functions[i]));
    fputc(']', out);
    return true;
}

static void write_rows(struct speedscope *speedscope, bool weights) {
    const struct bp_model *model = speedscope->export->model;
    speedscope->weights = weights;
    speedscope->count = 0;
    speedscope->sum = 0;
    if (speedscope->weight == BP_WEIGHT_CPU)
        bp_walk_stacks(model, BP_ALL_THREADS, write_row, speedscope);
    else
        bp_export_contexts(model, BP_ALL_THREADS, write_row, speedscope);
}

static void write_profile(struct speedscope *speedscope) {
    FILE *out = speedscope->out;
    fprintf(out,
            "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
            profiles[speedscope->weight].name, profiles[speedscope->weight].unit);
    write_rows(speedscope, false);
    fputs("],\"weights\":[", out);
    write_rows(speedscope, true);
    fprintf(out, "],\"endValue\":%llu}", (unsigned long long)speedscope->sum);
}

/* Whether any row weighs something. */
static bool find_weight(const struct bp_walk_row *row, void *data) {
    struct speedscope *speedscope = data;
    speedscope->sum += bp_export_weigh(row, speedscope->weight);
    return true;
}

static bool is_used(struct speedscope *speedscope) {
    const struct bp_model *model = speedscope->export->model;
    speedscope->sum = 0;
    if (speedscope->weight == BP_WEIGHT_CPU)
        return model->samples.stack_count > 0;
    bp_export_contexts(model, BP_ALL_THREADS, find_weight, speedscope);
    return speedscope->sum > 0 || speedscope->weight == BP_WEIGHT_WALL;
}

/* A slice opens and closes: those within it come between. */
static void write_event(const struct bp_slice *slice, bool opens, void *data) {
    struct speedscope *speedscope = data;
    uint32_t frame = bp_export_frame_count(speedscope->export->model) + slice->name;
    if (slice->instant) /* the format has none */
        return;
    fprintf(speedscope->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%llu}", separator(speedscope),
            opens ? 'O' : 'C', frame,
            (unsigned long long)(opens ? slice->start_ns : slice->end_ns));
}

static void write_lane_name(const struct speedscope *speedscope,
                            const struct bp_model_thread *thread, bool beside) {
    char *place = bp_who_place(speedscope->export->model, thread->process);
    char *name = bp_make_text("tasks of thread %d%s%s", thread->source->info.tid, place,
                              beside ? ", at the same time" : "");
    char *clean = bp_utf8_text(name);
    fputs(",{\"type\":\"evented\",\"name\":", speedscope->out);
    bp_export_json_text(clean, speedscope->out);
    free(place);
    free(name);
    free(clean);
}

static void write_tasks(struct speedscope *speedscope, const struct bp_slices *slices,
                        uint32_t lane) {
    FILE *out = speedscope->out;
    const struct bp_slice_lane *where = &slices->lanes[lane];
    const struct bp_model_thread *thread = &speedscope->export->model->threads[where->thread];
    write_lane_name(speedscope, thread, where->depth > 0);
    fputs(",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[", out);
    speedscope->count = 0;
    bp_slices_visit(slices, lane, write_event, speedscope);
    fprintf(out, "],\"endValue\":%llu}", (unsigned long long)where->end_ns);
}

static void write_frame(struct speedscope *speedscope, uint32_t frame) {
    const struct bp_model *model = speedscope->export->model;
    char *file = bp_utf8_text(bp_export_file(model, frame));
    uint32_t line = bp_export_line(model, frame);
    FILE *out = speedscope->out;
    fprintf(out, "%s{\"name\":", separator(speedscope));
    bp_export_json_text(speedscope->export->frames[frame], out);
    if (file[0]) {
        fputs(",\"file\":", out);
        bp_export_json_text(file, out);
    }
    if (line)
        fprintf(out, ",\"line\":%u", line);
    fputc('}', out);
    free(file);
}

static void write_frames(struct speedscope *speedscope, const struct bp_slices *slices) {
    fputs("\"shared\":{\"frames\":[", speedscope->out);
    for (uint32_t i = 0; i < bp_export_frame_count(speedscope->export->model); i++)
        write_frame(speedscope, i);
    for (uint32_t i = 0; i < slices->name_count; i++) {
        fprintf(speedscope->out, "%s{\"name\":", separator(speedscope));
        bp_export_json_text(slices->names[i], speedscope->out);
        fputc('}', speedscope->out);
    }
    fputs("]},\n", speedscope->out);
}

int bp_export_speedscope(const struct bp_export *export, FILE *out) {
    struct speedscope speedscope = {.export = export, .out = out};
    struct bp_slices slices;
    char *comment = bp_export_comment(BP_EXPORT_speedscope);
    bp_slices_init(&slices, export->model);
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":",
          out);
    bp_export_json_text(comment, out);
    fputs(",\n\"activeProfileIndex\":0,\n", out);
    write_frames(&speedscope, &slices);
    fputs("\"profiles\":[\n", out);
    for (int i = 0, written = 0; i < BP_WEIGHTS; i++) {
        speedscope.weight = (enum bp_weight)i;
        if (!is_used(&speedscope))
            continue;
        fputs(written++ ? ",\n" : "", out);
        write_profile(&speedscope);
    }
    for (uint32_t i = 0; i < slices.lane_count; i++)
        if (slices.lanes[i].ranges)
            write_tasks(&speedscope, &slices, i);
    fputs("\n]}\n", out);
    free(comment);
    bp_slices_fini(&slices);
    return ferror(out) ? -1 : 0;
}
