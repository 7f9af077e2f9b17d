/* SPDX-License-Identifier: MIT
 *
 * One table as CSV (RFC 4180): a line per object of a list in the JSON report, so that names and
 * figures are the same in both. Objects within an object become columns "outer.inner"; a list
 * within an object is a table of its own and left out.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/base/keys.h"
#include "tools/render/json/report.h"
#include "tools/render/text/internal.h"

struct columns {
    struct bp_keys names;
    json_t *list; /* of texts, in order */
};

static void collect(struct columns *columns, json_t *object, const char *prefix) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        char name[256];
        snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", key);
        if (json_is_object(value)) {
            collect(columns, value, name);
            continue;
        }
        if (json_is_array(value))
            continue; /* a table of its own */
        uint32_t before = columns->names.count;
        if (bp_keys_put(&columns->names, name, strlen(name)) == before)
            json_array_append_new(columns->list, json_string(name));
    }
}

/* The value of "outer.inner"; NULL if this object lacks it. */
static json_t *find(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    const char *dot = strchr(name, '.');
    char outer[256];
    if (value || !dot)
        return value;
    snprintf(outer, sizeof(outer), "%.*s", (int)(dot - name), name);
    value = json_object_get(object, outer);
    return value ? find(value, dot + 1) : NULL;
}

static void write_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_value(FILE *out, json_t *value) {
    if (json_is_string(value))
        write_text(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", out);
}

void bp_csv_write(json_t *list, unsigned top, FILE *out) {
    struct columns columns = {.list = json_array()};
    size_t row;
    size_t column;
    json_t *object;
    json_t *name;
    while (top && json_array_size(list) > top)
        json_array_remove(list, json_array_size(list) - 1);
    json_array_foreach(list, row, object) collect(&columns, object, "");
    json_array_foreach(columns.list, column, name) {
        fprintf(out, "%s", column ? "," : "");
        write_text(out, json_string_value(name));
    }
    if (json_array_size(columns.list))
        fputs("\n", out);
    json_array_foreach(list, row, object) {
        json_array_foreach(columns.list, column, name) {
            if (column)
                fputc(',', out);
            write_value(out, find(object, json_string_value(name)));
        }
        fputs("\n", out);
    }
    bp_keys_fini(&columns.names);
    json_decref(columns.list);
}

/* A new reference. A projection is a table of one line; --scale with --budget says for which run.
 */
static json_t *find_list(json_t *root, const struct bp_report_settings *settings) {
    if (settings->budget_s > 0)
        return json_incref(find(root, "budget.list"));
    if (settings->scale)
        return json_pack("[O]", find(root, "projection"));
    return json_incref(find(root, bp_views[bp_view_table(settings)].list));
}

/* A task is known by its id, too. */
static bool is_wanted(json_t *row, const char *name, const struct bp_words *words) {
    const char *const keys[] = {name, "id"};
    for (size_t i = 0; i < 2 * words->count; i++) {
        const char *text = json_string_value(json_object_get(row, keys[i % 2]));
        if (text && bp_report_matches(words->word[i / 2], text))
            return true;
    }
    return words->count == 0;
}

static void choose_rows(json_t *list, const struct bp_report_settings *settings) {
    for (size_t i = json_array_size(list); i-- > 0;)
        if (!is_wanted(json_array_get(list, i), bp_views[bp_view_table(settings)].name,
                       &settings->search))
            json_array_remove(list, i);
}

/* The rows that close the page: with them the percentages of all rows sum to 100. */
static void add_rest(json_t *list, const struct bp_model *model,
                     const struct bp_report_settings *settings) {
    const struct bp_view *view = &bp_views[bp_view_table(settings)];
    if (!view->rest || settings->top || settings->search.count || settings->scale ||
        settings->budget_s > 0 || json_array_size(list) == 0)
        return;
    struct bp_rest rest = view->rest(model);
    for (uint32_t i = 0; i < rest.count; i++) {
        char name[80];
        json_t *row = json_object();
        snprintf(name, sizeof(name), "(%s)", rest.rows[i].name);
        json_object_set_new(row, view->name, json_string(name));
        json_object_set_new(row, "wall_s", json_real(rest.rows[i].wall_s));
        json_object_set_new(row, "pct", json_real(100 * rest.rows[i].wall_s / model->wall.total_s));
        json_array_append_new(list, row);
    }
}

int bp_report_csv(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                  FILE *out) {
    const struct bp_model *model = analysis->model;
    json_t *root = bp_report_json_make(analysis, settings);
    json_t *list =
        settings->lines ? bp_report_json_line_rows(model, settings) : find_list(root, settings);
    if (!settings->lines) {
        choose_rows(list, settings);
        add_rest(list, model, settings);
    }
    if (list)
        bp_csv_write(list, settings->top, out);
    if (json_array_size(list) == 0)
        bp_note("the table is empty: no %s%s in this profile",
                settings->lines ? "line" : bp_views[bp_view_table(settings)].word,
                settings->search.count ? " of that name" : "");
    json_decref(list);
    json_decref(root);
    return 0;
}
