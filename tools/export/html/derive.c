/* SPDX-License-Identifier: MIT
 *
 * Tables that are no lists of the JSON report as it is: lines of all functions together, copies by
 * direction, paths of copies as one text, functions that are gone. The script derives the same.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/json.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/export/html/write.h"

static void add_lines(json_t *to, json_t *functions) {
    size_t i, k;
    json_t *function, *line;
    json_array_foreach(functions, i, function)
        json_array_foreach(json_object_get(function, "lines"), k, line) {
        json_t *row = json_copy(line);
        json_object_set(row, "function", json_object_get(function, "name"));
        json_array_append_new(to, row);
    }
}

static int compare_lines(const void *a, const void *b) {
    double x = json_number_value(json_object_get(*(json_t *const *)a, "self_s"));
    double y = json_number_value(json_object_get(*(json_t *const *)b, "self_s"));
    return x > y ? -1 : x < y;
}

static json_t *sort_lines(json_t *list) {
    size_t count = json_array_size(list);
    json_t **rows = bp_alloc(count + 1, sizeof(*rows));
    json_t *sorted = json_array();
    for (size_t i = 0; i < count; i++)
        rows[i] = json_array_get(list, i);
    qsort(rows, count, sizeof(*rows), compare_lines);
    for (size_t i = 0; i < count; i++)
        json_array_append(sorted, rows[i]);
    json_decref(list);
    free(rows);
    return sorted;
}

static json_t *make_directions(json_t *transfers) {
    json_t *list = json_array();
    const char *key;
    json_t *direction;
    json_object_foreach(transfers, key, direction) {
        if (json_integer_value(json_object_get(direction, "count")) == 0)
            continue;
        json_t *row = json_copy(direction);
        bp_json_set_text(row, "direction", key);
        json_array_append_new(list, row);
    }
    return list;
}

static void add_frame(struct bp_text *path, json_t *frame) {
    const char *file = json_string_value(json_object_get(frame, "file"));
    bp_text_add(path, "%s%s", path->length ? " ← " : "",
                json_string_value(json_object_get(frame, "function")));
    if (file && file[0])
        bp_text_add(path, " %s:%d", bp_base_name(file),
                    (int)json_integer_value(json_object_get(frame, "line")));
}

static json_t *make_sites(json_t *sites) {
    json_t *list = json_array();
    size_t i, k;
    json_t *site, *frame;
    json_array_foreach(sites, i, site) {
        json_t *row = json_copy(site);
        struct bp_text path = {0};
        json_array_foreach(json_object_get(site, "stack"), k, frame) add_frame(&path, frame);
        bp_json_set_text(row, "path", bp_text_get(&path));
        bp_text_fini(&path);
        json_array_append_new(list, row);
    }
    return list;
}

/* Calls of sampled functions and of a program's own code were not counted: unknown. */
static json_t *blank_uncounted(json_t *list) {
    static const char *const keys[] = {"calls", "median_s", "p99_s", "max_s"};
    json_t *rows = json_array();
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) {
        json_t *copy = json_copy(row);
        bool counted = json_number_value(json_object_get(row, "calls")) > 0 ||
                       json_number_value(json_object_get(row, "in_flight")) > 0;
        for (size_t k = 0; !counted && k < sizeof(keys) / sizeof(keys[0]); k++)
            json_object_del(copy, keys[k]);
        json_array_append_new(rows, copy);
    }
    return rows;
}

/* A copy of the list, in which what is 0 or unknown of `of` makes the keys unknown. */
static json_t *blank_with(json_t *list, const char *of, const char *const *keys) {
    json_t *rows = json_array();
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) {
        json_t *copy = json_copy(row);
        for (size_t k = 0; keys[k] && !(json_number_value(json_object_get(row, of)) > 0); k++)
            json_object_del(copy, keys[k]);
        json_array_append_new(rows, copy);
    }
    return rows;
}

/* Steals the list. These are no keys of the report. */
static void put(json_t *tables, const char *name, json_t *list) {
    json_object_set_new(tables, name, list);
}

json_t *bp_html_derive(json_t *report) {
    static const char *const of_tasks[] = {"per_task_s", "per_sample_s", NULL};
    static const char *const own_cpu[] = {"cpu_s", NULL}; /* of a task that has not ended */
    static const char *const of_cpu[] = {"runqueue_s", "blocked_s", NULL};
    json_t *tables = json_copy(report);
    json_t *lines = json_array();
    add_lines(lines, json_object_get(report, "functions"));
    add_lines(lines, json_object_get(report, "sampled"));
    json_t *framework = json_copy(json_object_get(report, "framework"));
    put(framework, "functions", blank_uncounted(json_object_get(framework, "functions")));
    put(tables, "framework", framework);
    put(tables, "functions", blank_uncounted(json_object_get(report, "functions")));
    put(tables, "phases", blank_with(json_object_get(report, "phases"), "tasks", of_tasks));
    json_t *tasks = json_copy(json_object_get(report, "tasks"));
    put(tasks, "list", blank_with(json_object_get(tasks, "list"), "cpu_s", own_cpu));
    put(tables, "tasks", tasks);
    put(tables, "thread_list", blank_with(json_object_get(report, "thread_list"), "cpu_s", of_cpu));
    put(tables, "lines", sort_lines(lines));
    put(tables, "directions", make_directions(json_object_get(report, "transfers")));
    put(tables, "copy_sites", make_sites(json_object_get(report, "copy_sites")));
    return tables;
}

/* There is no multiple of nothing. */
static json_t *add_factors(json_t *list) {
    json_t *rows = json_array();
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) {
        json_t *copy = json_copy(row);
        double old_s = json_number_value(json_object_get(row, "old_s"));
        if (old_s > 0)
            json_object_set_new(
                copy, "factor",
                json_real(json_number_value(json_object_get(row, "new_s")) / old_s));
        json_array_append_new(rows, copy);
    }
    return rows;
}

json_t *bp_html_derive_diff(json_t *diff) {
    json_t *tables = json_copy(diff);
    put(tables, "differences", add_factors(json_object_get(diff, "differences")));
    json_t *removed = json_array();
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(diff, "functions"), i,
                       row) if (json_number_value(json_object_get(row, "new_calls")) == 0 &&
                                json_number_value(json_object_get(row, "old_calls")) > 0)
        json_array_append(removed, row);
    put(tables, "removed", removed);
    return tables;
}
