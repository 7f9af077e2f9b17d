/* SPDX-License-Identifier: MIT
 *
 * Source text around the lines in which functions spent their time. The lines of the functions with
 * most time come first; where the limit is reached the rest have none.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/source.h"
#include "tools/export/html/data.h"

/* Lines before and after one that took time. */
#define AROUND 3

struct wanted {
    const char *directory;
    const char *file;
    uint32_t line;
};

struct sources {
    const struct bp_model *model;
    struct bp_keys table; /* of file and line */
    struct wanted *lines;
    uint32_t count;
    uint32_t most;
};

static void want_line(struct sources *sources, const struct bp_source_line *from, uint32_t line) {
    struct {
        const char *file;
        uint64_t line;
    } key = {from->file, line};
    uint32_t before = sources->table.count;
    if (sources->count >= sources->most ||
        bp_keys_put(&sources->table, &key, sizeof(key)) != before)
        return;
    *BP_APPEND(sources->lines, sources->count) = (struct wanted){from->directory, from->file, line};
}

static void want_function(struct sources *sources, const struct bp_function_lines *lines) {
    for (uint32_t i = 0; i < lines->count; i++) {
        const struct bp_source_line *line = &lines->lines[i];
        if (!bp_model_source(sources->model, line))
            continue;
        uint32_t first = line->line > AROUND ? line->line - AROUND : 1;
        for (uint32_t k = first; k <= line->line + AROUND; k++)
            want_line(sources, line, k);
    }
}

static int compare_functions(const void *a, const void *b) {
    const struct bp_function_lines *x = *(const struct bp_function_lines *const *)a;
    const struct bp_function_lines *y = *(const struct bp_function_lines *const *)b;
    return x->total_s > y->total_s ? -1 : x->total_s < y->total_s;
}

static void want_lines(struct sources *sources) {
    const struct bp_model *model = sources->model;
    const struct bp_function_lines **order = bp_alloc(model->function_count + 1, sizeof(*order));
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        order[count] = bp_model_lines(model, i);
        count += order[count] && order[count]->count > 0;
    }
    qsort(order, count, sizeof(*order), compare_functions);
    for (uint32_t i = 0; i < count; i++)
        want_function(sources, order[i]);
    free(order);
}

static int compare_lines(const void *a, const void *b) {
    const struct wanted *x = a;
    const struct wanted *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Spaces before a line are part of it here. */
static void write_line(const struct sources *sources, const struct wanted *line, FILE *out) {
    struct bp_sources *files = sources->model->lines.sources;
    const char *text = bp_sources_line(files, line->directory, line->file, line->line);
    uint32_t indent = bp_sources_indent(files, line->directory, line->file, line->line);
    size_t length = strlen(text ? text : "");
    char *full = bp_alloc(indent + length + 1, 1);
    memset(full, ' ', indent);
    memcpy(full + indent, text ? text : "", length);
    fprintf(out, "\"%u\":", line->line);
    bp_html_string(full, out);
    free(full);
}

void bp_html_sources(const struct bp_model *model, uint32_t most, FILE *out) {
    struct sources sources = {.model = model, .most = most};
    fputs("\"sources\":{", out);
    if (model->lines.sources)
        want_lines(&sources);
    if (sources.count)
        qsort(sources.lines, sources.count, sizeof(*sources.lines), compare_lines);
    for (uint32_t i = 0; i < sources.count; i++) {
        bool same = i > 0 && strcmp(sources.lines[i - 1].file, sources.lines[i].file) == 0;
        if (!same) {
            fputs(i > 0 ? "},\n" : "", out);
            bp_html_string(sources.lines[i].file, out);
            fputs(":{", out);
        } else
            fputc(',', out);
        write_line(&sources, &sources.lines[i], out);
    }
    fputs(sources.count ? "}},\n" : "},\n", out);
    free(sources.lines);
    bp_keys_fini(&sources.table);
}
