/* SPDX-License-Identifier: MIT
 *
 * The files of the tables. They are written under another name and renamed together when all are
 * complete: who reads the directory meanwhile, or after a full disk, sees whole files only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/export/gzip.h"
#include "tools/export/tables/tables.h"

/* What Hive and those after it call a value that is not known. */
#define UNKNOWN "__HIVE_DEFAULT_PARTITION__"

/* Bytes of one file, packed; rows take about ten times as much. A packed file is read by one
 * thread: several of them keep several busy. */
#define FULL (8 << 20)

#define BESIDE ".part"

/* Letters that could be taken for part of a path or a pattern become %XX, as Hive has them. */
static char *encode(const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    struct bp_text encoded = {0};
    for (const char *c = text; *c; c++)
        bp_text_add(&encoded, strchr(plain, *c) ? "%c" : "%%%02X", (unsigned char)*c);
    return bp_text_take(&encoded);
}

/* With all that is missing above it. */
static int make_directory(const char *path) {
    char *part = bp_copy_text(path);
    int result = 0;
    for (char *slash = part; slash && !result;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = 0;
        result = mkdir(part, 0777) && errno != EEXIST ? -1 : 0;
        if (slash)
            *slash = '/';
    }
    free(part);
    return result;
}

int bp_tables_rank(const struct bp_model *model) {
    int rank = -1;
    for (uint32_t i = 0; i < model->process_count; i++) {
        int other = model->processes[i].rank;
        if (rank >= 0 && other >= 0 && rank != other)
            return -1;
        rank = other >= 0 ? other : rank;
    }
    return rank;
}

static char *name_place(const struct bp_tables *tables, const struct bp_model *model) {
    int rank = bp_tables_rank(model);
    char *run = encode(tables->run);
    char *host = model->machine_count == 1 && model->machines[0].host[0]
                     ? encode(model->machines[0].host)
                     : bp_copy_text(UNKNOWN);
    char *number = rank < 0 ? bp_copy_text(UNKNOWN) : bp_make_text("%d", rank);
    char *place = tables->many ? bp_make_text("%s/run=%s", tables->directory, run)
                               : bp_make_text("%s/run=%s/host=%s/rank=%s", tables->directory, run,
                                              host, number);
    free(run);
    free(host);
    free(number);
    return place;
}

int bp_tables_begin(struct bp_tables *tables, const struct bp_model *model,
                    struct bp_error *error) {
    const struct bp_header *first = model->process_count ? &model->processes[0].profile->header
                                                         : &model->sessions[0].profile->header;
    tables->place = name_place(tables, model);
    tables->ending = bp_make_text("%d-%llx", first->pid,
                                  (unsigned long long)(first->first.realtime_ns / 1000000));
    if (make_directory(tables->place))
        return bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s", tables->place,
                            strerror(errno));
    for (int i = 0; i < BP_TABLES; i++) /* also those without a row: a view needs a file to read */
        if (!bp_tables_out(tables, (enum bp_table_name)i, error))
            return -1;
    return 0;
}

static int fail(const struct bp_table_file *file, struct bp_error *error) {
    return bp_error_set(error, BP_FAILED,
                        "%s could not be written: %s; nothing of this export is left", file->path,
                        strerror(errno ? errno : EIO));
}

static struct bp_table_file *open_file(struct bp_tables *tables, enum bp_table_name table,
                                       struct bp_error *error) {
    struct bp_table_file *file = BP_APPEND(tables->files, tables->file_count);
    unsigned part = tables->current[table] ? tables->file_count : 0;
    file->path = bp_make_text("%s/%s-%s%s%.0u.ndjson.gz", tables->place, bp_table_kinds[table].name,
                              tables->ending, part ? "-" : "", part);
    char *beside = bp_make_text("%s" BESIDE, file->path);
    file->out = fopen(beside, "we");
    file->packed = file->out ? bp_gzip_open(file->out) : NULL;
    free(beside);
    tables->current[table] = tables->file_count;
    if (file->packed)
        return file;
    fail(file, error);
    return NULL;
}

/* Ends what is packed. 0, or -1 with the error set. */
static int close_file(struct bp_table_file *file, struct bp_error *error) {
    bool failed = file->packed && (ferror(file->packed) | fclose(file->packed));
    failed |= file->out && fclose(file->out);
    file->packed = file->out = NULL;
    return failed ? fail(file, error) : 0;
}

FILE *bp_tables_out(struct bp_tables *tables, enum bp_table_name table, struct bp_error *error) {
    uint32_t number = tables->current[table];
    struct bp_table_file *file = number ? &tables->files[number - 1] : NULL;
    if (file && ftello(file->out) > FULL) {
        if (close_file(file, error))
            return NULL;
        file = NULL;
    }
    if (!file)
        file = open_file(tables, table, error);
    return file ? file->packed : NULL;
}

int bp_tables_finish(struct bp_tables *tables, struct bp_error *error) {
    for (uint32_t i = 0; i < tables->file_count; i++)
        if (close_file(&tables->files[i], error))
            return -1;
    for (uint32_t i = 0; i < tables->file_count; i++) {
        struct bp_table_file *file = &tables->files[i];
        char *beside = bp_make_text("%s" BESIDE, file->path);
        int result = rename(beside, file->path);
        free(beside);
        if (result)
            return fail(file, error);
    }
    return bp_tables_write_views(tables, error);
}

/* What was made for files that did not come; a directory that holds others stays. */
static void remove_places(const struct bp_tables *tables) {
    char *place = bp_copy_text(tables->place);
    size_t top = strlen(tables->directory);
    while (strlen(place) >= top && rmdir(place) == 0 && strrchr(place, '/'))
        *strrchr(place, '/') = 0;
    free(place);
}

void bp_tables_fini(struct bp_tables *tables) {
    struct bp_error ignored = {0};
    for (uint32_t i = 0; i < tables->file_count; i++) {
        struct bp_table_file *file = &tables->files[i];
        char *beside = bp_make_text("%s" BESIDE, file->path);
        close_file(file, &ignored);
        unlink(beside); /* gone already where all went well */
        free(beside);
        free(file->path);
    }
    bp_error_fini(&ignored);
    if (tables->place)
        remove_places(tables);
    free(tables->files);
    free(tables->place);
    free(tables->ending);
}
