/* SPDX-License-Identifier: MIT
 *
 * battprof.sql for DuckDB and battprof-clickhouse.sql: how each engine reads the files, then the
 * views that both understand (views.sql). Paths are relative: the directory may be moved.
 */
#include <stdlib.h>

#include "tools/base/destination.h"
#include "tools/base/text.h"
#include "tools/export/tables/tables.h"
#include "tools/export/tables/views.h"

/* How an engine names a table: the name of the view, and that of the files. */
struct engine {
    const char *file;
    const char *about;
    const char *types[4]; /* by enum bp_table_type */
    const char *begin;
    const char *files;
    const char *quote; /* around a column's name */
    const char *between;
    const char *end;
};

static const struct engine engines[] = {
    {"battprof.sql",
     "-- For DuckDB, in this directory: duckdb -init battprof.sql\n",
     {"'VARCHAR'", "'BIGINT'", "'DOUBLE'", "'BOOLEAN'"},
     "CREATE OR REPLACE VIEW ",
     "    format = 'newline_delimited', hive_partitioning = false, columns = {",
     "'",
     ": ",
     "});\n\n"},
    {"battprof-clickhouse.sql",
     "-- For ClickHouse, in this directory:\n"
     "-- clickhouse local --queries-file battprof-clickhouse.sql\n",
     {"Nullable(String)", "Nullable(Int64)", "Nullable(Float64)", "Nullable(Bool)"},
     "CREATE OR REPLACE VIEW ",
     "    'JSONEachRow', '",
     "`",
     " ",
     "', 'gzip')\nSETTINGS use_hive_partitioning = 0;\n\n"},
};

static const struct bp_table_column origin[] = {
    {"run", BP_COLUMN_TEXT, ""}, {"host", BP_COLUMN_TEXT, ""}, {"rank", BP_COLUMN_WHOLE, ""}};

/* A row's own run, host and rank count, wherever its file lies. */
static void write_table(const struct bp_table_kind *kind, const struct engine *engine, FILE *out) {
    fprintf(out, "%s%s AS SELECT * FROM %s('run=*/**/%s-*.ndjson.gz',\n%s", engine->begin,
            kind->name, engine == engines ? "read_json" : "file", kind->name, engine->files);
    for (uint32_t i = 0; i < 3 + kind->column_count; i++) {
        const struct bp_table_column *column = i < 3 ? &origin[i] : &kind->columns[i - 3];
        fprintf(out, "%s%s%s%s%s%s", i ? ", " : "", engine->quote, column->name, engine->quote,
                engine->between, engine->types[column->type]);
    }
    fputs(engine->end, out);
}

static void write_views(const struct engine *engine, FILE *out) {
    fputs(engine->about, out);
    fputs("-- docs/fleet.md says what the views show.\n\n", out);
    for (int i = 0; i < BP_TABLES; i++)
        write_table(&bp_table_kinds[i], engine, out);
    for (const char *const *line = bp_views_sql; *line; line++)
        fputs(*line, out);
}

int bp_tables_write_views(const struct bp_tables *tables, struct bp_error *error) {
    int result = 0;
    for (int i = 0; i < 2 && !result; i++) {
        struct bp_destination destination;
        char *path = bp_make_text("%s/%s", tables->directory, engines[i].file);
        result = bp_destination_open(&destination, path, NULL, error);
        if (result == 0) {
            destination.quiet = true;
            write_views(&engines[i], destination.out);
            result = bp_destination_close(&destination, 0, "the views", error);
        }
        free(path);
    }
    return result;
}
