/* SPDX-License-Identifier: MIT
 *
 * One input for the importer of Nsight's exports: rows for tables that it knows. The bytes of a
 * database would test SQLite instead. A row is the table's number and a value for each column: a
 * kind, then what that needs.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/import/import.h"

static const struct table {
    const char *name;
    const char *columns;
} tables[] = {
    {"StringIds", "id, value"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, correlationId, globalPid, bytes, "
                                   "copyKind, srcKind, dstKind"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "start, end, deviceId, correlationId, globalPid, bytes"},
    {"CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId, correlationId, globalPid, demangledName"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start, end, deviceId, correlationId, globalPid, graphId, graphExecId"},
    {"NVTX_EVENTS", "start, end, eventType, globalTid, text, textId"},
    {"OSRT_API", "start, end, globalTid, nameId"},
    {"TARGET_INFO_GPU", "id, name, totalMemory"},
    {"TARGET_INFO_CUDA_DEVICE", "gpuId, cudaId, pid"},
    {"PROCESSES", "globalPid, pid, name"},
    {"TARGET_INFO_CUDA_GPU", "deviceId, name"},
    {"ThreadNames", "globalTid, nameId"},
    {"META_DATA_CAPTURE", "name, value"},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs"},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

struct input {
    const uint8_t *data;
    size_t size;
};

static uint64_t take(struct input *input, size_t width) {
    uint64_t value = 0;
    width = width < input->size ? width : input->size;
    memcpy(&value, input->data, width);
    input->data += width;
    input->size -= width;
    return value;
}

static void bind(sqlite3_stmt *statement, int column, struct input *input) {
    static const size_t widths[] = {1, 2, 4, 8};
    uint8_t kind = (uint8_t)take(input, 1);
    size_t length = kind >> 4 < input->size ? kind >> 4 : input->size;
    if (kind % 8 < 4)
        sqlite3_bind_int64(statement, column, (int64_t)take(input, widths[kind % 4]));
    else if (kind % 8 == 4)
        sqlite3_bind_double(statement, column, (double)(int64_t)take(input, 8));
    else if (kind % 8 == 5)
        sqlite3_bind_null(statement, column);
    else {
        sqlite3_bind_text(statement, column, (const char *)input->data, (int)length,
                          SQLITE_TRANSIENT);
        input->data += length;
        input->size -= length;
    }
}

/* Makes the table, and the statement that adds a row to it. */
static sqlite3_stmt *make_table(sqlite3 *database, const struct table *table) {
    char text[400];
    sqlite3_stmt *statement;
    snprintf(text, sizeof(text), "CREATE TABLE %s (%s)", table->name, table->columns);
    sqlite3_exec(database, text, NULL, NULL, NULL);
    int length = snprintf(text, sizeof(text), "INSERT INTO %s VALUES (?", table->name);
    for (const char *c = table->columns; *c; c++)
        if (*c == ',')
            length += snprintf(text + length, sizeof(text) - (size_t)length, ",?");
    snprintf(text + length, sizeof(text) - (size_t)length, ")");
    if (sqlite3_prepare_v2(database, text, -1, &statement, NULL))
        abort();
    return statement;
}

static void add_row(sqlite3 *database, sqlite3_stmt *statements[TABLES], struct input *input) {
    size_t number = take(input, 1) % TABLES;
    if (!statements[number])
        statements[number] = make_table(database, &tables[number]);
    sqlite3_stmt *statement = statements[number];
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++)
        bind(statement, i, input);
    sqlite3_step(statement);
    sqlite3_reset(statement);
}

static sqlite3 *make_database(const char *path, struct input input) {
    sqlite3_stmt *statements[TABLES] = {NULL};
    sqlite3 *database;
    if (sqlite3_open(path, &database))
        abort();
    sqlite3_exec(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL,
                 NULL);
    while (input.size > 0)
        add_row(database, statements, &input);
    for (size_t i = 0; i < TABLES; i++)
        sqlite3_finalize(statements[i]);
    sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    return database;
}

/* In memory, under a name by which the importer finds it as long as this connection is open. */
static void import(const char *output, struct input input) {
    static const char path[] = "file:/fuzz?vfs=memdb";
    struct bp_error error = {0};
    struct bp_trace trace;
    sqlite3 *database = make_database(path, input);
    bp_trace_init(&trace);
    int result = bp_import_nsys(&trace, path, &error);
    if (result == 0)
        result = bp_trace_write(&trace, path, output, &error);
    if (result == 0)
        fuzz_report(output, FUZZ_JSON);
    if (result && !bp_error_is_set(&error))
        abort();
    bp_error_fini(&error);
    bp_trace_fini(&trace);
    sqlite3_close(database);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char output[] = "/dev/shm/fuzz.XXXXXX";
    static bool configured;
    if (!configured)
        sqlite3_config(SQLITE_CONFIG_URI, 1);
    configured = true;
    close(mkstemp(output));
    import(output, (struct input){data, size});
    unlink(output);
    return 0;
}
