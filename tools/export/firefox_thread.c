/* SPDX-License-Identifier: MIT
 *
 * The columns of one thread. Strings are the names of its frames, then their files, then the names
 * of its tasks: what a column means by a number follows from that order.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/firefox.h"

/* How a value of row `i` is written. */
typedef void write_cell(const struct bp_firefox_thread *thread, uint32_t i, FILE *out);

static void write_column(const struct bp_firefox_thread *thread, const char *name, uint32_t count,
                         write_cell *cell, FILE *out) {
    fprintf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        cell(thread, i, out);
    }
    fputs("],", out);
}

static void cell_null(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    (void)thread;
    (void)i;
    fputs("null", out);
}

static void cell_zero(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    (void)thread;
    (void)i;
    fputs("0", out);
}

static void cell_minus(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    (void)thread;
    (void)i;
    fputs("-1", out);
}

static void cell_false(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    (void)thread;
    (void)i;
    fputs("false", out);
}

static void cell_number(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    (void)thread;
    fprintf(out, "%u", i);
}

static void cell_stack_frame(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    fprintf(out, "%u", thread->stacks[i].frame);
}

static void cell_prefix(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    if (thread->stacks[i].prefix == BP_NO_STACK)
        fputs("null", out);
    else
        fprintf(out, "%u", thread->stacks[i].prefix);
}

static void cell_category(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    fprintf(out, "%u", thread->stacks[i].category);
}

/* The number of the string: files follow the names. */
static void cell_file(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    fprintf(out, "%u", thread->frame_count + i);
}

static void cell_line(const struct bp_firefox_thread *thread, uint32_t i, FILE *out) {
    uint32_t line = bp_export_line(thread->export->model, thread->frames[i]);
    if (line)
        fprintf(out, "%u", line);
    else
        fputs("null", out);
}

static void write_tables(const struct bp_firefox_thread *thread, FILE *out) {
    uint32_t stacks = thread->stack_count;
    uint32_t frames = thread->frame_count;
    fputs("\"stackTable\":{", out);
    write_column(thread, "frame", stacks, cell_stack_frame, out);
    write_column(thread, "prefix", stacks, cell_prefix, out);
    write_column(thread, "category", stacks, cell_category, out);
    write_column(thread, "subcategory", stacks, cell_zero, out);
    fprintf(out, "\"length\":%u},\n\"frameTable\":{", stacks);
    write_column(thread, "address", frames, cell_minus, out);
    write_column(thread, "inlineDepth", frames, cell_zero, out);
    write_column(thread, "category", frames, cell_null, out);
    write_column(thread, "subcategory", frames, cell_null, out);
    write_column(thread, "func", frames, cell_number, out);
    write_column(thread, "nativeSymbol", frames, cell_null, out);
    write_column(thread, "innerWindowID", frames, cell_null, out);
    write_column(thread, "implementation", frames, cell_null, out);
    write_column(thread, "line", frames, cell_line, out);
    write_column(thread, "column", frames, cell_null, out);
    fprintf(out, "\"length\":%u},\n\"funcTable\":{", frames);
    write_column(thread, "name", frames, cell_number, out);
    write_column(thread, "isJS", frames, cell_false, out);
    write_column(thread, "relevantForJS", frames, cell_false, out);
    write_column(thread, "resource", frames, cell_minus, out);
    write_column(thread, "fileName", frames, cell_file, out);
    write_column(thread, "lineNumber", frames, cell_line, out);
    write_column(thread, "columnNumber", frames, cell_null, out);
    fprintf(out, "\"length\":%u},\n", frames);
}

static void write_samples(const struct bp_firefox_thread *thread, double start_ms, FILE *out) {
    static const char *const columns[] = {"stack", "time", "weight"};
    uint32_t count = 0;
    fputs("\"samples\":{\"weightType\":\"tracing-ms\",", out);
    for (int column = 0; column < 3; column++) {
        double time_ms = start_ms;
        count = 0;
        fprintf(out, "\"%s\":[", columns[column]);
        for (uint32_t i = 0; i < thread->stack_count; i++) {
            double weight_ms = 1e-6 * (double)thread->stacks[i].weight_ns;
            if (!thread->stacks[i].weight_ns)
                continue;
            fputs(count++ ? "," : "", out);
            if (column == 0)
                fprintf(out, "%u", i);
            else
                fprintf(out, "%.6f", column == 1 ? time_ms : weight_ms);
            time_ms += weight_ms;
        }
        fputs("],", out);
    }
    fprintf(out, "\"length\":%u},\n", count);
}

static bool is_here(const struct bp_firefox_thread *thread, const struct bp_slice *slice) {
    return slice->thread == thread->number;
}

enum marker { NAME, START, END, PHASE, CATEGORY, DATA, MARKERS };

static void write_marker(enum marker column, const struct bp_slice *slice, uint32_t string,
                         FILE *out) {
    const char *state = slice->failed ? "failed" : slice->unfinished ? "unfinished" : "ended";
    if (column == NAME)
        fprintf(out, "%u", string);
    else if (column == END && slice->instant)
        fputs("null", out);
    else if (column == START || column == END)
        fprintf(out, "%.6f", 1e-6 * (double)(column == START ? slice->start_ns : slice->end_ns));
    else if (column == DATA && slice->instant)
        fputs("null", out);
    else if (column == DATA)
        fprintf(out, "{\"type\":\"Task\",\"state\":\"%s\"}", state);
    else
        fputs(column == PHASE && !slice->instant ? "1" : "0", out); /* phase 1: an interval */
}

static void write_markers(const struct bp_firefox_thread *thread, const struct bp_slices *slices,
                          FILE *out) {
    static const char *const columns[] = {"name",  "startTime", "endTime",
                                          "phase", "category",  "data"};
    uint32_t count = 0;
    fputs("\"markers\":{", out);
    for (int column = 0; column < MARKERS; column++) {
        count = 0;
        fprintf(out, "\"%s\":[", columns[column]);
        for (uint32_t i = 0; i < slices->count; i++) {
            if (!is_here(thread, &slices->list[i]))
                continue;
            fputs(count ? "," : "", out);
            write_marker((enum marker)column, &slices->list[i], 2 * thread->frame_count + count,
                         out);
            count++;
        }
        fputs("],", out);
    }
    fprintf(out, "\"length\":%u},\n", count);
}

static void write_strings(const struct bp_firefox_thread *thread, const struct bp_slices *slices,
                          FILE *out) {
    const struct bp_export *export = thread->export;
    uint32_t count = thread->frame_count;
    fputs("\"stringArray\":[", out);
    for (uint32_t i = 0; i < 2 * count; i++) {
        char *file = bp_utf8_text(bp_export_file(export->model, thread->frames[i % count]));
        fputs(i ? "," : "", out);
        bp_export_json_text(i < count ? export->frames[thread->frames[i]] : file, out);
        free(file);
    }
    for (uint32_t i = 0; i < slices->count; i++)
        if (is_here(thread, &slices->list[i])) {
            fputs(count++ ? "," : "", out);
            bp_export_json_text(slices->names[slices->list[i].name], out);
        }
    fputs("]}", out);
}

/* Its command, and what it is called where processes of several machines are together. */
static char *name_process(const struct bp_firefox_thread *thread,
                          const struct bp_model_thread *from) {
    const struct bp_model *model = thread->export->model;
    if (!from)
        return bp_copy_text("battprof");
    char *place = bp_who_place(model, from->process);
    char *name =
        bp_make_text("%s%s", model->processes[from->process].profile->header.command, place);
    char *clean = bp_utf8_text(name);
    free(place);
    free(name);
    return clean;
}

/* The head of a thread, up to its tables. Returns when it began. */
static double write_head(const struct bp_firefox_thread *thread, FILE *out) {
    const struct bp_model *model = thread->export->model;
    const struct bp_model_thread *from =
        thread->number == BP_ALL_THREADS ? NULL : &model->threads[thread->number];
    const struct bp_model_process *process = from ? &model->processes[from->process] : NULL;
    double start_ms = process && process->start_s > 0 ? 1e3 * process->start_s : 0;
    double end_ms = start_ms + 1e3 * (process ? process->lifetime_s : model->wall.total_s);
    uint32_t tid = from ? thread->who.tids[thread->number] : 0;
    uint32_t pid = process ? thread->who.pids[from->process] : 0;
    char *name = bp_utf8_text(from ? from->source->info.name : "no thread");
    char *program = name_process(thread, from);
    fputs("{\"name\":", out);
    bp_export_json_text(name, out);
    fputs(",\"processName\":", out);
    bp_export_json_text(program, out);
    fprintf(out,
            ",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,"
            "\"processStartupTime\":%.6f,\"processShutdownTime\":%.6f,"
            "\"registerTime\":%.6f,\"unregisterTime\":%.6f,\"pausedRanges\":[],\n",
            tid == pid ? "true" : "false", pid, tid, start_ms, end_ms, start_ms, end_ms);
    free(name);
    free(program);
    return start_ms;
}

void bp_firefox_write_thread(const struct bp_firefox_thread *thread, const struct bp_slices *slices,
                             FILE *out) {
    double start_ms = write_head(thread, out);
    write_samples(thread, start_ms, out);
    write_markers(thread, slices, out);
    write_tables(thread, out);
    fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
          "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
          "\"length\":0},\n",
          out);
    write_strings(thread, slices, out);
}
