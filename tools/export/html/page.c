/* SPDX-License-Identifier: MIT
 *
 * The page as a whole. Its policy lets nothing be fetched: its own style and script are inline, and
 * the data is in elements that no browser runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/json.h"
#include "tools/base/memory.h"
#include "tools/export/html/asset.h"
#include "tools/export/html/blob.h"
#include "tools/export/html/html.h"
#include "tools/export/html/write.h"

#define BEGIN "<!doctype html>\n<html lang=en data-battprof="
#define REPORT "battprof-report"

/* What fits a whole page: all of 10,000 contexts, the largest of 100,000. */
static const struct bp_html_limits full = {
    .nodes = 40000, .threads = 256, .sources = 2000, .rows = 30};

static void write_head(const struct bp_html_input *input, FILE *out) {
    fputs(BEGIN "1>\n<head>\n<meta charset=utf-8>\n"
                "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
                "<meta name=color-scheme content=\"light dark\">\n<title>battprof: ",
          out);
    bp_html_text(json_string_value(json_object_get(input->report, "command")), out);
    fputs("</title>\n<style>\n", out);
    fwrite(bp_asset_css, 1, bp_asset_css_size, out);
    fputs("</style>\n</head>\n<body>\n", out);
}

/* <pre>, in which a line may be of any length. */
static void write_text(const struct bp_html_input *input, FILE *out) {
    const char *from = input->text;
    fputs("<section id=text data-view=Text>\n<h2>The report as text</h2>\n"
          "<pre tabindex=0 aria-label=\"The report as text\">",
          out);
    while (from && *from) {
        size_t length = strcspn(from, "\n");
        char *line = bp_alloc(length + 1, 1);
        memcpy(line, from, length);
        bp_html_sentence(line, out);
        fputc('\n', out);
        free(line);
        from += length + (from[length] == '\n');
    }
    fputs("</pre>\n</section>\n", out);
}

static int write_json(const char *id, json_t *json, FILE *out) {
    char *text = bp_json_dump(json);
    int result = text ? bp_blob_write(id, text, strlen(text), out) : -1;
    free(text);
    return result;
}

static int write_data(const struct bp_html_input *input, const struct bp_html_limits *limits,
                      FILE *out) {
    char *text;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return -1;
    bp_html_data(input->model, limits, memory);
    fclose(memory);
    int result = bp_blob_write("battprof-data", text, size, out);
    free(text);
    return result;
}

static int write_page(const struct bp_html_input *input, const struct bp_html_limits *limits,
                      FILE *out) {
    json_t *tables = bp_html_derive(input->report);
    json_t *changes = input->diff ? bp_html_derive_diff(input->diff) : NULL;
    write_head(input, out);
    fputs("<main>\n", out);
    bp_html_summary(tables, out);
    bp_html_diff(changes, out);
    bp_html_advice(tables, out);
    bp_html_tables(tables, changes, limits, out);
    bp_html_notes(tables, out);
    write_text(input, out);
    fputs("</main>\n", out);
    json_decref(tables);
    json_decref(changes);
    int result = write_json(REPORT, input->report, out);
    if (input->diff)
        result |= write_json("battprof-diff", input->diff, out);
    result |= write_data(input, limits, out);
    result |= bp_blob_write("battprof-script", bp_asset_js, bp_asset_js_size, out);
    fputs("<script>\n", out);
    fwrite(bp_asset_boot, 1, bp_asset_boot_size, out);
    fputs("</script>\n</body>\n</html>\n", out);
    return result;
}

/* The first rows of the lists that grow with a run, of a new report that says so. */
static json_t *prune(json_t *report, uint32_t rows) {
    static const char *const lists[] = {"functions",   "sampled",      "groups",
                                        "thread_list", "process_list", "transfer_list",
                                        "copy_sites",  "kernels"};
    json_t *pruned = json_deep_copy(report);
    json_t *lost = json_object();
    for (size_t i = 0; i <= sizeof(lists) / sizeof(lists[0]); i++) {
        const char *path = i == 0 ? "tasks.list" : lists[i - 1];
        json_t *list = bp_html_find(pruned, path);
        size_t size = json_array_size(list);
        if (size <= rows)
            continue;
        json_object_set_new(lost, path, json_integer((json_int_t)(size - rows)));
        while (json_array_size(list) > rows)
            json_array_remove(list, json_array_size(list) - 1);
    }
    json_object_set_new(pruned, "pruned", lost);
    return pruned;
}

/* Tried with less each time; a page of the smallest is what it is. */
static int write_small(const struct bp_html_input *input, FILE *out) {
    struct bp_html_limits limits = {.nodes = 4000, .threads = 32, .sources = 400, .rows = 30};
    int result = -1;
    for (bool fits = false; !fits;
         limits.nodes /= 2, limits.threads /= 2, limits.rows /= 2, limits.sources /= 2) {
        struct bp_html_input less = *input;
        char *text;
        size_t size;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
            return -1;
        less.report = prune(input->report, 4 * limits.rows);
        result = write_page(&less, &limits, memory);
        fclose(memory);
        fits = size <= BP_HTML_SMALL || limits.rows <= 4;
        if (fits)
            fwrite(text, 1, size, out);
        json_decref(less.report);
        free(text);
    }
    return result;
}

int bp_export_html(const struct bp_html_input *input, FILE *out) {
    return input->small ? write_small(input, out) : write_page(input, &full, out);
}

bool bp_html_is_page(const char *path) {
    char begin[sizeof(BEGIN)];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t size = fread(begin, 1, sizeof(begin) - 1, file);
    fclose(file);
    return size == sizeof(begin) - 1 && memcmp(begin, BEGIN, size) == 0;
}

static char *read_all(const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    ssize_t length = getdelim(&text, &size, 0, file);
    fclose(file);
    return length > 0 ? text : (free(text), NULL);
}

char *bp_html_read(const char *path, struct bp_error *error) {
    size_t size;
    char *page = read_all(path);
    char *report = page ? bp_blob_read(page, REPORT, &size) : NULL;
    free(page);
    if (!report)
        bp_error_set(error, BP_FAILED, "%s: no report in this page, or it is damaged", path);
    return report;
}
