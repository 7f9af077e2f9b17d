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
static const char *const units[BP_HTML_UNITS] = {"name",    "word", "time",   "count", "bytes",
                                                 "percent", "rate", "change", "factor"};

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

/* Most columns of a table. The style sheet knows words up to this one. */
#define COLUMNS 16

struct columns {
    const struct entry *list[COLUMNS];
    size_t count;
};

/* Without a DSL all that is no transfer is one category. */
static bool needs_dsl(const struct entry *column) {
    static const char *const gone[] = {"category", "dsl_s", "framework_s", "thread_s.dsl",
                                       "thread_s.framework"};
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (strcmp(column->id, gone[i]) == 0)
            return true;
    return false;
}

static struct columns find_columns(json_t *list, size_t first, size_t last, bool owned) {
    struct columns columns = {0};
    for (size_t i = first; i < last && columns.count < COLUMNS; i++) {
        if (owned && needs_dsl(&entries[i]))
            continue;
        if (i == first || !is_empty(list, entries[i].id))
            columns.list[columns.count++] = &entries[i];
    }
    return columns;
}

/* Cells are numbers but for the first and those of the columns that the class names. */
static void write_head(const struct columns *columns, FILE *out) {
    fputs("<table class=\"", out);
    for (size_t i = 1; i < columns->count; i++)
        if (columns->list[i]->unit <= BP_HTML_WORD)
            fprintf(out, " w%zu", i + 1);
    fputs("\"><thead><tr>", out);
    for (size_t i = 0; i < columns->count; i++)
        fprintf(out, "<th scope=col data-key=\"%s\" data-unit=%s>%s</th>", columns->list[i]->id,
                units[columns->list[i]->unit], columns->list[i]->title);
    fputs("</tr></thead>\n<tbody>", out);
}

static void write_rows(json_t *list, const struct columns *columns, uint32_t most, FILE *out) {
    for (size_t i = 0; i < json_array_size(list) && i < most; i++) {
        fputs("<tr>", out);
        for (size_t k = 0; k < columns->count; k++) {
            const struct entry *column = columns->list[k];
            fputs("<td>", out);
            bp_html_value(bp_html_find(json_array_get(list, i), column->id), column->unit, out);
        }
        fputc('\n', out);
    }
}

/* Without a DSL there is nothing that a framework could be around. */
static struct entry without_dsl(struct entry table) {
    if (strcmp(table.id, "framework.functions") == 0) {
        table.title = "Functions, sampled and exact";
        table.about = "What ran when it neither waited nor called CUDA; an estimate has its error "
                      "(95 %).";
    } else if (strcmp(table.id, "candidates.framework") == 0) {
        table.title = "Candidates besides functions";
    } else if (strcmp(table.id, "functions") == 0) {
        table.title = "Intercepted functions";
        table.about = "Self and total are thread time; the share is of the wall.";
    }
    return table;
}

static void write_table(json_t *list, size_t number, bool owned,
                        const struct bp_html_limits *limits, FILE *out) {
    struct entry table = owned ? without_dsl(entries[number]) : entries[number];
    struct columns columns = find_columns(list, number + 1, end_of(number + 1, ENTRY_TABLE), owned);
    size_t rows = json_array_size(list);
    fprintf(out, "<div class=table data-list=\"%s\">\n<h3>%s</h3>\n", table.id, table.title);
    if (table.about[0])
        fprintf(out, "<p class=about>%s</p>\n", table.about);
    fprintf(out, "<div class=scroll tabindex=0 role=group aria-label=\"%s\">", table.title);
    write_head(&columns, out);
    write_rows(list, &columns, limits->rows, out);
    fputs("</tbody></table></div>\n", out);
    if (rows > limits->rows)
        fprintf(out, "<p class=more>and %zu more, in the data of this page</p>\n",
                rows - limits->rows);
    fputs("</div>\n", out);
}

/* NULL if there is nothing to show: a single role or machine is what the whole run is. */
static json_t *list_of(json_t *report, json_t *diff, const char *path) {
    bool of_diff = strncmp(path, "diff.", 5) == 0;
    bool alone = strcmp(path, "roles") == 0 || strcmp(path, "machines") == 0;
    json_t *list = bp_html_find(of_diff ? diff : report, of_diff ? path + 5 : path);
    return json_is_array(list) && json_array_size(list) > alone ? list : NULL;
}

/* Without a DSL the first two tables change places: hardly any function is intercepted then. */
static size_t in_order(size_t number, size_t view, bool owned) {
    size_t second = end_of(view + 2, ENTRY_TABLE);
    if (!owned || strcmp(entries[view].id, "functions") != 0)
        return number;
    return number == view + 1 ? second : number == second ? view + 1 : number;
}

void bp_html_tables(json_t *report, json_t *diff, const struct bp_html_limits *limits, FILE *out) {
    bool owned = json_is_object(json_object_get(report, "choice"));
    for (size_t view = 0, end; view < ENTRIES; view = end) {
        bool any = false;
        end = end_of(view + 1, ENTRY_VIEW);
        for (size_t i = view + 1; i < end; i++) {
            size_t number = in_order(i, view, owned);
            bool table = entries[number].kind == ENTRY_TABLE;
            json_t *list = table ? list_of(report, diff, entries[number].id) : NULL;
            if (!list)
                continue;
            if (!any)
                fprintf(out, "<section id=%s data-view=\"%s\">\n<h2>%s</h2>\n", entries[view].id,
                        entries[view].title, entries[view].title);
            any = true;
            write_table(list, number, owned, limits, out);
        }
        if (any)
            fputs("</section>\n", out);
    }
}
