/* SPDX-License-Identifier: MIT
 *
 * A directory of tables for databases: run=R/host=H/rank=K/TABLE-PID-START.ndjson.gz, a row per
 * line, and the views of battprof.sql over them. Profiles of many ranks are added one by one, so
 * that their number needs no memory. A profile that is added again replaces its files.
 */
#ifndef BP_TOOLS_EXPORT_TABLES_TABLES_H
#define BP_TOOLS_EXPORT_TABLES_TABLES_H

#include <jansson.h>

#include "tools/model/model.h"

enum bp_table_name {
#define TABLE(name, list) BP_TABLE_##name,
#define COLUMN(...)
#define END(...)
#include "tools/export/tables/tables.def"
#undef TABLE
#undef COLUMN
#undef END
    BP_TABLES
};

enum bp_column_type { BP_COLUMN_TEXT, BP_COLUMN_WHOLE, BP_COLUMN_REAL, BP_COLUMN_TRUTH };

struct bp_table_column {
    const char *name;
    enum bp_column_type type;
    const char *path;
};

struct bp_table_kind {
    const char *name;
    const char *list;
    const struct bp_table_column *columns;
    uint32_t column_count;
};

extern const struct bp_table_kind bp_table_kinds[BP_TABLES];

struct bp_tables {
    const char *directory; /* borrowed */
    const char *run;       /* the same: its name */
    uint32_t added;        /* profiles */
};

/* The rows of one profile; `report` is its JSON report. 0, or -1 with the error set: every file
 * that is there is whole. */
int bp_tables_add(struct bp_tables *tables, const struct bp_model *model, json_t *report,
                  struct bp_error *error);

/* battprof.sql and battprof-clickhouse.sql, at the end. */
int bp_tables_write_views(const struct bp_tables *tables, struct bp_error *error);

/* The name of a run that was given none: "job-123", or when it began. A new text. */
char *bp_tables_name_run(const struct bp_model *model);

#endif
