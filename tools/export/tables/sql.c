/* SPDX-License-Identifier: MIT
 *
 * battprof.sql for DuckDB and battprof-clickhouse.sql: how each engine reads the files, then the
 * views that both understand (views.sql). Paths are relative: the directory may be moved, or be a
 * bucket's.
 */
#include <stdlib.h>

#include "tools/base/destination.h"
#include "tools/base/text.h"
#include "tools/export/tables/tables.h"
#include "tools/export/tables/views.h"

struct engine {
    const char *file;
    const char *about;
    const char *types[4]; /* by enum bp_column_type */
};

static const struct engine engines[] = {
    {"battprof.sql",
     "-- For DuckDB, in this directory: duckdb -init battprof.sql\n",
     {"VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"}},
    {"battprof-clickhouse.sql",
     "-- For ClickHouse, in this directory: clickhouse local --queries-file "
     "battprof-clickhouse.sql\n",
     {"Nullable(String)", "Nullable(Int64)", "Nullable(Float64)", "Nullable(Bool)"}},
};

/* rank is a number and may be unknown; the other two are texts, and are never read as numbers. */
static void write_duckdb(const struct bp_table_kind *kind, const struct engine *engine, FILE *out) {
    fprintf(out,
            "CREATE OR REPLACE VIEW %s AS SELECT * FROM read_json(\n"
            "    'run=*/host=*/rank=*/%s-*.ndjson.gz', format = 'newline_delimited',\n"
            "    hive_partitioning = true,\n"
            "    hive_types = {'run': VARCHAR, 'host': VARCHAR, 'rank': BIGINT},\n"
            "    columns = {",
            kind->name, kind->name);
    for (uint32_t i = 0; i < kind->column_count; i++)
        fprintf(out, "%s'%s': '%s'", i ? ", " : "", kind->columns[i].name,
                engine->types[kind->columns[i].type]);
    fputs("});\n\n", out);
}

static void write_clickhouse(const struct bp_table_kind *kind, const struct engine *engine,
                             FILE *out) {
    fprintf(out,
            "CREATE OR REPLACE VIEW %s AS SELECT *,\n"
            "    decodeURLComponent(extract(_path, 'run=([^/]*)/')) AS run,\n"
            "    decodeURLComponent(extract(_path, 'host=([^/]*)/')) AS host,\n"
            "    toInt64OrNull(extract(_path, 'rank=([^/]*)/')) AS rank\n"
            "FROM file('run=*/host=*/rank=*/%s-*.ndjson.gz', 'JSONEachRow',\n    '",
            kind->name, kind->name);
    for (uint32_t i = 0; i < kind->column_count; i++)
        fprintf(out, "%s`%s` %s", i ? ", " : "", kind->columns[i].name,
                engine->types[kind->columns[i].type]);
    fputs("', 'gzip')\nSETTINGS use_hive_partitioning = 0, "
          "input_format_skip_unknown_fields = 1;\n\n",
          out);
}

int bp_tables_write_views(const struct bp_tables *tables, struct bp_error *error) {
    for (int i = 0; i < 2; i++) {
        struct bp_destination destination;
        char *path = bp_make_text("%s/%s", tables->directory, engines[i].file);
        int result = bp_destination_open(&destination, path, NULL, error);
        if (result == 0) {
            destination.quiet = true;
            fputs(engines[i].about, destination.out);
            fputs("-- docs/fleet.md says what the views show.\n\n", destination.out);
            for (int k = 0; k < BP_TABLES; k++)
                (i ? write_clickhouse : write_duckdb)(&bp_table_kinds[k], &engines[i],
                                                      destination.out);
            for (const char *const *line = bp_views_sql; *line; line++)
                fputs(*line, destination.out);
            result = bp_destination_close(&destination, 0, "the views", error);
        }
        free(path);
        if (result)
            return -1;
    }
    return 0;
}
