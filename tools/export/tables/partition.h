/* SPDX-License-Identifier: MIT
 *
 * The files of one profile, while they are filled: a text for each table of each host and rank.
 */
#ifndef BP_TOOLS_EXPORT_TABLES_PARTITION_H
#define BP_TOOLS_EXPORT_TABLES_PARTITION_H

#include <stdio.h>

#include "tools/export/tables/tables.h"

struct bp_partition {
    char *directory; /* run=R/host=H/rank=K */
    char *data[BP_TABLES];
    size_t size[BP_TABLES];
    FILE *out[BP_TABLES]; /* NULL: no row yet */
};

struct bp_partitions {
    struct bp_partition **list;
    uint32_t count;
    uint32_t whole;    /* the one for what belongs to no single process */
    uint32_t *process; /* per process: its own */
};

void bp_partitions_init(struct bp_partitions *partitions, const struct bp_model *model,
                        const char *run);
void bp_partitions_fini(struct bp_partitions *partitions);

/* Where a row is printed to. */
FILE *bp_partition_out(struct bp_partitions *partitions, uint32_t number, enum bp_table_name table);

/* Packs and writes everything. `all`: tables without a row get a file, too, or a view over them
 * would find none. */
int bp_partitions_write(struct bp_partitions *partitions, const struct bp_tables *tables,
                        const struct bp_model *model, bool all, struct bp_error *error);

#endif
