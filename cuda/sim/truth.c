/* SPDX-License-Identifier: MIT
 *
 * BATTPROF_SIM_TRUTH=FILE: what the model did, one JSON object per line, appended by every process
 * of a run. Times are CLOCK_MONOTONIC nanoseconds; the first line of a process gives both clocks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda/sim/internal.h"

static struct {
    int lock, file; /* file: 0 not looked for, -1 none */
    int pid;
} state;

static void put(const char *line, int length) {
    if (length > 0)
        bp_sim_syscall(SYS_write, state.file, (long)line, length, 0);
}

static void open_file(void) {
    const char *path = getenv("BATTPROF_SIM_TRUTH");
    char line[160];
    state.pid = getpid();
    int file = path && path[0] ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    uint64_t now = bp_sim_now();
    __atomic_store_n(&state.file, file, __ATOMIC_RELEASE);
    if (file > 0)
        put(line, snprintf(line, sizeof line,
                           "{\"type\":\"clock\",\"pid\":%d,\"monotonic\":%lu,\"realtime\":%lu}\n",
                           state.pid, now, bp_sim_realtime(now)));
}

static bool is_open(void) {
    if (!__atomic_load_n(&state.file, __ATOMIC_ACQUIRE)) {
        bp_sim_lock(&state.lock);
        if (!state.file)
            open_file();
        bp_sim_unlock(&state.lock);
    }
    return state.file > 0;
}

static const char *direction(const struct bp_sim_record *record) {
    switch (record->copy) {
    case BP_SIM_HTOD:
        return "h2d";
    case BP_SIM_DTOH:
        return "d2h";
    case BP_SIM_DTOD:
        return "d2d";
    case BP_SIM_PTOP:
        return "p2p";
    default:
        return "h2h";
    }
}

static const char *memory_name(enum bp_sim_memory kind) {
    return kind == BP_SIM_PAGEABLE ? "pageable"
           : kind == BP_SIM_PINNED ? "pinned"
           : kind == BP_SIM_DEVICE ? "device"
                                   : "managed";
}

static int format_rest(char *text, size_t size, const struct bp_sim_record *r) {
    switch (r->kind) {
    case BP_SIM_RECORD_CALL:
        return snprintf(text, size, "\"name\":\"%s\",\"result\":%u}\n", r->name, r->result);
    case BP_SIM_RECORD_COPY:
        return snprintf(text, size,
                        "\"direction\":\"%s\",\"bytes\":%lu,\"source\":\"%s\",\"target\":\"%s\","
                        "\"async\":%s,\"device\":%u,\"stream\":%u}\n",
                        direction(r), r->bytes, memory_name(r->source), memory_name(r->target),
                        r->async ? "true" : "false", r->device, r->stream);
    case BP_SIM_RECORD_SET:
        return snprintf(text, size, "\"bytes\":%lu,\"device\":%u,\"stream\":%u}\n", r->bytes,
                        r->device, r->stream);
    case BP_SIM_RECORD_KERNEL:
        return snprintf(text, size, "\"name\":\"%.400s\",\"device\":%u,\"stream\":%u}\n", r->name,
                        r->device, r->stream);
    case BP_SIM_RECORD_MEMORY:
        return snprintf(text, size, "\"bytes\":%lu,\"operation\":%u,\"device\":%u}\n", r->bytes,
                        r->value, r->device);
    default:
        return snprintf(text, size, "\"sync\":%u,\"device\":%u}\n", r->value, r->device);
    }
}

void bp_sim_truth_write(const struct bp_sim_record *record) {
    static const char *const types[] = {"enter", "call", "copy", "set", "kernel", "sync", "memory"};
    char line[640];
    if (!is_open())
        return;
    int used = snprintf(line, sizeof line,
                        "{\"type\":\"%s\",\"start\":%lu,\"end\":%lu,\"pid\":%d,\"tid\":%u,"
                        "\"correlation\":%u,",
                        types[record->kind], record->start, record->end, state.pid, record->tid,
                        record->correlation);
    int rest = format_rest(line + used, sizeof line - (size_t)used, record);
    if (rest > 0 && (size_t)(used + rest) < sizeof line)
        put(line, used + rest);
}
