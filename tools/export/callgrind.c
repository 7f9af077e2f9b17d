/* SPDX-License-Identifier: MIT
 *
 * Callgrind's format: what a function took itself, and for each function that it called how often
 * and with what in all. A function within itself has a number, as Callgrind's own --separate-recs
 * gives it ("f'2"): without it inclusive times would count twice.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"

enum event { WALL, THREAD, CALLS, BYTES, EVENTS };

/* A frame, and how often it is on the stack. */
struct place {
    uint32_t frame;
    uint32_t level;
};

/* Costs of a place itself, or of an edge to another with all below it. */
struct cost {
    uint32_t to; /* of an edge: its place */
    uint64_t calls;
    double value[EVENTS];
    uint32_t next; /* of an edge: the next one of the same caller, + 1 */
};

struct callgrind {
    const struct bp_export *export;
    FILE *out;
    struct bp_keys place_keys;
    struct place *places;
    struct cost *self;    /* per place */
    uint32_t *first_edge; /* the same, + 1 */
    uint32_t place_count;
    struct bp_keys edge_keys;
    struct cost *edges;
    uint32_t edge_count;
    bool *named;    /* per place */
    uint32_t *path; /* places of the row that is visited and of its callers */
    struct bp_keys objects;
    struct bp_keys files;
};

static uint32_t put_place(struct callgrind *callgrind, const struct bp_walk_row *row) {
    struct place place = {bp_export_frame(callgrind->export->model, row->functions[row->depth]), 0};
    for (uint32_t i = 0; i < row->depth; i++)
        place.level += row->functions[i] == row->functions[row->depth];
    uint32_t number = bp_keys_put(&callgrind->place_keys, &place, sizeof(place));
    if (number == callgrind->place_count) {
        *BP_PLACE(callgrind->places, number) = place;
        *BP_PLACE(callgrind->self, number) = (struct cost){0};
        *BP_PLACE(callgrind->first_edge, number) = 0;
        callgrind->place_count++;
    }
    return number;
}

static struct cost *put_edge(struct callgrind *callgrind, uint32_t from, uint32_t to) {
    uint32_t key[] = {from, to};
    uint32_t number = bp_keys_put(&callgrind->edge_keys, key, sizeof(key));
    if (number == callgrind->edge_count) {
        struct cost *edge = BP_APPEND(callgrind->edges, callgrind->edge_count);
        edge->to = to;
        edge->next = callgrind->first_edge[from];
        callgrind->first_edge[from] = number + 1;
    }
    return &callgrind->edges[number];
}

/* Calls and bytes of a row go to every edge of its path; each place is on it once. */
static void add_upwards(struct callgrind *callgrind, const struct bp_walk_row *row) {
    for (uint32_t i = 1; i <= row->depth; i++) {
        struct cost *edge = put_edge(callgrind, callgrind->path[i - 1], callgrind->path[i]);
        edge->value[CALLS] += (double)row->calls;
        edge->value[BYTES] += (double)row->bytes;
    }
}

static bool add_row(const struct bp_walk_row *row, void *data) {
    struct callgrind *callgrind = data;
    uint32_t place = put_place(callgrind, row);
    struct cost *self = &callgrind->self[place];
    callgrind->path[row->depth] = place;
    self->value[WALL] += row->wall_s;
    self->value[THREAD] += row->self_s;
    self->value[CALLS] += (double)row->calls;
    self->value[BYTES] += (double)row->bytes;
    if (row->depth == 0)
        return true;
    struct cost *edge = put_edge(callgrind, callgrind->path[row->depth - 1], place);
    edge->calls += row->calls + callgrind->export->model->contexts[row->context].in_flight;
    edge->value[WALL] += row->total_wall_s;
    edge->value[THREAD] += row->total_s;
    if (row->calls || row->bytes)
        add_upwards(callgrind, row);
    return true;
}

/* A line ends a record: it may not come from a name. */
static void write_clean(const char *text, FILE *out) {
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
}

/* "ob=(3) /usr/lib/libm.so", and from the second time on "ob=(3)". */
static void write_name(struct bp_keys *known, const char *key, const char *name, FILE *out) {
    uint32_t count = known->count;
    uint32_t number = bp_keys_put(known, name, strlen(name));
    fprintf(out, "%s=(%u)", key, number + 1);
    if (number == count) {
        char *clean = bp_utf8_text(name[0] ? name : "???");
        fputc(' ', out);
        write_clean(clean, out);
        free(clean);
    }
    fputc('\n', out);
}

/* The library, and the source file or "[libm.so]": readers open what has a path as a source. */
static void write_file(struct callgrind *callgrind, bool callee, uint32_t frame) {
    const struct bp_model *model = callgrind->export->model;
    const struct bp_function *function = bp_export_function(model, frame);
    const char *library = bp_export_library(model, frame);
    const char *path = bp_export_file(model, frame);
    bool source = function && function->file && function->file[0];
    char *file = source || !path[0] ? bp_copy_text(path) : bp_make_text("[%s]", bp_base_name(path));
    write_name(&callgrind->objects, callee ? "cob" : "ob", library, callgrind->out);
    write_name(&callgrind->files, callee ? "cfi" : "fl", file, callgrind->out);
    free(file);
}

static void write_place(struct callgrind *callgrind, const char *key, uint32_t number) {
    const struct place *place = &callgrind->places[number];
    fprintf(callgrind->out, "%s=(%u)", key, number + 1);
    if (!callgrind->named[number]) {
        fputc(' ', callgrind->out);
        write_clean(callgrind->export->frames[place->frame], callgrind->out);
        if (place->level)
            fprintf(callgrind->out, "'%u", place->level + 1);
    }
    callgrind->named[number] = true;
    fputc('\n', callgrind->out);
}

/* As it is written: times are nanoseconds. */
static uint64_t count_of(int event, double value) {
    return event == WALL || event == THREAD ? bp_export_ns(value) : (uint64_t)value;
}

static void write_cost(struct callgrind *callgrind, uint32_t line, const struct cost *cost) {
    fprintf(callgrind->out, "%u", line);
    for (int i = 0; i < EVENTS; i++)
        fprintf(callgrind->out, " %llu", (unsigned long long)count_of(i, cost->value[i]));
    fputc('\n', callgrind->out);
}

static void write_function(struct callgrind *callgrind, uint32_t number) {
    const struct bp_model *model = callgrind->export->model;
    uint32_t frame = callgrind->places[number].frame;
    uint32_t line = bp_export_line(model, frame);
    fputc('\n', callgrind->out);
    write_file(callgrind, false, frame);
    write_place(callgrind, "fn", number);
    write_cost(callgrind, line, &callgrind->self[number]);
    for (uint32_t i = callgrind->first_edge[number]; i; i = callgrind->edges[i - 1].next) {
        const struct cost *edge = &callgrind->edges[i - 1];
        uint32_t to = callgrind->places[edge->to].frame;
        write_file(callgrind, true, to);
        write_place(callgrind, "cfn", edge->to);
        /* With none the next line would be read as self cost. */
        fprintf(callgrind->out, "calls=%llu %u\n",
                (unsigned long long)(edge->calls ? edge->calls : 1), bp_export_line(model, to));
        write_cost(callgrind, line, edge);
    }
}

/* All of the run: readers would add up inclusive costs for it. */
static void write_summary(const struct callgrind *callgrind) {
    uint64_t sum[EVENTS] = {0};
    for (uint32_t i = 0; i < callgrind->place_count; i++)
        for (int k = 0; k < EVENTS; k++)
            sum[k] += count_of(k, callgrind->self[i].value[k]);
    fputs("summary:", callgrind->out);
    for (int k = 0; k < EVENTS; k++)
        fprintf(callgrind->out, " %llu", (unsigned long long)sum[k]);
    fputc('\n', callgrind->out);
}

static void write_head(struct callgrind *callgrind) {
    const struct bp_model *model = callgrind->export->model;
    char *command = bp_utf8_text(model->run.command);
    char *comment = bp_export_comment(BP_EXPORT_callgrind);
    fprintf(callgrind->out, "# callgrind format\nversion: 1\ncreator: battprof\ncmd: ");
    write_clean(command, callgrind->out);
    fprintf(callgrind->out,
            "\ndesc: Note: %s\npositions: line\n"
            "event: wall : wall [ns]\nevent: thread : thread time [ns]\n"
            "event: calls : calls\nevent: bytes : bytes copied between host and device\n"
            "events: wall thread calls bytes\n",
            comment);
    write_summary(callgrind);
    free(comment);
    free(command);
}

int bp_export_callgrind(const struct bp_export *export, FILE *out) {
    struct callgrind callgrind = {.export = export, .out = out};
    callgrind.path = bp_alloc(export->model->context_count + 1, sizeof(*callgrind.path));
    bp_export_contexts(export->model, BP_ALL_THREADS, add_row, &callgrind);
    callgrind.named = bp_alloc(callgrind.place_count + 1, sizeof(*callgrind.named));
    write_head(&callgrind);
    for (uint32_t i = 0; i < callgrind.place_count; i++)
        write_function(&callgrind, i);
    bp_keys_fini(&callgrind.place_keys);
    bp_keys_fini(&callgrind.edge_keys);
    bp_keys_fini(&callgrind.objects);
    bp_keys_fini(&callgrind.files);
    free(callgrind.places);
    free(callgrind.self);
    free(callgrind.first_edge);
    free(callgrind.edges);
    free(callgrind.named);
    free(callgrind.path);
    return ferror(out) ? -1 : 0;
}
