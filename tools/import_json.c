/* SPDX-License-Identifier: MIT
 *
 * Reads a JSON file that may be compressed and may be cut: a profiler that was killed leaves half a
 * file. gzread passes plain files through, so both are one path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "tools/import.h"

/* Larger than any trace that jansson could hold in the memory of a workstation. */
#define LARGEST ((size_t)8 << 30)
#define ROOM 8 /* for the brackets that end a cut text */

struct content {
    char *text;
    size_t size;
    bool cut; /* the compressed stream ends too soon */
};

/* What a damaged stream gave before the damage is kept. */
static int read_all(struct content *content, gzFile file) {
    size_t allocated = 0;
    for (;;) {
        if (allocated - content->size < (1u << 20) + ROOM) {
            allocated = allocated ? allocated * 2 : (size_t)4 << 20;
            char *grown = allocated <= LARGEST ? realloc(content->text, allocated) : NULL;
            if (!grown)
                return -ENOMEM;
            content->text = grown;
        }
        int got = gzread(file, content->text + content->size, 1u << 20);
        if (got > 0)
            content->size += (size_t)got;
        if (got < (1 << 20)) {
            int problem = Z_OK;
            gzerror(file, &problem);
            content->cut = problem != Z_OK && problem != Z_STREAM_END;
            if (got <= 0)
                return 0;
        }
    }
}

/* The end of the last whole element of an array that the outermost object holds: of `traceEvents`,
 * which comes last but for a few words. 0 if there is none. */
static size_t last_event_end(const struct content *content) {
    size_t end = 0;
    unsigned depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < content->size; i++) {
        char c = content->text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
            continue;
        }
        if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
            if (c == '}' && depth == 2)
                end = i + 1;
        }
    }
    return end;
}

static json_t *parse(const struct content *content, json_error_t *problem) {
    return json_loadb(content->text, content->size, JSON_ALLOW_NUL, problem);
}

static json_t *parse_cut(struct content *content) {
    json_error_t ignored;
    size_t end = last_event_end(content);
    if (end == 0 || content->text[0] != '{')
        return NULL;
    memcpy(content->text + end, "]}", 2);
    content->size = end + 2;
    return parse(content, &ignored);
}

json_t *bp_import_json(struct bp_trace *trace, const char *path, struct bp_error *error) {
    struct content content = {0};
    json_error_t problem;
    json_t *json = NULL;
    gzFile file = gzopen(path, "rbe");
    if (!file) {
        bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
        return NULL;
    }
    int result = read_all(&content, file);
    gzclose(file);
    if (result == 0) {
        json = parse(&content, &problem);
        bool ends_early = content.cut || (!json && (size_t)problem.position + 1 >= content.size) ||
                          (!json && json_error_code(&problem) == json_error_premature_end_of_input);
        if (!json && ends_early && (json = parse_cut(&content)))
            bp_trace_miss(trace, "the file is cut: what came after byte %zu of its text is lost",
                          content.size - 2);
    }
    if (result)
        bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(-result));
    else if (!json && content.size == 0)
        bp_error_set(error, BP_FAILED, "%s: %s", path,
                     content.cut ? "damaged: it cannot be decompressed" : "an empty file");
    else if (!json)
        bp_error_set(error, BP_FAILED, "%s:%d: no valid JSON: %s", path, problem.line,
                     problem.text);
    free(content.text);
    return json;
}
