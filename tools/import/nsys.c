/* SPDX-License-Identifier: MIT
 *
 * Nsight Systems, exported with `nsys export --type sqlite`. A table is there only if there was
 * data for it, and columns come and go with the version: a query that cannot be made leaves out its
 * table and says so. Memory kinds are CUPTI's minus 1; copies 11 to 13 are migrations of managed
 * memory. A global id holds the process in bits 24 to 47 and the thread in the lowest 24.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/import/import.h"
#include "tools/import/sqlite.h"

static const struct bp_sqlite *sqlite;

struct nsys {
    struct bp_trace *trace;
    sqlite3 *database;
    struct bp_keys devices; /* (process, its number of the device) */
    uint32_t *device_numbers;
    uint32_t device_count;
    uint64_t host_copies;    /* host to host: no device in it */
    uint64_t unknown_copies; /* of a kind that is not known here */
    uint64_t broken;         /* rows that end before they begin, and work at 0: no time */
    uint64_t graphs;         /* launches of which only the whole was recorded */
    uint64_t runtime_rows;
};

typedef void row_fn(struct nsys *nsys, sqlite3_stmt *row);

static uint64_t number(sqlite3_stmt *row, int column) {
    sqlite3_int64 value = sqlite->column_int64(row, column);
    return value > 0 ? (uint64_t)value : 0;
}

static const char *text(sqlite3_stmt *row, int column) {
    const char *value = (const char *)sqlite->column_text(row, column);
    return value ? value : "";
}

static uint64_t global_id(sqlite3_stmt *row, int column) {
    return (uint64_t)sqlite->column_int64(row, column);
}

static int64_t process_of(uint64_t global) {
    return (int64_t)(global >> 24 & 0xffffff);
}

static int64_t thread_of(uint64_t global) {
    return (int64_t)(global & 0xffffff);
}

/* One line: of a damaged schema SQLite quotes several. */
static const char *problem(const struct nsys *nsys) {
    static char line[160];
    const char *message = sqlite->errmsg(nsys->database);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(message, "\n"), message);
    return line;
}

static bool has_table(struct nsys *nsys, const char *table) {
    sqlite3_stmt *row = NULL;
    bool found = false;
    if (sqlite->prepare_v2(nsys->database, "SELECT 1 FROM sqlite_master WHERE name = ?", -1, &row,
                           NULL) == SQLITE_OK) {
        sqlite->bind_text(row, 1, table, -1, SQLITE_STATIC);
        found = sqlite->step(row) == SQLITE_ROW;
    }
    sqlite->finalize(row);
    return found;
}

static bool has_column(struct nsys *nsys, const char *table, const char *column) {
    return sqlite->table_column_metadata(nsys->database, NULL, table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

/* Rows of one query; a table that is not there is nothing to speak of, unless copies or kernels
 * were in it. */
static void each(struct nsys *nsys, const char *table, const char *query, row_fn *take) {
    sqlite3_stmt *row = NULL;
    uint64_t rows = 0;
    if (!has_table(nsys, table))
        return;
    int result = sqlite->prepare_v2(nsys->database, query, -1, &row, NULL);
    if (result != SQLITE_OK) {
        bp_trace_miss(nsys->trace, "%s left out: %s", table, problem(nsys));
        return;
    }
    while ((result = sqlite->step(row)) == SQLITE_ROW) {
        take(nsys, row);
        rows++;
    }
    if (result != SQLITE_DONE)
        bp_trace_miss(nsys->trace, "%s: damaged after %llu rows", table, (unsigned long long)rows);
    sqlite->finalize(row);
}

/* A thread that was met already, else BP_KEYS_NONE. */
static uint32_t find_thread(struct nsys *nsys, uint64_t global) {
    int64_t key[2] = {process_of(global), thread_of(global)};
    return bp_keys_get(&nsys->trace->thread_table, key, sizeof(key));
}

static uint32_t put_thread(struct nsys *nsys, uint64_t global) {
    return bp_trace_thread(nsys->trace, process_of(global), thread_of(global));
}

/* Calls and ranges all begin with start and end. */
static void add_frame(struct nsys *nsys, sqlite3_stmt *row, struct bp_trace_frame frame) {
    frame.start = number(row, 0);
    frame.end = number(row, 1);
    nsys->broken += frame.end < frame.start;
    bp_trace_frame(nsys->trace, &frame);
}

static void take_call(struct nsys *nsys, sqlite3_stmt *row) {
    nsys->runtime_rows++;
    add_frame(nsys, row,
              (struct bp_trace_frame){.thread = put_thread(nsys, global_id(row, 2)),
                                      .correlation = number(row, 3),
                                      .func = bp_trace_cuda_function(nsys->trace, text(row, 4))});
}

/* A range of NVTX: what the program said it was doing. */
static void take_range(struct nsys *nsys, sqlite3_stmt *row) {
    struct bp_trace_function func = {(char *)text(row, 3), "NVTX", "", "", 0, BP_FUNC_CALL, 0};
    if (!func.name[0])
        func.name = "(range)";
    add_frame(nsys, row,
              (struct bp_trace_frame){.thread = put_thread(nsys, global_id(row, 2)),
                                      .func = bp_trace_function(nsys->trace, &func)});
}

static uint16_t os_call_kind(const char *name) {
    static const char *const waits[] = {"accept",
                                        "clock_nanosleep",
                                        "epoll_",
                                        "futex",
                                        "nanosleep",
                                        "pause",
                                        "poll",
                                        "ppoll",
                                        "pselect",
                                        "pthread_barrier_",
                                        "pthread_cond_",
                                        "pthread_join",
                                        "pthread_mutex_lock",
                                        "pthread_rwlock_",
                                        "select",
                                        "sem_",
                                        "sigwait",
                                        "sleep",
                                        "usleep",
                                        "wait"};
    static const char *const files[] = {"close", "fclose", "fdatasync", "fflush", "fget", "fopen",
                                        "fput",  "fread",  "fsync",     "fwrite", "open", "pread",
                                        "put",   "pwrite", "read",      "write"};
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (strncmp(name, waits[i], strlen(waits[i])) == 0)
            return BP_FUNC_WAIT;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (strncmp(name, files[i], strlen(files[i])) == 0)
            return BP_FUNC_IO;
    return BP_FUNC_CALL;
}

/* Takes calls of threads that use CUDA alone: others are Nsight's own, or wait for it. */
static void take_os_call(struct nsys *nsys, sqlite3_stmt *row) {
    uint32_t thread = find_thread(nsys, global_id(row, 2));
    const char *name = text(row, 3);
    if (thread == BP_KEYS_NONE)
        return;
    struct bp_trace_function func = {(char *)name, "libc", "", "", 0, os_call_kind(name), 0};
    add_frame(
        nsys, row,
        (struct bp_trace_frame){.thread = thread, .func = bp_trace_function(nsys->trace, &func)});
}

/* Processes number the devices that they may use from 0 on (CUDA_VISIBLE_DEVICES). */
static uint32_t device_of(struct nsys *nsys, uint32_t process, uint32_t number) {
    uint32_t key[2] = {process, number};
    uint32_t found = bp_keys_get(&nsys->devices, key, sizeof(key));
    return found == BP_KEYS_NONE ? number : nsys->device_numbers[found];
}

static void take_device_number(struct nsys *nsys, sqlite3_stmt *row) {
    uint32_t key[2] = {(uint32_t)number(row, 0), (uint32_t)number(row, 1)};
    if (bp_keys_put(&nsys->devices, key, sizeof(key)) == nsys->device_count)
        *BP_APPEND(nsys->device_numbers, nsys->device_count) = (uint32_t)number(row, 2);
}

/* Kernels, copies and memset all begin with start, end, device, correlation and process. */
static void add_work(struct nsys *nsys, sqlite3_stmt *row, struct bp_trace_work work) {
    work.start = number(row, 0);
    work.end = number(row, 1);
    work.correlation = number(row, 3);
    work.process = (uint32_t)process_of(global_id(row, 4));
    work.device = device_of(nsys, work.process, (uint32_t)number(row, 2));
    if (work.end < work.start || work.end == 0)
        nsys->broken++;
    else
        bp_trace_work(nsys->trace, &work);
}

static void take_kernel(struct nsys *nsys, sqlite3_stmt *row) {
    add_work(
        nsys, row,
        (struct bp_trace_work){.name = bp_trace_name(nsys->trace, text(row, 5)), .kernel = true});
}

/* Unless its user asked for nodes, nsys has one row for all that a launch of a graph did. */
static void take_graph(struct nsys *nsys, sqlite3_stmt *row) {
    char name[64];
    nsys->graphs += number(row, 1) > number(row, 0);
    snprintf(name, sizeof(name), "CUDA graph %llu", (unsigned long long)number(row, 5));
    add_work(nsys, row,
             (struct bp_trace_work){.name = bp_trace_name(nsys->trace, name), .kernel = true});
}

static uint8_t memory_of(sqlite3_stmt *row, int column) {
    static const uint8_t kinds[] = {BP_MEMORY_PAGEABLE, BP_MEMORY_PINNED,  BP_MEMORY_DEVICE,
                                    BP_MEMORY_ARRAY,    BP_MEMORY_MANAGED, BP_MEMORY_DEVICE,
                                    BP_MEMORY_MANAGED};
    uint64_t kind = number(row, column);
    bool known = sqlite->column_type(row, column) != SQLITE_NULL && kind < sizeof(kinds);
    return known ? kinds[kind] : BP_MEMORY_UNKNOWN;
}

static void take_copy(struct nsys *nsys, sqlite3_stmt *row) {
    /* By copyKind: HtoD, DtoH, HtoA, AtoH, AtoA, AtoD, DtoA, DtoD, HtoH, PtoP, managed. */
    static const uint8_t directions[] = {BP_D2D, BP_H2D, BP_D2H, BP_H2D, BP_D2H, BP_D2D, BP_D2D,
                                         BP_D2D, BP_D2D, BP_D2D, BP_P2P, BP_H2D, BP_D2H, BP_D2D};
    uint64_t kind = number(row, 6);
    if (kind == 9 || kind == 0 || kind >= sizeof(directions)) {
        (*(kind == 9 ? &nsys->host_copies : &nsys->unknown_copies))++;
        return;
    }
    struct bp_trace_work work = {
        .bytes = number(row, 5),
        .direction = directions[kind],
        .source = memory_of(row, 7),
        .target = memory_of(row, 8),
    };
    if (kind >= 11 && kind <= 13)
        work.source = work.target = BP_MEMORY_MANAGED;
    uint64_t cause = number(row, 9); /* CUPTI's: 2 a page was touched, 3 its neighbours */
    work.fault = kind == 12 && (cause == 2 || cause == 3);
    add_work(nsys, row, work);
}

static void take_memset(struct nsys *nsys, sqlite3_stmt *row) {
    add_work(nsys, row,
             (struct bp_trace_work){
                 .bytes = number(row, 5), .direction = BP_MEMSET, .target = BP_MEMORY_DEVICE});
}

static void take_device(struct nsys *nsys, sqlite3_stmt *row) {
    struct bp_trace_device *device = bp_trace_device(nsys->trace, (uint32_t)number(row, 0));
    if (device->name)
        return;
    device->name = bp_copy_text(text(row, 1));
    device->memory = number(row, 2);
}

static void take_thread_name(struct nsys *nsys, sqlite3_stmt *row) {
    uint32_t thread = find_thread(nsys, global_id(row, 0));
    if (thread != BP_KEYS_NONE)
        snprintf(nsys->trace->threads[thread].name, sizeof(nsys->trace->threads[thread].name), "%s",
                 text(row, 1));
}

static void take_process(struct nsys *nsys, sqlite3_stmt *row) {
    if (process_of(global_id(row, 0)) == nsys->trace->pid)
        snprintf(nsys->trace->executable, sizeof(nsys->trace->executable), "%s", text(row, 1));
}

static void take_command(struct nsys *nsys, sqlite3_stmt *row) {
    snprintf(nsys->trace->command, sizeof(nsys->trace->command), "%s", text(row, 0));
}

static void take_start(struct nsys *nsys, sqlite3_stmt *row) {
    nsys->trace->realtime = number(row, 0) + nsys->trace->start;
}

/* The process with the first CUDA call stands for all. */
static void describe(struct nsys *nsys) {
    struct bp_trace *trace = nsys->trace;
    if (trace->thread_count)
        trace->pid = trace->threads[0].process;
    each(nsys, "ThreadNames",
         "SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId",
         take_thread_name);
    each(nsys, "PROCESSES", "SELECT globalPid, name FROM PROCESSES", take_process);
    each(nsys, "META_DATA_CAPTURE",
         "SELECT value FROM META_DATA_CAPTURE WHERE name = 'PROCESS_0:COMMAND'", take_command);
    each(nsys, "TARGET_INFO_SESSION_START_TIME",
         "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", take_start);
    if (!trace->command[0])
        snprintf(trace->command, sizeof(trace->command), "%s", trace->executable);
}

#define COPY_COLUMNS                                                                               \
    "start, end, deviceId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind"

static void read_tables(struct nsys *nsys) {
    each(nsys, "TARGET_INFO_GPU", "SELECT id, name, totalMemory FROM TARGET_INFO_GPU", take_device);
    each(nsys, "TARGET_INFO_CUDA_GPU", "SELECT deviceId, name, 0 FROM TARGET_INFO_CUDA_GPU",
         take_device); /* until 2021 */
    each(nsys, "TARGET_INFO_CUDA_DEVICE", "SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE",
         take_device_number);
    each(nsys, "CUPTI_ACTIVITY_KIND_RUNTIME",
         "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value"
         " FROM CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds s ON s.id = r.nameId",
         take_call);
    each(nsys, "NVTX_EVENTS",
         has_column(nsys, "NVTX_EVENTS", "textId")
             ? "SELECT n.start, n.end, n.globalTid, COALESCE(n.text, s.value) FROM NVTX_EVENTS n"
               " LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType = 59 AND n.end NOT NULL"
             : "SELECT start, end, globalTid, text FROM NVTX_EVENTS"
               " WHERE eventType = 59 AND end NOT NULL",
         take_range);
    each(nsys, "OSRT_API",
         "SELECT o.start, o.end, o.globalTid, s.value FROM OSRT_API o"
         " JOIN StringIds s ON s.id = o.nameId",
         take_os_call);
    each(nsys, "CUPTI_ACTIVITY_KIND_KERNEL",
         "SELECT k.start, k.end, k.deviceId, k.correlationId, k.globalPid, s.value"
         " FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = k.demangledName",
         take_kernel);
    each(nsys, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
         "SELECT start, end, deviceId, correlationId, globalPid, graphId"
         " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
         take_graph);
    each(nsys, "CUPTI_ACTIVITY_KIND_MEMCPY",
         has_column(nsys, "CUPTI_ACTIVITY_KIND_MEMCPY", "migrationCause")
             ? "SELECT " COPY_COLUMNS ", migrationCause FROM CUPTI_ACTIVITY_KIND_MEMCPY"
             : "SELECT " COPY_COLUMNS ", 0 FROM CUPTI_ACTIVITY_KIND_MEMCPY",
         take_copy);
    each(nsys, "CUPTI_ACTIVITY_KIND_MEMSET",
         "SELECT start, end, deviceId, correlationId, globalPid, bytes"
         " FROM CUPTI_ACTIVITY_KIND_MEMSET",
         take_memset);
}

static int check(struct nsys *nsys, const char *path, struct bp_error *error) {
    static const char *const tables[][2] = {{"kernels", "CUPTI_ACTIVITY_KIND_KERNEL"},
                                            {"copies", "CUPTI_ACTIVITY_KIND_MEMCPY"}};
    struct bp_trace *trace = nsys->trace;
    if (trace->frame_count + trace->work_count == 0 && trace->missing.length)
        return bp_error_set(error, BP_FAILED, "%s: nothing to show: %s", path,
                            bp_text_get(&trace->missing));
    if (trace->frame_count + trace->work_count == 0)
        return bp_error_set(error, BP_FAILED,
                            "%s: an export of Nsight Systems without CUDA calls, kernels or copies;"
                            " record with: nsys profile --trace cuda",
                            path);
    for (size_t i = nsys->graphs ? 1 : 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (!has_table(nsys, tables[i][1]))
            bp_trace_miss(trace, "no %s in it (no table %s)", tables[i][0], tables[i][1]);
    if (nsys->runtime_rows == 0)
        bp_trace_miss(trace, "no CUDA calls in it: the host time of copies is unknown");
    bp_trace_miss_count(trace, nsys->graphs,
                        "launches of CUDA graphs count as kernels, copies in them too (see nsys "
                        "--cuda-graph-trace=node)");
    bp_trace_miss_count(trace, nsys->broken, "rows without a recorded time left out");
    bp_trace_miss_count(trace, nsys->host_copies, "host-to-host copies left out");
    bp_trace_miss_count(trace, nsys->unknown_copies, "copies of an unknown direction left out");
    return 0;
}

/* Work of which nobody says whose it was is the first process's. */
static void adopt_works(struct bp_trace *trace) {
    for (uint32_t i = 0; trace->thread_count && i < trace->work_count; i++)
        if (trace->works[i].process == 0)
            trace->works[i].process = (uint32_t)trace->threads[0].process;
}

static int read_database(struct nsys *nsys, const char *path, struct bp_error *error) {
    sqlite3_stmt *row = NULL;
    int result =
        sqlite->prepare_v2(nsys->database, "SELECT count(*) FROM sqlite_master", -1, &row, NULL);
    sqlite->finalize(row);
    if (result != SQLITE_OK)
        return bp_error_set(error, BP_FAILED, "%s: damaged or cut: %s; export it again", path,
                            problem(nsys));
    if (!has_table(nsys, "StringIds"))
        return bp_error_set(error, BP_FAILED,
                            "%s: an SQLite file, but no export of Nsight Systems (it has no table "
                            "StringIds)",
                            path);
    read_tables(nsys);
    if (check(nsys, path, error))
        return -1;
    adopt_works(nsys->trace);
    describe(nsys);
    return 0;
}

int bp_import_nsys(struct bp_trace *trace, const char *path, struct bp_error *error) {
    struct nsys nsys = {.trace = trace};
    int result;
    sqlite = bp_sqlite_get(error);
    if (!sqlite)
        return -1;
    if (sqlite->open_v2(path, &nsys.database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        result = read_database(&nsys, path, error);
    else
        result = bp_error_set(error, BP_FAILED, "%s: %s", path, problem(&nsys));
    sqlite->close(nsys.database);
    bp_keys_fini(&nsys.devices);
    free(nsys.device_numbers);
    return result;
}
