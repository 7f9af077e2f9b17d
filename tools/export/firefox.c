/* SPDX-License-Identifier: MIT
 *
 * The Firefox Profiler's processed profile. Its tables are columns, so a thread is collected before
 * it is written: a stack for each context, a sample for each that weighs something. Samples follow
 * one another from the start of their thread; tasks are markers where they were in time.
 */
#include "tools/export/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/utf8.h"

/* Where the order of fields of processed profiles was last looked up; later ones are converted from
 * it by the reader. */
#define FORMAT_VERSION 48

static uint32_t local_frame(struct bp_firefox_thread *thread, uint32_t frame) {
    if (!thread->locals[frame]) {
        *BP_APPEND(thread->frames, thread->frame_count) = frame;
        thread->locals[frame] = thread->frame_count;
    }
    return thread->locals[frame] - 1;
}

/* 0 is "Other": the overhead, and what is paused. The others are those of the run. */
static uint32_t main_category(const struct bp_model *model, const struct bp_walk_row *row) {
    double shares[BP_CATEGORIES];
    uint32_t best = 0;
    uint32_t frame = bp_export_frame(model, row->functions[row->depth]);
    if (frame == model->function_count + BP_REST_OVERHEAD ||
        frame == model->function_count + BP_REST_PAUSED)
        return 0;
    bp_export_shares(model, row, shares);
    for (uint32_t i = 1; i < BP_CATEGORIES; i++)
        if (shares[i] > shares[best])
            best = i;
    return 1 + best;
}

static bool add_row(const struct bp_walk_row *row, void *data) {
    struct bp_firefox_thread *thread = data;
    uint32_t frame = bp_export_frame(thread->export->model, row->functions[row->depth]);
    uint32_t local = local_frame(thread, frame);
    uint32_t number = thread->stack_count;
    *BP_APPEND(thread->stacks, thread->stack_count) =
        (struct bp_firefox_stack){.prefix = row->depth ? thread->path[row->depth - 1] : BP_NO_STACK,
                                  .frame = local,
                                  .category = main_category(thread->export->model, row),
                                  .weight_ns = bp_export_weigh(row, BP_WEIGHT_WALL)};
    thread->path[row->depth] = number;
    return true;
}

static void write_categories(FILE *out) {
    static const char *const colors[BP_CATEGORIES] = {"green", "blue", "orange"};
    fputs("\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}",
          out);
    for (int i = 0; i < BP_CATEGORIES; i++) {
        fprintf(out, ",{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
                bp_category_name((enum bp_category)i), colors[i]);
    }
    fputs("]", out);
}

/* Samples of a thread end before the run does: without its end, tasks after them are not shown. */
static void write_meta(const struct bp_export *export, FILE *out) {
    char *comment = bp_export_comment(BP_EXPORT_firefox);
    char *command = bp_utf8_text(export->model->run.command);
    fprintf(out,
            "{\"meta\":{\"version\":29,\"preprocessedProfileVersion\":%d,\"interval\":1,"
            "\"startTime\":%.3f,\"profilingStartTime\":0,\"profilingEndTime\":%.6f,"
            "\"processType\":0,\"stackwalk\":0,\"debug\":false,"
            "\"symbolicated\":true,\"product\":",
            FORMAT_VERSION, 1e-6 * (double)export->model->run.began_ns,
            1e3 * export->model->wall.total_s);
    bp_export_json_text(command, out);
    fputs(",\"comment\":", out);
    bp_export_json_text(comment, out);
    fputs(",\"markerSchema\":[{\"name\":\"Task\",\"tooltipLabel\":\"{marker.name}\","
          "\"tableLabel\":\"{marker.data.state}\",\"chartLabel\":\"{marker.name}\","
          "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
          "\"data\":[{\"key\":\"state\",\"label\":\"State\",\"format\":\"string\","
          "\"searchable\":true}]}],",
          out);
    write_categories(out);
    fputs("},\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[\n", out);
    free(comment);
    free(command);
}

/* The thread's rows are collected, and written; then it is empty again. */
static void end_thread(struct bp_firefox_thread *thread, const struct bp_slices *slices,
                       FILE *out) {
    bp_firefox_write_thread(thread, slices, out);
    for (uint32_t i = 0; i < thread->frame_count; i++)
        thread->locals[thread->frames[i]] = 0;
    free(thread->frames);
    free(thread->stacks);
    thread->frames = NULL;
    thread->stacks = NULL;
    thread->frame_count = thread->stack_count = 0;
}

int bp_export_firefox(const struct bp_export *export, FILE *out) {
    const struct bp_model *model = export->model;
    struct bp_firefox_thread thread = {.export = export};
    struct bp_slices slices;
    bp_slices_init(&slices, model);
    bp_who_init(&thread.who, model);
    thread.locals = bp_alloc(bp_export_frame_count(model), sizeof(*thread.locals));
    thread.path = bp_alloc(model->context_count + 1, sizeof(*thread.path));
    write_meta(export, out);
    for (uint32_t i = 0; i < model->thread_count; i++) {
        thread.number = i;
        bp_export_contexts(model, i, add_row, &thread);
        end_thread(&thread, &slices, out);
        fputs(",\n", out);
    }
    thread.number = BP_ALL_THREADS;
    bp_export_rest(model, add_row, &thread);
    end_thread(&thread, &slices, out);
    fputs("\n]}\n", out);
    free(thread.locals);
    free(thread.path);
    bp_slices_fini(&slices);
    bp_who_fini(&thread.who);
    return ferror(out) ? -1 : 0;
}
