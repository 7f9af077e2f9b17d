/* SPDX-License-Identifier: MIT
 *
 * Lists of the JSON report as tables. A head has the key and unit of its column, from which the
 * script makes the same table of all rows.
 */
#include <string.h>

#include "tools/export/html/write.h"

enum entry_kind { ENTRY_VIEW, ENTRY_TABLE, ENTRY_COLUMN };

struct entry {
    enum entry_kind kind;
    const char *id; /* of a view; the path of a list; the key of a column */
    const char *title;
    const char *about;
    enum bp_html_unit unit;
};

static const struct entry entries[] = {
#define VIEW(id, title) {ENTRY_VIEW, id, title, "", BP_HTML_WORD},
#define TABLE(path, title, about) {ENTRY_TABLE, path, title, about, BP_HTML_WORD},
#define COLUMN(key, title, unit) {ENTRY_COLUMN, key, title, "", BP_HTML_##unit},
#include "tools/export/html/tables.def"
#undef VIEW
#undef TABLE
#undef COLUMN
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* The script knows units by these words. */
static const char *const units[BP_HTML_UNITS] = {"name",  "word",    "time", "count",
                                                 "bytes", "percent", "rate", "change"};

/* Columns after a table or view; `last` is one beyond. */
static size_t end_of(size_t first, enum entry_kind above) {
    size_t i = first;
    while (i < ENTRIES && entries[i].kind > above)
        i++;
    return i;
}

/* A column in which no row has anything is left out, but for the first. */
static bool is_empty(json_t *list, const char *key) {
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) {
        const json_t *value = bp_html_find(row, key);
        if (value && !json_is_null(value) && !json_is_false(value) &&
            !(json_is_string(value) && !json_string_value(value)[0]))
            return false;
    }
    return true;
}

static void write_head(json_t *list, size_t first, size_t last, FILE *out) {
    fputs("<thead><tr>", out);
    for (size_t i = first; i < last; i++)
        if (i == first || !is_empty(list, entries[i].id))
            fprintf(out, "<th scope=col data-key=\"%s\" data-unit=%s>%s</th>", entries[i].id,
                    units[entries[i].unit], entries[i].title);
    fputs("</tr></thead>\n<tbody>", out);
}

static void write_row(json_t *row, const struct entry *columns, const bool *shown, size_t count,
                      FILE *out) {
    fputs("<tr>", out);
    for (size_t i = 0; i < count; i++) {
        if (!shown[i])
            continue;
        fputs(columns[i].unit <= BP_HTML_WORD ? "<td>" : "<td class=n>", out);
        bp_html_value(bp_html_find(row, columns[i].id), columns[i].unit, out);
    }
    fputc('\n', out);
}

static void write_rows(json_t *list, size_t first, size_t last, uint32_t most, FILE *out) {
    bool shown[32];
    size_t count = last - first < 32 ? last - first : 32;
    for (size_t i = 0; i < count; i++)
        shown[i] = i == 0 || !is_empty(list, entries[first + i].id);
    for (size_t i = 0; i < json_array_size(list) && i < most; i++)
        write_row(json_array_get(list, i), &entries[first], shown, count, out);
}

/* Without a DSL there is nothing that a framework could be around. */
static struct entry without_dsl(struct entry table) {
    if (strcmp(table.id, "framework.functions") == 0) {
        table.title = "Functions, sampled and exact";
        table.about = "What ran when it neither waited nor called CUDA; an estimate has its error "
                      "(95 %).";
    } else if (strcmp(table.id, "candidates.framework") == 0) {
        table.title = "Candidates besides functions";
    }
    return table;
}

static void write_table(json_t *list, size_t number, const struct entry *table,
                        const struct bp_html_limits *limits, FILE *out) {
    const char *title = table->title;
    size_t last = end_of(number + 1, ENTRY_TABLE);
    size_t rows = json_array_size(list);
    fprintf(out, "<div class=table data-list=\"%s\">\n<h3>%s</h3>\n", table->id, title);
    if (table->about[0])
        fprintf(out, "<p class=about>%s</p>\n", table->about);
    fprintf(out, "<div class=scroll tabindex=0 role=group aria-label=\"%s\"><table>\n", title);
    write_head(list, number + 1, last, out);
    write_rows(list, number + 1, last, limits->rows, out);
    fputs("</tbody></table></div>\n", out);
    if (rows > limits->rows)
        fprintf(out, "<p class=more>and %zu more, in the data of this page</p>\n",
                rows - limits->rows);
    fputs("</div>\n", out);
}

static json_t *list_of(json_t *report, json_t *diff, const char *path) {
    bool of_diff = strncmp(path, "diff.", 5) == 0;
    json_t *list = bp_html_find(of_diff ? diff : report, of_diff ? path + 5 : path);
    return json_is_array(list) && json_array_size(list) ? list : NULL;
}

void bp_html_tables(json_t *report, json_t *diff, const struct bp_html_limits *limits, FILE *out) {
    bool owned = json_is_object(json_object_get(report, "choice"));
    for (size_t view = 0, end; view < ENTRIES; view = end) {
        bool any = false;
        end = end_of(view + 1, ENTRY_VIEW);
        for (size_t i = view + 1; i < end; i++) {
            json_t *list =
                entries[i].kind == ENTRY_TABLE ? list_of(report, diff, entries[i].id) : NULL;
            if (!list)
                continue;
            if (!any)
                fprintf(out, "<section id=%s data-view=\"%s\">\n<h2>%s</h2>\n", entries[view].id,
                        entries[view].title, entries[view].title);
            any = true;
            struct entry table = owned ? without_dsl(entries[i]) : entries[i];
            write_table(list, i, &table, limits, out);
        }
        if (any)
            fputs("</section>\n", out);
    }
}
