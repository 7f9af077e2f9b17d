/* SPDX-License-Identifier: MIT */
#include "tools/export/tables/partition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/export/gzip.h"

/* What Hive and those after it call a value that is not known. */
#define UNKNOWN "__HIVE_DEFAULT_PARTITION__"

/* Letters that could be taken for part of a path or a pattern become %XX, as Hive has them. */
static char *encode(const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    struct bp_text encoded = {0};
    for (const char *c = text; *c; c++)
        bp_text_add(&encoded, strchr(plain, *c) ? "%c" : "%%%02X", (unsigned char)*c);
    return bp_text_take(&encoded);
}

static uint32_t put_partition(struct bp_partitions *partitions, const char *run, const char *host,
                              int rank) {
    char *coded_run = encode(run);
    char *coded_host = host && host[0] ? encode(host) : bp_copy_text(UNKNOWN);
    char *coded_rank = rank < 0 ? bp_copy_text(UNKNOWN) : bp_make_text("%d", rank);
    char *directory = bp_make_text("run=%s/host=%s/rank=%s", coded_run, coded_host, coded_rank);
    uint32_t number = 0;
    while (number < partitions->count &&
           strcmp(partitions->list[number]->directory, directory) != 0)
        number++;
    if (number == partitions->count) {
        struct bp_partition *fresh = bp_alloc(1, sizeof(*fresh));
        fresh->directory = bp_copy_text(directory);
        *BP_APPEND(partitions->list, partitions->count) = fresh;
    }
    free(coded_run);
    free(coded_host);
    free(coded_rank);
    free(directory);
    return number;
}

/* That of all processes that have one; -1 where they differ. */
static int common_rank(const struct bp_model *model) {
    int rank = -1;
    for (uint32_t i = 0; i < model->process_count; i++) {
        int other = model->processes[i].rank;
        if (rank >= 0 && other >= 0 && rank != other)
            return -1;
        rank = other >= 0 ? other : rank;
    }
    return rank;
}

void bp_partitions_init(struct bp_partitions *partitions, const struct bp_model *model,
                        const char *run) {
    *partitions = (struct bp_partitions){0};
    const char *host = model->machine_count == 1 ? model->machines[0].host : NULL;
    int rank = common_rank(model);
    partitions->whole = put_partition(partitions, run, host, rank);
    partitions->process = bp_alloc(model->process_count + 1, sizeof(*partitions->process));
    for (uint32_t i = 0; i < model->process_count; i++) {
        int own = model->processes[i].rank;
        partitions->process[i] = put_partition(
            partitions, run, model->processes[i].profile->header.host, own < 0 ? rank : own);
    }
}

void bp_partitions_fini(struct bp_partitions *partitions) {
    for (uint32_t i = 0; i < partitions->count; i++) {
        struct bp_partition *partition = partitions->list[i];
        for (int k = 0; k < BP_TABLES; k++) {
            if (partition->out[k])
                fclose(partition->out[k]);
            free(partition->data[k]);
        }
        free(partition->directory);
        free(partition);
    }
    free(partitions->list);
    free(partitions->process);
}

FILE *bp_partition_out(struct bp_partitions *partitions, uint32_t number,
                       enum bp_table_name table) {
    struct bp_partition *partition = partitions->list[number];
    if (!partition->out[table])
        partition->out[table] = open_memstream(&partition->data[table], &partition->size[table]);
    if (!partition->out[table])
        bp_memory_end();
    return partition->out[table];
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

static int pack(const char *path, const char *data, size_t size) {
    FILE *file = fopen(path, "we");
    FILE *packed = file ? bp_gzip_open(file) : NULL;
    bool failed = !packed || fwrite(data, 1, size, packed) != size;
    if (packed && fclose(packed))
        failed = true;
    if (file && fclose(file))
        failed = true;
    return failed ? -1 : 0;
}

/* Beside its place, which it takes when it is complete. */
static int write_table(const char *path, const char *data, size_t size, struct bp_error *error) {
    char *beside = bp_make_text("%s.part", path);
    int result = pack(beside, data, size) || rename(beside, path) ? -1 : 0;
    if (result) {
        int reason = errno;
        unlink(beside);
        bp_error_set(error, BP_FAILED,
                     "%s could not be written: %s; the tables written before it "
                     "are whole",
                     path, strerror(reason));
    }
    free(beside);
    return result;
}

static int write_partition(struct bp_partition *partition, const char *directory,
                           const char *ending, bool all, struct bp_error *error) {
    char *place = bp_make_text("%s/%s", directory, partition->directory);
    int result = make_directory(place);
    if (result)
        bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s", place, strerror(errno));
    for (int i = 0; i < BP_TABLES && !result; i++) {
        if (!partition->out[i] && !all)
            continue;
        if (partition->out[i])
            fflush(partition->out[i]);
        char *path = bp_make_text("%s/%s-%s", place, bp_table_kinds[i].name, ending);
        result = write_table(path, partition->data[i] ? partition->data[i] : "", partition->size[i],
                             error);
        free(path);
    }
    free(place);
    return result;
}

int bp_partitions_write(struct bp_partitions *partitions, const struct bp_tables *tables,
                        const struct bp_model *model, bool all, struct bp_error *error) {
    const struct bp_header *first = model->process_count ? &model->processes[0].profile->header
                                                         : &model->sessions[0].profile->header;
    char *ending = bp_make_text("%d-%llx.ndjson.gz", first->pid,
                                (unsigned long long)(first->first.realtime_ns / 1000000));
    int result = 0;
    for (uint32_t i = 0; i < partitions->count && !result; i++)
        result = write_partition(partitions->list[i], tables->directory, ending,
                                 all && i == partitions->whole, error);
    free(ending);
    return result;
}
