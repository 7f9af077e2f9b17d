/* SPDX-License-Identifier: MIT
 *
 * Rows are those of the JSON report, with the columns of tables.def: one place says what a key
 * means. Only contexts come from the model.
 */
#include "tools/export/tables/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/json.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tools/export/frame.h"

#define TABLE(name, list) static const struct bp_table_column name##_columns[] = {
#define COLUMN(name, type, path) {#name, BP_COLUMN_##type, path},
#define END(name)                                                                                  \
    }                                                                                              \
    ;
#include "tools/export/tables/tables.def"
#undef TABLE
#undef COLUMN
#undef END

const struct bp_table_kind bp_table_kinds[] = {
#define TABLE(name, list)                                                                          \
    {#name, list, name##_columns, sizeof(name##_columns) / sizeof(name##_columns[0])},
#define COLUMN(...)
#define END(...)
#include "tools/export/tables/tables.def"
#undef TABLE
#undef COLUMN
#undef END
};

/* "thread_s.dsl" within a row: borrowed, NULL if it is not there. */
static json_t *find(json_t *from, const char *path) {
    char key[64];
    while (from && *path) {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)length, path);
        from = json_object_get(from, key);
        path += length + (path[length] == '.');
    }
    return from;
}

static void write_value(json_t *value, FILE *out) {
    if (json_is_string(value))
        bp_export_json_text(json_string_value(value), out);
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else
        fputs(json_is_true(value) ? "true" : "false", out);
}

/* The columns that every row begins with. */
struct origin {
    char *run; /* UTF-8 */
    char *host;
    int rank;
};

static void write_origin(const struct origin *origin, FILE *out) {
    fputs("{\"run\":", out);
    bp_export_json_text(origin->run, out);
    if (origin->host[0]) {
        fputs(",\"host\":", out);
        bp_export_json_text(origin->host, out);
    }
    if (origin->rank >= 0)
        fprintf(out, ",\"rank\":%d", origin->rank);
}

/* What is unknown is left out: a database has NULL there. */
static void write_row(const struct origin *origin, enum bp_table_name table, json_t *row,
                      FILE *out) {
    const struct bp_table_kind *kind = &bp_table_kinds[table];
    write_origin(origin, out);
    for (uint32_t i = 0; i < kind->column_count; i++) {
        json_t *value = find(row, kind->columns[i].path);
        if (!value || json_is_null(value) || json_is_array(value) || json_is_object(value))
            continue;
        fprintf(out, ",\"%s\":", kind->columns[i].name);
        write_value(value, out);
    }
    fputs("}\n", out);
}

/* Where rows come from: one for each process, and one for what is of all of them. */
struct origins {
    const struct bp_model *model;
    struct origin *list; /* the last one is of all */
};

static void origins_init(struct origins *origins, const struct bp_model *model, const char *run) {
    uint32_t count = model->process_count;
    const char *host = model->machine_count == 1 ? model->machines[0].host : "";
    int common = bp_tables_rank(model);
    *origins = (struct origins){model, bp_alloc(count + 1, sizeof(struct origin))};
    for (uint32_t i = 0; i < count; i++) {
        int rank = model->processes[i].rank;
        origins->list[i] = (struct origin){
            bp_utf8_text(run), bp_utf8_text(model->processes[i].profile->header.host),
            rank < 0 ? common : rank}; /* a launcher's shell may not know it */
    }
    origins->list[count] = (struct origin){bp_utf8_text(run), bp_utf8_text(host), common};
}

static void origins_fini(struct origins *origins) {
    for (uint32_t i = 0; i <= origins->model->process_count; i++) {
        free(origins->list[i].run);
        free(origins->list[i].host);
    }
    free(origins->list);
}

/* Per row of the table the process that it is of; rows are those of the model, in its order. NULL:
 * they are of the whole. New. */
static uint32_t *list_owners(const struct bp_model *model, enum bp_table_name table) {
    uint32_t *owners = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; table == BP_TABLE_processes && i < model->process_count; i++)
        *BP_APPEND(owners, count) = i;
    for (uint32_t i = 0; table == BP_TABLE_threads && i < model->thread_count; i++)
        *BP_APPEND(owners, count) = model->threads[i].process;
    for (uint32_t i = 0; table == BP_TABLE_tasks && i < model->tasks.count; i++)
        if (bp_task_counts(&model->tasks.list[i]) && !model->tasks.list[i].dropped)
            *BP_APPEND(owners, count) = model->tasks.list[i].process;
    return owners;
}

static void add_list(const struct origins *origins, json_t *report, enum bp_table_name table,
                     FILE *out) {
    const struct bp_model *model = origins->model;
    json_t *list = find(report, bp_table_kinds[table].list);
    uint32_t *owners = list_owners(model, table);
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) {
        uint32_t origin = owners ? owners[i] : model->process_count;
        write_row(&origins->list[origin], table, row, out);
    }
    free(owners);
}

static void add_run(const struct origins *origins, json_t *report, FILE *out) {
    const struct bp_model *model = origins->model;
    bp_json_set_text(report, "path", model->run.path);
    json_object_set_new(report, "began", json_real(1e-9 * (double)model->run.began_ns));
    write_row(&origins->list[model->process_count], BP_TABLE_runs, report, out);
}

/* A context of a thread, as far as it has anything. */
static void write_context(const struct origins *origins, char *const *names,
                          const struct bp_model_thread *thread,
                          const struct bp_thread_context *context, FILE *out) {
    const struct bp_model *model = origins->model;
    const struct bp_context *from = &model->contexts[context->context];
    const struct bp_header *header = &model->processes[thread->process].profile->header;
    write_origin(&origins->list[thread->process], out);
    fprintf(out, ",\"process\":%d,\"tid\":%d,\"context\":%u", header->pid, thread->source->info.tid,
            context->context);
    if (from->parent)
        fprintf(out, ",\"parent\":%u", from->parent);
    fputs(",\"function\":", out);
    bp_export_json_text(names[2 * from->function], out);
    fputs(",\"library\":", out);
    bp_export_json_text(names[2 * from->function + 1], out);
    fprintf(out, ",\"calls\":%llu,\"bytes\":%llu,\"self_s\":%.9g,\"wall_s\":%.9g,\"idle_s\":%.9g",
            (unsigned long long)context->calls, (unsigned long long)context->bytes, context->self_s,
            context->wall_s, context->idle_s);
    for (int i = 0; i < BP_CATEGORIES; i++)
        fprintf(out, ",\"%s_s\":%.9g", bp_category_name((enum bp_category)i),
                context->category_s[i]);
    fputs("}\n", out);
}

/* Too many to be made of JSON first. */
static void add_contexts(const struct origins *origins, FILE *out) {
    const struct bp_model *model = origins->model;
    char **names = bp_alloc(2 * model->function_count + 1, sizeof(*names));
    for (uint32_t i = 0; i < model->function_count; i++) {
        names[2 * i] = bp_utf8_text(model->functions[i].full_name);
        names[2 * i + 1] = bp_utf8_text(model->functions[i].library);
    }
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        for (uint32_t k = 0; k < thread->source->node_count; k++)
            if (thread->contexts[k].calls || thread->contexts[k].self_s > 0)
                write_context(origins, names, thread, &thread->contexts[k], out);
    }
    for (uint32_t i = 0; i < 2 * model->function_count; i++)
        free(names[i]);
    free(names);
}

static void add_table(const struct origins *origins, json_t *report, enum bp_table_name table,
                      FILE *out) {
    if (table == BP_TABLE_runs)
        add_run(origins, report, out);
    else if (table == BP_TABLE_contexts)
        add_contexts(origins, out);
    else
        add_list(origins, report, table, out);
}

int bp_tables_add(struct bp_tables *tables, const struct bp_model *model, json_t *report,
                  struct bp_error *error) {
    struct origins origins;
    if (!tables->place && bp_tables_begin(tables, model, error))
        return -1;
    origins_init(&origins, model, tables->run);
    for (int i = 0; i < BP_TABLES && !bp_error_is_set(error); i++) {
        FILE *out = bp_tables_out(tables, (enum bp_table_name)i, error);
        if (out)
            add_table(&origins, report, (enum bp_table_name)i, out);
        if (out && ferror(out))
            bp_error_set(error, BP_FAILED, "%s: %s; nothing of this export is left", tables->place,
                         strerror(errno));
    }
    origins_fini(&origins);
    tables->added++;
    return bp_error_is_set(error) ? -1 : 0;
}

char *bp_tables_name_run(const struct bp_model *model) {
    const char *job = bp_model_variable(model, "SLURM_JOB_ID");
    time_t began = (time_t)(model->run.began_ns / 1000000000u);
    struct tm parts;
    char date[32];
    if (job[0])
        return bp_make_text("job-%s", job);
    strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", gmtime_r(&began, &parts));
    return bp_copy_text(date);
}
