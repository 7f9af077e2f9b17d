/* SPDX-License-Identifier: MIT
 *
 * Lists of numbers by column: they compress well, and a script reads 100,000 nodes in a moment.
 * Times are whole nanoseconds, of single threads and tasks microseconds.
 */
#include "tools/export/html/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/projection.h"
#include "tools/base/json.h"
#include "tools/base/memory.h"
#include "tools/export/html/graph.h"
#include "tools/model/owner/split.h"
#include "tools/model/walk.h"

static const char *const measures[BP_GRAPH_MEASURES] = {"wall", "thread", "calls", "bytes"};

struct data {
    const struct bp_model *model;
    const struct bp_html_limits *limits;
    FILE *out;
    struct bp_graph graph;
    struct bp_html_numbers numbers;
};

void bp_html_string(const char *text, FILE *out) {
    json_t *string = bp_json_text(text);
    json_dumpf(string, out, JSON_ENCODE_ANY);
    json_decref(string);
}

static long long whole(double value) {
    return isfinite(value) ? llround(value) : 0;
}

static double unit_of(int measure) {
    return measure <= BP_GRAPH_THREAD ? 1e9 : 1;
}

uint32_t bp_html_number(struct bp_html_numbers *numbers, uint32_t function) {
    if (!numbers->of[function]) {
        *BP_APPEND(numbers->functions, numbers->count) = function;
        numbers->of[function] = numbers->count;
    }
    return numbers->of[function] - 1;
}

/* -1 to -3: a category; -4: callers that are unknown; -5: blocked. */
static int node_function(struct data *data, const struct bp_graph_node *node) {
    if (node->kind == BP_GRAPH_FOLDED)
        return (int)node->function;
    if (node->kind == BP_GRAPH_SPLIT)
        return -1 - (int)(node->function - BP_GRAPH_PSEUDO);
    return node->function == BP_NO_FUNCTION ? -4
                                            : (int)bp_html_number(&data->numbers, node->function);
}

/* Node 0 stands above the roots and is left out; a parent is how far back it is. */
static void write_nodes(struct data *data) {
    struct bp_graph *graph = &data->graph;
    double(*values)[BP_GRAPH_MEASURES] = bp_graph_collect(graph, BP_ALL_THREADS);
    fputs("\"nodes\":{\"kind\":\"", data->out);
    for (uint32_t i = 1; i < graph->kept; i++)
        fputc('0' + (int)graph->kept_nodes[i].kind, data->out);
    fputs("\",\"parent\":[", data->out);
    for (uint32_t i = 1; i < graph->kept; i++)
        fprintf(data->out, "%s%u", i > 1 ? "," : "", i - graph->kept_nodes[i].parent);
    fputs("],\"function\":[", data->out);
    for (uint32_t i = 1; i < graph->kept; i++)
        fprintf(data->out, "%s%d", i > 1 ? "," : "", node_function(data, &graph->kept_nodes[i]));
    for (int k = 0; k < BP_GRAPH_MEASURES; k++) {
        fprintf(data->out, "],\"%s\":[", measures[k]);
        for (uint32_t i = 1; i < graph->kept; i++)
            fprintf(data->out, "%s%lld", i > 1 ? "," : "", whole(values[i][k] * unit_of(k)));
    }
    fputs("]},\n", data->out);
    free(values);
}

/* What of the run is in no context. */
static void write_rest(const struct data *data) {
    const struct bp_model *model = data->model;
    double idle_s = model->wall.idle_s;
    for (uint32_t i = 0; i < model->context_count; i++)
        idle_s -= model->contexts[i].idle_s;
    fprintf(data->out,
            "\"rest\":{\"idle\":%lld,\"start\":%lld,\"unsplit\":%lld,\"profiler\":%lld,"
            "\"paused\":%lld,\"thread_profiler\":%lld},\n",
            whole(idle_s * 1e9), whole(model->wall.start_s * 1e9),
            whole(model->wall.unsplit_s * 1e9), whole(model->wall.overhead_s * 1e9),
            whole(model->wall.paused_s * 1e9), whole(model->thread_time.overhead_s * 1e9));
}

/* In microseconds: one of many threads is looked at less closely. What a thread has of the wall
 * follows from its thread time. */
static void write_values(struct data *data, uint32_t thread) {
    uint32_t count = data->graph.kept;
    double(*values)[BP_GRAPH_MEASURES] = bp_graph_collect(&data->graph, thread);
    uint32_t *used = bp_alloc(count + 1, sizeof(*used));
    uint32_t used_count = 0;
    for (uint32_t i = 1; i < count; i++)
        for (int k = 0; k < BP_GRAPH_MEASURES; k++)
            if (whole(values[i][k] * unit_of(k))) {
                used[used_count++] = i;
                break;
            }
    fputs("\"node\":[", data->out);
    for (uint32_t i = 0; i < used_count; i++)
        fprintf(data->out, "%s%u", i ? "," : "", used[i] - (i ? used[i - 1] : 0));
    for (int k = BP_GRAPH_THREAD; k < BP_GRAPH_MEASURES; k++) {
        double unit = k == BP_GRAPH_THREAD ? 1e6 : 1;
        fprintf(data->out, "],\"%s\":[", measures[k]);
        for (uint32_t i = 0; i < used_count; i++)
            fprintf(data->out, "%s%lld", i ? "," : "", whole(values[used[i]][k] * unit));
    }
    fputs("]", data->out);
    free(values);
    free(used);
}

static void write_thread(struct data *data, uint32_t number, bool with_values) {
    const struct bp_model_thread *thread = &data->model->threads[number];
    const struct bp_model_process *process = &data->model->processes[thread->process];
    const struct bp_thread *info = &thread->source->info;
    double start_s = process->start_s;
    double lived_s = thread->lifetime_s;
    if (info->start > process->profile->header.start)
        start_s += (double)(info->start - process->profile->header.start) * process->tick_s;
    if (info->lives > 1) /* of these the last one; how long the others had been is in their sum */
        lived_s -= (double)info->lifetime * process->tick_s;
    fprintf(data->out, "%s{\"start\":%lld,\"lived\":%lld,\"profiler\":%lld", number ? ",\n" : "",
            whole(start_s * 1e9), whole(lived_s * 1e9), whole(thread->overhead_s * 1e9));
    if (with_values) {
        fputc(',', data->out);
        write_values(data, number);
    }
    fputc('}', data->out);
}

/* In the order of the JSON report's thread_list. One thread is what all are. */
static void write_threads(struct data *data) {
    uint32_t count = data->model->thread_count;
    fputs("\"threads\":[", data->out);
    for (uint32_t i = 0; i < count; i++)
        write_thread(data, i, count > 1 && i < data->limits->threads);
    fputs("],\n", data->out);
}

/* A power of two of nanoseconds, then how many calls took from that to twice that, and so on. */
static void write_histogram(FILE *out, const struct bp_call_times *times, double tick_s) {
    unsigned long long calls[64] = {0};
    int first = 63, last = 0;
    for (unsigned i = 1; i < BP_BUCKETS; i++)
        if (times->histogram[i]) {
            int power = ilogb(fmax(1, (double)bp_bucket_low(i) * tick_s * 1e9));
            calls[power] += times->histogram[i];
            first = power < first ? power : first;
            last = power > last ? power : last;
        }
    fprintf(out, "%d", first);
    for (int power = first; power <= last; power++)
        fprintf(out, ",%llu", calls[power]);
}

static void write_histograms(const struct data *data) {
    const struct bp_model *model = data->model;
    const char *comma = "";
    fputs("\"histograms\":{", data->out);
    for (uint32_t i = 0; i < model->function_count; i++) {
        if (!data->numbers.of[i] || !model->call_times[i].returned)
            continue;
        fprintf(data->out, "%s\"%u\":[", comma, data->numbers.of[i] - 1);
        write_histogram(data->out, &model->call_times[i], model->run.tick_s);
        fputs("]", data->out);
        comma = ",\n";
    }
    fputs("},\n", data->out);
}

/* Tasks of the largest run that is projected to. Each interval comes from simulated runs: 7,000
 * tasks of them took 0.2 s, three quarters of a page. */
#define MOST_TASKS 1600

/* Runs of other sizes: what the line and its band are drawn through. */
static void write_projection(const struct data *data) {
    static const uint32_t sizes[] = {1, 2, 4};
    struct bp_projection projection;
    struct bp_words none = {0};
    fputs("\"projection\":[", data->out);
    if (bp_projection_init(&projection, data->model, &none))
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            uint64_t tasks = (uint64_t)sizes[i] * projection.from;
            if (i > 1 && tasks > MOST_TASKS)
                break;
            struct bp_scaled scaled = bp_projection_at(&projection, tasks);
            fprintf(data->out, "%s[%llu,%.6g,%.6g,%.6g]", i ? "," : "", (unsigned long long)tasks,
                    scaled.wall_s, scaled.low_s, scaled.high_s);
        }
    bp_projection_fini(&projection);
    fputs("],\n", data->out);
}

static const char *text_of(const struct bp_function *function, int column) {
    const char *name = function->kind == BP_FUNC_ROOT ? function->label : function->full_name;
    return column == 0 ? name : function->library;
}

/* As the headline has it: importing is what its group says. */
static enum bp_split_row owner_of(const struct bp_function *function) {
    enum bp_split_row row = bp_split_row_of(function);
    bool code = row <= BP_SPLIT_STANDARD || row == BP_SPLIT_IO;
    return code && strcmp(function->group, BP_GROUP_IMPORT) == 0 ? BP_SPLIT_IMPORT : row;
}

/* Where the headline is by whose code it was: a letter for each function, of its row there. */
static void write_owners(const struct data *data) {
    const struct bp_html_numbers *numbers = &data->numbers;
    fputs(",\"owner\":\"", data->out);
    for (uint32_t i = 0; i < numbers->count; i++)
        fputc('a' + (int)owner_of(&data->model->functions[numbers->functions[i]]), data->out);
    fputs("\"", data->out);
}

/* Last: now it is known which of them are used. */
static void write_functions(const struct data *data) {
    static const char *const names[] = {"name", "library"};
    const struct bp_html_numbers *numbers = &data->numbers;
    const struct bp_function *functions = data->model->functions;
    fputs("\"functions\":{\"category\":\"", data->out);
    for (uint32_t i = 0; i < numbers->count; i++)
        fputc('0' + (int)functions[numbers->functions[i]].category, data->out);
    fputs("\",\"kind\":\"", data->out);
    for (uint32_t i = 0; i < numbers->count; i++)
        fputc('0' + (int)functions[numbers->functions[i]].kind, data->out);
    fputs("\"", data->out);
    if (data->model->split.leads)
        write_owners(data);
    for (int column = 0; column < 2; column++) {
        fprintf(data->out, ",\"%s\":[", names[column]);
        for (uint32_t i = 0; i < numbers->count; i++) {
            fputs(i ? "," : "", data->out);
            bp_html_string(text_of(&functions[numbers->functions[i]], column), data->out);
        }
        fputs("]", data->out);
    }
    fputs("}\n", data->out);
}

void bp_html_data(const struct bp_model *model, const struct bp_html_limits *limits, FILE *out) {
    struct data data = {.model = model, .limits = limits, .out = out};
    data.numbers.of = bp_alloc(model->function_count + 1, sizeof(*data.numbers.of));
    bp_graph_init(&data.graph, model, limits->nodes);
    fprintf(out, "{\"format\":1,\"contexts\":%u,\"folded\":%u,\n", model->context_count - 1,
            data.graph.folded);
    write_nodes(&data);
    write_rest(&data);
    write_threads(&data);
    bp_html_tasks(model, &data.numbers, out);
    write_histograms(&data);
    write_projection(&data);
    bp_html_sources(model, limits->sources, out);
    write_functions(&data);
    fputs("}\n", out);
    bp_graph_fini(&data.graph);
    free(data.numbers.of);
    free(data.numbers.functions);
}
