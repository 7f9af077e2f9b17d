/* SPDX-License-Identifier: MIT
 *
 * The list of tasks, whichever way they came, and ARC's JSON on disk: one file per task named by
 * its id, or one file {id: task} as in the competitions with {id: [grid…]} solutions beside it.
 */
#include "dsl/task.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int complain(char *error, int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, TASK_ERROR_MAX, format, args);
    va_end(args);
    return -code;
}

bool task_grid_equal(const struct task_grid *a, const struct task_grid *b) {
    return a->height == b->height && a->width == b->width &&
           !memcmp(a->cell, b->cell, (size_t)a->height * a->width);
}

bool task_grid_take(struct task_grid *out, const struct dsl_grid *grid) {
    if (grid->height > DSL_ARC_SIDE || grid->width > DSL_ARC_SIDE)
        return false;
    out->height = (uint8_t)grid->height;
    out->width = (uint8_t)grid->width;
    memcpy(out->cell, grid->cell, (size_t)grid->height * (size_t)grid->width);
    return true;
}

struct task *task_list_add(struct task_list *list, const char *id, int samples) {
    if (list->n == list->room) {
        int room = list->room ? 2 * list->room : 64;
        struct task *grown = realloc(list->task, (size_t)room * sizeof(*grown));
        if (!grown)
            return NULL;
        list->task = grown;
        list->room = room;
    }
    struct task *task = &list->task[list->n];
    *task = (struct task){.sample = calloc((size_t)samples + 1, sizeof(struct sample))};
    if (!task->sample)
        return NULL;
    snprintf(task->id, sizeof(task->id), "%s", id);
    list->n++;
    return task;
}

void task_list_fini(struct task_list *list) {
    for (int k = 0; k < list->n; k++)
        free(list->task[k].sample);
    free(list->task);
    *list = (struct task_list){.n = 0};
}

static bool read_grid(struct task_grid *out, const json_t *rows) {
    size_t h = json_array_size(rows), w = json_array_size(json_array_get(rows, 0));
    if (h < 1 || w < 1 || h > DSL_ARC_SIDE || w > DSL_ARC_SIDE)
        return false;
    for (size_t i = 0; i < h; i++) {
        const json_t *row = json_array_get(rows, i);
        if (json_array_size(row) != w)
            return false;
        for (size_t j = 0; j < w; j++) {
            const json_t *cell = json_array_get(row, j);
            json_int_t colour = json_integer_value(cell);
            if (!json_is_integer(cell) || colour < 0 || colour >= DSL_COLOURS)
                return false;
            out->cell[i * w + j] = (uint8_t)colour;
        }
    }
    out->height = (uint8_t)h;
    out->width = (uint8_t)w;
    return true;
}

/* A missing output is allowed where need_output is false. */
static bool read_samples(struct sample *out, const json_t *pairs, bool need_output) {
    for (size_t k = 0; k < json_array_size(pairs); k++) {
        const json_t *pair = json_array_get(pairs, k);
        const json_t *output = json_object_get(pair, "output");
        if (!read_grid(&out[k].input, json_object_get(pair, "input")))
            return false;
        if ((output || need_output) && !read_grid(&out[k].output, output))
            return false;
    }
    return true;
}

static int read_task(struct task_list *list, const char *id, const json_t *json, char *error) {
    const json_t *train = json_object_get(json, "train"), *tests = json_object_get(json, "test");
    size_t n = json_array_size(train), m = json_array_size(tests);
    if (n < 1 || m < 1 || m > TASK_TESTS_MAX || n > 1000)
        return complain(error, EINVAL, "task %s: needs train pairs and 1 to %d tests", id,
                        TASK_TESTS_MAX);
    struct task *task = task_list_add(list, id, (int)(n + m));
    if (!task)
        return complain(error, ENOMEM, "out of memory");
    task->train = (int)n;
    task->tests = (int)m;
    if (!read_samples(task->sample, train, true) || !read_samples(task->sample + n, tests, false))
        return complain(error, EINVAL, "task %s: a grid is not 1 to %d rows of colours 0 to 9", id,
                        DSL_ARC_SIDE);
    return 0;
}

/* Solutions come after their challenges because file names are sorted. */
static int read_solution(struct task_list *list, const char *id, const json_t *grids, char *error) {
    for (int k = 0; k < list->n; k++) {
        struct task *task = &list->task[k];
        if (strcmp(task->id, id))
            continue;
        for (int m = 0; m < task->tests; m++)
            if (!read_grid(&task->sample[task->train + m].output, json_array_get(grids, (size_t)m)))
                return complain(error, EINVAL, "solution of %s: not a grid for every test", id);
    }
    return 0;
}

static int read_file(struct task_list *list, const char *path, const char *name, char *error) {
    json_error_t why;
    json_t *json = json_load_file(path, 0, &why);
    if (!json)
        return complain(error, EINVAL, "%s: %s at line %d", path, why.text, why.line);
    int status = 0;
    if (json_object_get(json, "train")) {
        char id[TASK_ID_MAX];
        snprintf(id, sizeof(id), "%.*s", (int)strcspn(name, "."), name);
        status = read_task(list, id, json, error);
    } else {
        const char *id;
        json_t *value;
        json_object_foreach(json, id, value) {
            if (!status)
                status = json_is_array(value) ? read_solution(list, id, value, error)
                                              : read_task(list, id, value, error);
        }
    }
    json_decref(json);
    return status;
}

static int json_name(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 5 && !strcmp(entry->d_name + n - 5, ".json");
}

int task_list_load(struct task_list *list, const char *folder, char error[TASK_ERROR_MAX]) {
    struct dirent **names;
    int n = scandir(folder, &names, json_name, alphasort);
    if (n < 0)
        return complain(error, errno, "%s: %s", folder, strerror(errno));
    int status = 0;
    for (int k = 0; k < n; k++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, names[k]->d_name);
        if (!status)
            status = read_file(list, path, names[k]->d_name, error);
        free(names[k]);
    }
    free(names);
    if (!status && !list->n)
        status = complain(error, ENOENT, "%s: no ARC tasks (*.json) in this folder", folder);
    return status;
}

static void write_grid(FILE *out, const char *key, const struct task_grid *grid) {
    fprintf(out, "\"%s\": [", key);
    for (int i = 0; i < grid->height; i++) {
        fprintf(out, i ? ", [" : "[");
        for (int j = 0; j < grid->width; j++)
            fprintf(out, j ? ", %d" : "%d", grid->cell[i * grid->width + j]);
        fprintf(out, "]");
    }
    fprintf(out, "]");
}

static void write_samples(FILE *out, const char *key, const struct sample *sample, int n) {
    fprintf(out, "\"%s\": [", key);
    for (int k = 0; k < n; k++) {
        fprintf(out, k ? ",\n  {" : "\n  {");
        write_grid(out, "input", &sample[k].input);
        if (sample[k].output.height) {
            fprintf(out, ", ");
            write_grid(out, "output", &sample[k].output);
        }
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

int task_list_dump(const struct task_list *list, const char *folder, char error[TASK_ERROR_MAX]) {
    for (int k = 0; k < list->n; k++) {
        const struct task *task = &list->task[k];
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s.json", folder, task->id);
        FILE *out = fopen(path, "w");
        if (!out)
            return complain(error, errno, "%.200s: %s", path, strerror(errno));
        fprintf(out, "{");
        write_samples(out, "train", task->sample, task->train);
        fprintf(out, ",\n ");
        write_samples(out, "test", task->sample + task->train, task->tests);
        fprintf(out, "}\n");
        if (fclose(out))
            return complain(error, errno, "%.200s: %s", path, strerror(errno));
    }
    return 0;
}
