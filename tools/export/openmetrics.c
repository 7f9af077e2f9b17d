/* SPDX-License-Identifier: MIT
 *
 * The sums of a run as metrics, in the text that OpenMetrics and Prometheus both read: all are
 * gauges but for the histogram, since a finished run does not count on. OpenMetrics has no
 * comments: what the format loses is in the help of the first metric.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/statistics.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"

static void write_family(FILE *out, const char *name, const char *kind, const char *help) {
    fprintf(out, "# HELP battprof_%s %s\n# TYPE battprof_%s %s\n", name, help, name, kind);
}

/* A label's value: backslash, quote and newline are escaped. */
static void write_value(const char *text, FILE *out) {
    char *clean = bp_utf8_text(text);
    for (const char *c = clean; *c; c++) {
        if (*c == '\\' || *c == '"')
            fputc('\\', out);
        if (*c == '\n')
            fputs("\\n", out);
        else
            fputc(*c, out);
    }
    free(clean);
}

static void write_label(FILE *out, const char *name, const char *key, const char *value) {
    fprintf(out, "battprof_%s{%s=\"", name, key);
    write_value(value, out);
    fputs("\"} ", out);
}

static void write_number(FILE *out, double value) {
    fprintf(out, "%.9g\n", isfinite(value) ? value : 0);
}

static void write_one(FILE *out, const char *name, double value) {
    fprintf(out, "battprof_%s ", name);
    write_number(out, value);
}

/* A part of the wall beside the categories; most runs have none. */
static void write_part(FILE *out, const char *name, double s) {
    if (s <= BP_EXPORT_ROUNDING_S)
        return;
    write_label(out, "wall_seconds", "category", name);
    write_number(out, s);
}

static void write_wall(const struct bp_model *model, FILE *out) {
    char *comment = bp_export_comment(BP_EXPORT_openmetrics);
    char *help = bp_make_text("Wall clock time of the run. (%s)", comment);
    write_family(out, "run_wall_seconds", "gauge", help);
    free(comment);
    free(help);
    write_one(out, "run_wall_seconds", model->wall.total_s);
    write_family(out, "wall_seconds", "gauge",
                 "Wall clock time of the run by category; the parts sum to the whole.");
    for (int i = 0; i < BP_CATEGORIES; i++) {
        write_label(out, "wall_seconds", "category", bp_category_name((enum bp_category)i));
        write_number(out, model->wall.category_s[i]);
    }
    write_label(out, "wall_seconds", "category", "profiler");
    write_number(out, model->wall.overhead_s);
    write_part(out, "paused", model->wall.paused_s);
    write_part(out, "unsplit", model->wall.unsplit_s);
    write_family(out, "thread_seconds", "gauge", "Lifetimes of all threads.");
    write_one(out, "thread_seconds", model->thread_time.total_s);
    write_family(out, "cpu_seconds", "gauge", "CPU time of all threads.");
    write_one(out, "cpu_seconds", model->thread_time.cpu_s);
    write_family(out, "processes", "gauge", "Processes of the run.");
    write_one(out, "processes", model->pid_count);
    write_family(out, "threads", "gauge", "Threads that ever lived.");
    write_one(out, "threads", model->lived_count);
}

/* Sums by direction; a direction without a copy is left out. */
static void write_copies(const struct bp_model *model, FILE *out, const char *name,
                         const char *help, bool bytes) {
    write_family(out, name, "gauge", help);
    for (uint32_t i = 0; i < BP_DIRECTIONS; i++) {
        uint64_t count = 0;
        uint64_t sum = 0;
        for (uint32_t k = 0; k < model->cuda.transfer_count; k++) {
            const struct bp_model_transfer *transfer = &model->cuda.transfers[k];
            bool here = transfer->direction == i;
            count += here ? transfer->count : 0;
            sum += here ? bytes ? transfer->bytes : transfer->count : 0;
        }
        if (!count)
            continue;
        write_label(out, name, "direction", bp_direction_names[i]);
        fprintf(out, "%llu\n", (unsigned long long)sum);
    }
}

static void write_devices(const struct bp_model *model, FILE *out) {
    if (!bp_model_used_cuda(model))
        return;
    write_copies(model, out, "copies", "Copies by direction.", false);
    write_copies(model, out, "copied_bytes", "Bytes of the copies by direction.", true);
    write_family(out, "device_busy_seconds", "gauge",
                 "Time in which a device copied or computed; unknown without kernel records.");
    for (uint32_t i = 0; i < model->cuda.device_count; i++) {
        const struct bp_model_device *device = &model->cuda.devices[i];
        if (device->kernels_unknown)
            continue;
        fprintf(out, "battprof_device_busy_seconds{gpu=\"%u\",name=\"", i);
        write_value(device->name, out);
        fputs("\"} ", out);
        write_number(out, device->busy_s);
    }
}

/* From a millisecond to three hours, two a decade; OpenMetrics wants a point in each. */
#define BOUND(value)                                                                               \
    { value, #value }
static const struct {
    double value;
    const char *text;
} bounds[] = {BOUND(0.001), BOUND(0.003), BOUND(0.01),   BOUND(0.03),   BOUND(0.1),
              BOUND(0.3),   BOUND(1.0),   BOUND(3.0),    BOUND(10.0),   BOUND(30.0),
              BOUND(100.0), BOUND(300.0), BOUND(1000.0), BOUND(3000.0), BOUND(10000.0)};

static void write_durations(const struct bp_model *model, FILE *out) {
    const char *name = "task_duration_seconds";
    uint32_t count;
    uint32_t below = 0;
    double sum_s = 0;
    double *values = bp_task_durations(model, &count);
    for (uint32_t i = 0; i < count; i++)
        sum_s += values[i];
    write_family(out, name, "histogram", "Durations of the tasks that ended.");
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        while (below < count && values[below] <= bounds[i].value)
            below++;
        fprintf(out, "battprof_%s_bucket{le=\"%s\"} %u\n", name, bounds[i].text, below);
    }
    fprintf(out, "battprof_%s_bucket{le=\"+Inf\"} %u\nbattprof_%s_sum %.9g\nbattprof_%s_count %u\n",
            name, count, name, sum_s, name, count);
    free(values);
}

static void write_tasks(const struct bp_model *model, FILE *out) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    const struct {
        const char *state;
        uint32_t count;
    } states[] = {{"ended", summary->ended - summary->failed},
                  {"failed", summary->failed},
                  {"unfinished", summary->unfinished}};
    if (!summary->count)
        return;
    write_family(out, "tasks", "gauge", "Tasks by how they ended.");
    for (int i = 0; i < 3; i++) {
        write_label(out, "tasks", "state", states[i].state);
        fprintf(out, "%u\n", states[i].count);
    }
    write_durations(model, out);
}

int bp_export_openmetrics(const struct bp_export *export, FILE *out) {
    write_wall(export->model, out);
    write_devices(export->model, out);
    write_tasks(export->model, out);
    fputs("# EOF\n", out);
    return ferror(out) ? -1 : 0;
}
