/* SPDX-License-Identifier: MIT */
#include "tools/command/export_tables.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/base/memory.h"
#include "tools/base/paths.h"
#include "tools/base/text.h"
#include "tools/export/export.h"
#include "tools/export/tables/tables.h"
#include "tools/render/json/report.h"
#include "tools/symbols/symbols.h"

/* Each a profile of its own: the directories in it, or the path itself. */
static void find_profiles(struct bp_paths *found, const char *path) {
    struct bp_paths files = {0};
    char *pattern = bp_make_text("%s/*.bp", path);
    char *below = bp_make_text("%s/*/*.bp", path);
    bp_paths_add(&files, pattern);
    if (!files.count)
        bp_paths_add(&files, below);
    else
        bp_paths_fini(&files);
    for (uint32_t i = 0; i < files.count; i++) {
        char *directory = bp_make_text(
            "%.*s", (int)(bp_base_name(files.path[i]) - files.path[i] - 1), files.path[i]);
        if (found->count && strcmp(found->path[found->count - 1], directory) == 0)
            free(directory);
        else
            *BP_APPEND(found->path, found->count) = directory;
    }
    if (!found->count)
        *BP_APPEND(found->path, found->count) = bp_copy_text(path);
    bp_paths_fini(&files);
    free(pattern);
    free(below);
}

/* Ranks run the same files: who reads their symbols anew for each takes twice as long. */
static int add_profile(struct bp_tables *tables, const char *path, char **run,
                       const struct bp_rules *rules, struct bp_symbols *symbols,
                       struct bp_error *error) {
    struct bp_report_settings settings;
    struct bp_analysis analysis;
    struct bp_model *model = bp_model_new_of_many(path, rules, symbols, error);
    if (!model)
        return -1;
    bp_report_defaults(&settings);
    bp_analysis_init(&analysis, model);
    if (!tables->run)
        tables->run = *run = bp_tables_name_run(model);
    if (bp_export_is_empty(model))
        bp_note("%s: no thread was measured: its tables are empty", path);
    json_t *report = bp_report_json_make(&analysis, &settings);
    int result = bp_tables_add(tables, model, report, error);
    json_decref(report);
    bp_analysis_fini(&analysis);
    bp_model_free(model);
    return result;
}

int bp_export_tables(const char *path, const char *directory, const char *run,
                     const struct bp_rules *rules, struct bp_error *error) {
    struct bp_tables tables = {.directory = directory, .run = run};
    struct bp_symbols *symbols = bp_symbols_new(NULL);
    struct bp_paths found = {0};
    char *name = NULL;
    int result = 0;
    find_profiles(&found, path);
    tables.many = found.count > 1;
    for (uint32_t i = 0; i < found.count && !result; i++)
        result = add_profile(&tables, found.path[i], &name, rules, symbols, error);
    bp_symbols_free(symbols);
    if (!result)
        result = bp_tables_finish(&tables, error);
    bp_tables_fini(&tables);
    if (!result)
        bp_note("wrote the tables of %u profile%s; next: cd %s && duckdb -init battprof.sql",
                tables.added, tables.added == 1 ? "" : "s", directory);
    bp_paths_fini(&found);
    free(name);
    return result;
}
