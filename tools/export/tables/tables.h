/* SPDX-License-Identifier: MIT
 *
 * A directory of tables for databases, a row per line, and the views of battprof.sql over them. One
 * profile is in run=R/host=H/rank=K/TABLE-PID-START.ndjson.gz: ranks may export themselves, side by
 * side. Many at once are in run=R/TABLE-…: a database that has to open thousands of small files
 * does nothing else. Every row has its run, host and rank, so that both can be read together.
 */
#ifndef BP_TOOLS_EXPORT_TABLES_TABLES_H
#define BP_TOOLS_EXPORT_TABLES_TABLES_H

#include <stdio.h>

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

enum bp_table_type { BP_COLUMN_TEXT, BP_COLUMN_WHOLE, BP_COLUMN_REAL, BP_COLUMN_TRUTH };

struct bp_table_column {
    const char *name;
    enum bp_table_type type;
    const char *path;
};

struct bp_table_kind {
    const char *name;
    const char *list;
    const struct bp_table_column *columns;
    uint32_t column_count;
};

extern const struct bp_table_kind bp_table_kinds[BP_TABLES];

/* A file that is being written, beside its place. */
struct bp_table_file {
    char *path;
    FILE *out; /* the file, and what packs into it */
    FILE *packed;
};

struct bp_tables {
    const char *directory;       /* borrowed, as the next */
    const char *run;             /* its name */
    bool many;                   /* profiles in one file for each table */
    char *place;                 /* of the files: within the directory */
    char *ending;                /* the same of their names */
    struct bp_table_file *files; /* all, also those that are full */
    uint32_t file_count;
    uint32_t current[BP_TABLES]; /* file + 1 */
    uint32_t added;              /* profiles */
};

/* The rows of one profile; `report` is its JSON report. 0, or -1 with the error set. */
int bp_tables_add(struct bp_tables *tables, const struct bp_model *model, json_t *report,
                  struct bp_error *error);

/* After the last profile: the files take their places, and battprof.sql and battprof-clickhouse.sql
 * are written. */
int bp_tables_finish(struct bp_tables *tables, struct bp_error *error);
/* Files that have not taken their places are removed. */
void bp_tables_fini(struct bp_tables *tables);

/* The name of a run that was given none: "job-123", or when it began. A new text. */
char *bp_tables_name_run(const struct bp_model *model);

/* file.c: where the rows of the first profile, and all after it, go. */
int bp_tables_begin(struct bp_tables *tables, const struct bp_model *model, struct bp_error *error);
/* The stream of a table; a new file if the last one is full. NULL with the error set. */
FILE *bp_tables_out(struct bp_tables *tables, enum bp_table_name table, struct bp_error *error);
/* The rank of all processes that have one; -1 where they differ. */
int bp_tables_rank(const struct bp_model *model);
/* sql.c */
int bp_tables_write_views(const struct bp_tables *tables, struct bp_error *error);

#endif
