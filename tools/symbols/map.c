/* SPDX-License-Identifier: MIT
 *
 * The files in which JIT compilers tell perf what they made: one "START SIZE name" per line, in
 * hexadecimal. Code may be replaced: of two entries with one start the later is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/symbols/internal.h"

static char *read_file(const char *path) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &size, 0, file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static void add_line(struct bp_symbol_table *table, char *line, uint32_t number) {
    char *end;
    uint64_t start = strtoull(line, &end, 16);
    uint64_t size = *end == ' ' ? strtoull(end, &end, 16) : 0;
    if (size == 0 || *end != ' ' || !end[1] || start + size < start)
        return;
    struct bp_symbol_range *range = BP_APPEND(table->ranges, table->count);
    *range = (struct bp_symbol_range){
        .start = start, .end = start + size, .raw = end + 1, .rank = number, .sized = true};
}

void bp_symbol_map_load(struct bp_symbol_table *table, char **texts, int pid) {
    char *rest;
    char *path = bp_make_text("/tmp/perf-%d.map", pid);
    *texts = read_file(path);
    free(path);
    if (!*texts)
        return;
    uint32_t number = 0;
    for (char *line = strtok_r(*texts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        add_line(table, line, number++);
    bp_symbol_table_sort(table);
}
