/* SPDX-License-Identifier: MIT
 *
 * pprof's profile.proto. A sample is a context of a thread, or of several categories one each; its
 * labels say whose it was. Sampled stacks stand beside the contexts with CPU time alone, so that no
 * exact time depends on them. Messages of the file may come in any order: each is written as soon
 * as it is known.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"
#include "tools/export/proto.h"
#include "tools/export/share.h"

/* Numbers of fields. */
enum profile {
    SAMPLE_TYPE = 1,
    SAMPLE,
    MAPPING,
    LOCATION,
    FUNCTION,
    STRING,
    TIME = 9,
    DURATION,
    COMMENT = 13,
    DEFAULT_TYPE
};
enum value_type { TYPE = 1, UNIT };
enum sample { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum label { LABEL_KEY = 1, LABEL_TEXT };
enum mapping {
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
    MAPPING_HAS_INLINES
};
enum location { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum line { LINE_FUNCTION = 1, LINE_LINE };
enum function {
    FUNCTION_ID = 1,
    FUNCTION_NAME,
    FUNCTION_SYSTEM_NAME,
    FUNCTION_FILE,
    FUNCTION_LINE
};

/* The order of a sample's values; bytes are left out where nothing was copied. */
enum value { CALLS, WALL, THREAD, CPU, BYTES, VALUES };

static const struct {
    const char *type;
    const char *unit;
} value_types[] = {{"calls", "count"},
                   {"wall", "nanoseconds"},
                   {"thread", "nanoseconds"},
                   {"cpu", "nanoseconds"},
                   {"bytes", "bytes"}};

struct pprof {
    const struct bp_export *export;
    const struct bp_model *model;
    FILE *out;
    struct bp_keys strings;
    struct bp_keys mappings;
    bool *defined; /* per frame: its location is written */
    struct bp_proto top;
    struct bp_proto message;
    struct bp_proto inner;
    struct bp_proto labels; /* of all samples of a thread, written */
    struct bp_task_shares shares;
    uint64_t *stack;
    uint32_t room; /* of stack */
    size_t value_count;
};

static void flush(struct pprof *pprof) {
    fwrite(pprof->top.data, 1, pprof->top.length, pprof->out);
    pprof->top.length = 0;
}

/* Its number in the table of strings; the text is UTF-8. */
static uint64_t put_string(struct pprof *pprof, const char *text) {
    uint32_t known = pprof->strings.count;
    uint32_t number = bp_keys_put(&pprof->strings, text, strlen(text));
    if (number == known) {
        bp_proto_text(&pprof->top, STRING, text);
        flush(pprof);
    }
    return number;
}

/* The number of any text, which may be no UTF-8. */
static uint64_t put_text(struct pprof *pprof, const char *text) {
    char *clean = bp_utf8_text(text);
    uint64_t number = put_string(pprof, clean);
    free(clean);
    return number;
}

static void put_label(struct pprof *pprof, struct bp_proto *to, const char *key, const char *text) {
    if (!text[0])
        return;
    bp_proto_number(&pprof->inner, LABEL_KEY, put_string(pprof, key));
    bp_proto_number(&pprof->inner, LABEL_TEXT, put_text(pprof, text));
    bp_proto_message(to, SAMPLE_LABEL, &pprof->inner);
}

/* Symbolised, so that no reader looks for the file. */
static uint32_t put_mapping(struct pprof *pprof, const char *path) {
    uint32_t known = pprof->mappings.count;
    uint32_t number = bp_keys_put(&pprof->mappings, path, strlen(path));
    if (number < known)
        return number + 1;
    uint64_t file = put_text(pprof, path[0] ? path : "[battprof]");
    bp_proto_number(&pprof->message, MAPPING_ID, number + 1);
    bp_proto_number(&pprof->message, MAPPING_FILE, file);
    for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINES; field++)
        bp_proto_number(&pprof->message, field, 1);
    bp_proto_message(&pprof->top, MAPPING, &pprof->message);
    flush(pprof);
    return number + 1;
}

/* A function and its one location, which have the frame's number + 1: 0 is none. */
static void define_frame(struct pprof *pprof, uint32_t frame) {
    const struct bp_function *function = bp_export_function(pprof->model, frame);
    uint64_t name = put_string(pprof, pprof->export->frames[frame]);
    uint64_t system_name = function ? put_text(pprof, function->full_name) : name;
    uint64_t file = put_text(pprof, bp_export_file(pprof->model, frame));
    uint32_t mapping = put_mapping(pprof, bp_export_library(pprof->model, frame));
    uint32_t line = bp_export_line(pprof->model, frame);
    bp_proto_number(&pprof->message, FUNCTION_ID, frame + 1);
    bp_proto_number(&pprof->message, FUNCTION_NAME, name);
    bp_proto_number(&pprof->message, FUNCTION_SYSTEM_NAME, system_name);
    bp_proto_number(&pprof->message, FUNCTION_FILE, file);
    bp_proto_number(&pprof->message, FUNCTION_LINE, line);
    bp_proto_message(&pprof->top, FUNCTION, &pprof->message);
    bp_proto_number(&pprof->inner, LINE_FUNCTION, frame + 1);
    bp_proto_number(&pprof->inner, LINE_LINE, line);
    bp_proto_number(&pprof->message, LOCATION_ID, frame + 1);
    bp_proto_number(&pprof->message, LOCATION_MAPPING, mapping);
    bp_proto_message(&pprof->message, LOCATION_LINE, &pprof->inner);
    bp_proto_message(&pprof->top, LOCATION, &pprof->message);
    flush(pprof);
    pprof->defined[frame] = true;
}

/* The row's locations, the innermost first. */
static void put_stack(struct pprof *pprof, const struct bp_walk_row *row) {
    if (row->depth + 1 > pprof->room) {
        pprof->room = 2 * (row->depth + 1);
        pprof->stack = bp_resize(pprof->stack, pprof->room, sizeof(*pprof->stack));
    }
    for (uint32_t i = 0; i <= row->depth; i++) {
        uint32_t frame = bp_export_frame(pprof->model, row->functions[row->depth - i]);
        if (!pprof->defined[frame])
            define_frame(pprof, frame);
        pprof->stack[i] = frame + 1;
    }
}

/* The device of a context's copies, where all were of one. */
static void put_device_label(struct pprof *pprof, const struct bp_walk_row *row) {
    uint64_t devices = row->devices;
    char device[16];
    if (!devices || devices & (devices - 1))
        return;
    snprintf(device, sizeof(device), "%u",
             pprof->model->cuda.devices[__builtin_ctzll(devices)].index);
    put_label(pprof, &pprof->message, "gpu", device);
}

/* What a sample has beside its thread's labels; "" for none. */
struct labels {
    const char *category;
    const char *task;
    const char *direction;
};

/* The row's stack is in place. */
static void put_sample(struct pprof *pprof, const struct bp_walk_row *row, const uint64_t *values,
                       const struct labels *labels) {
    uint32_t frame = bp_export_frame(pprof->model, row->functions[row->depth]);
    const struct bp_function *function = bp_export_function(pprof->model, frame);
    bp_proto_packed(&pprof->message, SAMPLE_LOCATION, pprof->stack, row->depth + 1);
    bp_proto_packed(&pprof->message, SAMPLE_VALUE, values, pprof->value_count);
    put_label(pprof, &pprof->message, "category", labels->category);
    put_label(pprof, &pprof->message, "group", function ? function->group : "");
    put_label(pprof, &pprof->message, "task", labels->task);
    put_label(pprof, &pprof->message, "direction", labels->direction);
    put_device_label(pprof, row);
    bp_proto_append(&pprof->message, &pprof->labels);
    bp_proto_message(&pprof->top, SAMPLE, &pprof->message);
    flush(pprof);
}

/* A context may copy in several directions: what it took is known together, bytes are not. */
static void put_bytes(struct pprof *pprof, const struct bp_walk_row *row) {
    struct labels labels = {bp_category_name(BP_TRANSFER), "", ""};
    for (int i = 0; row->bytes && i < BP_DIRECTIONS; i++) {
        uint64_t values[VALUES] = {[BYTES] = row->direction_bytes[i]};
        labels.direction = bp_direction_names[i];
        if (values[BYTES])
            put_sample(pprof, row, values, &labels);
    }
}

/* Values of a row from `from` to `to` of it, 0 to 1: what one task had, or one category. Sums over
 * all parts are those of the row. */
static bool slice(const struct bp_walk_row *row, double from, double to, uint64_t *values) {
    static const enum bp_weight weights[] = {BP_WEIGHT_CALLS, BP_WEIGHT_WALL, BP_WEIGHT_THREAD,
                                             BP_WEIGHT_CPU};
    bool any = false;
    values[BYTES] = 0; /* put_bytes() */
    for (int i = 0; i < BYTES; i++) {
        double whole = (double)bp_export_weigh(row, weights[i]);
        values[i] = bp_whole(whole * to + 0.5) - bp_whole(whole * from + 0.5);
        any |= values[i] > 0;
    }
    return any;
}

/* One sample for each category that the part of the row has. */
static void put_part(struct pprof *pprof, const struct bp_walk_row *row, double from, double to,
                     const char *task) {
    uint64_t values[VALUES];
    double shares[BP_CATEGORIES];
    double end = from;
    uint32_t frame = bp_export_frame(pprof->model, row->functions[row->depth]);
    bp_export_shares(pprof->model, row, shares);
    for (int i = 0; i < BP_CATEGORIES; i++) {
        double begin = end;
        end = i + 1 < BP_CATEGORIES ? begin + (to - from) * shares[i] : to;
        const char *category = bp_export_category(pprof->model, frame, (enum bp_category)i);
        if (end > begin && slice(row, begin, end, values))
            put_sample(pprof, row, values, &(struct labels){category, task, ""});
    }
}

static bool put_row(const struct bp_walk_row *row, void *data) {
    struct pprof *pprof = data;
    double from = 0;
    const struct bp_task_share *share = bp_task_shares_find(&pprof->shares, row->context);
    put_stack(pprof, row);
    for (; share && share->context == row->context && from < 1; share++) {
        double to = from + share->part < 1 ? from + share->part : 1;
        put_part(pprof, row, from, to, share->task);
        from = to;
    }
    put_part(pprof, row, from, 1, "");
    put_bytes(pprof, row);
    return true;
}

/* Whose all samples of a thread are. */
static void label_thread(struct pprof *pprof, const struct bp_model_thread *thread) {
    const struct bp_model_process *process = &pprof->model->processes[thread->process];
    const struct bp_header *header = &process->profile->header;
    char *names[] = {bp_make_text("%d", header->pid),
                     bp_make_text("%d %s", thread->source->info.tid, thread->source->info.name),
                     bp_make_text("%s", header->host), bp_make_text("%d", process->rank)};
    pprof->labels.length = 0;
    put_label(pprof, &pprof->labels, "process", names[0]);
    put_label(pprof, &pprof->labels, "thread", names[1]);
    put_label(pprof, &pprof->labels, "host", names[2]);
    if (process->rank >= 0)
        put_label(pprof, &pprof->labels, "rank", names[3]);
    for (int i = 0; i < 4; i++)
        free(names[i]);
}

static void put_thread(struct pprof *pprof, uint32_t number) {
    label_thread(pprof, &pprof->model->threads[number]);
    if (pprof->export->by_task)
        bp_task_shares_init(&pprof->shares, pprof->model, number);
    bp_export_contexts(pprof->model, number, put_row, pprof);
    bp_task_shares_fini(&pprof->shares);
    bp_walk_stacks(pprof->model, number, put_row, pprof);
}

static void put_head(struct pprof *pprof) {
    const struct bp_model *model = pprof->model;
    char *comment = bp_export_comment(BP_EXPORT_pprof);
    put_string(pprof, ""); /* the first one must be */
    for (size_t i = 0; i < pprof->value_count; i++) {
        bp_proto_number(&pprof->message, TYPE, put_string(pprof, value_types[i].type));
        bp_proto_number(&pprof->message, UNIT, put_string(pprof, value_types[i].unit));
        bp_proto_message(&pprof->top, SAMPLE_TYPE, &pprof->message);
        flush(pprof);
    }
    uint64_t texts[] = {put_string(pprof, comment), put_text(pprof, model->run.command)};
    bp_proto_number(&pprof->top, TIME, model->run.began_ns);
    bp_proto_number(&pprof->top, DURATION, bp_export_ns(model->wall.total_s));
    bp_proto_number(&pprof->top, COMMENT, texts[0]);
    bp_proto_number(&pprof->top, COMMENT, texts[1]);
    flush(pprof);
    uint64_t wall = put_string(pprof, value_types[WALL].type);
    bp_proto_number(&pprof->top, DEFAULT_TYPE, wall);
    flush(pprof);
    free(comment);
}

int bp_export_pprof(const struct bp_export *export, FILE *out) {
    const struct bp_model *model = export->model;
    struct pprof pprof = {.export = export, .model = model, .out = out};
    pprof.defined = bp_alloc(bp_export_frame_count(model), sizeof(*pprof.defined));
    pprof.value_count = model->cuda.transfer_count ? VALUES : BYTES;
    put_head(&pprof);
    for (uint32_t i = 0; i < model->thread_count; i++)
        put_thread(&pprof, i);
    pprof.labels.length = 0;
    bp_export_rest(model, put_row, &pprof);
    bp_keys_fini(&pprof.strings);
    bp_keys_fini(&pprof.mappings);
    bp_proto_fini(&pprof.top);
    bp_proto_fini(&pprof.message);
    bp_proto_fini(&pprof.inner);
    bp_proto_fini(&pprof.labels);
    free(pprof.defined);
    free(pprof.stack);
    return ferror(out) ? -1 : 0;
}
