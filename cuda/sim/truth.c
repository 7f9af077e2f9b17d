/* SPDX-License-Identifier: MIT
 *
 * BATTPROF_SIM_TRUTH=FILE: what the model did, one JSON object per line, by every process of a run.
 * Times are CLOCK_MONOTONIC nanoseconds; the first line of a process gives both clocks.
 *
 * Lines go into mapped pieces of the file: no system call while a call is measured, nothing lost
 * when the process is killed. A call ends, here, when the last number of its line is written, its
 * length, which has few digits: who measures it from outside sees next to nothing that the truth
 * does not know of. What is left of a piece is empty lines.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda/sim/internal.h"

#define PIECE ((size_t)1 << 20) /* some 6,000 lines */
#define LONGEST 640
#define LONGEST_NAME 400

static struct {
    int lock, file, pid; /* file: 0 none */
    char *piece, *next;
} state;

static char *put(char *to, const char *text) {
    size_t length = strlen(text);
    if (length > LONGEST_NAME)
        length = LONGEST_NAME;
    memcpy(to, text, length);
    return to + length;
}

static char *put_number(char *to, const char *key, uint64_t value) {
    char digits[20];
    int count = 0;
    to = put(to, key);
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

static char *put_text(char *to, const char *key, const char *value) {
    to = put(put(to, key), value);
    *to++ = '"';
    return to;
}

/* Appends a piece to the file, which other processes extend as well, and maps it. */
static char *new_piece(void) {
    void *memory = MAP_FAILED;
    bp_sim_syscall(SYS_flock, state.file, LOCK_EX, 0, 0);
    off_t size = lseek(state.file, 0, SEEK_END);
    if (size >= 0) {
        size_t at = ((size_t)size + 4095) & ~(size_t)4095;
        if (fallocate(state.file, 0, (off_t)at, PIECE) == 0)
            memory = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, state.file, (off_t)at);
    }
    if (memory != MAP_FAILED)
        memset(memory, '\n', PIECE);
    bp_sim_syscall(SYS_flock, state.file, LOCK_UN, 0, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void begin_piece(void) {
    if (state.piece)
        munmap(state.piece, PIECE);
    state.piece = state.next = new_piece();
    if (state.piece && state.pid == getpid())
        return;
    state.pid = getpid();
    uint64_t now = bp_sim_now();
    if (state.piece) {
        char *to = put_number(state.next, "{\"type\":\"clock\",\"pid\":", (uint64_t)state.pid);
        to = put_number(to, ",\"monotonic\":", now);
        state.next = put(put_number(to, ",\"realtime\":", bp_sim_realtime(now)), "}\n");
    }
}

/* The parent goes on writing to its piece; the child begins one when it has something to say. */
static void in_child(void) {
    state.lock = 0;
    if (state.piece)
        munmap(state.piece, PIECE);
    state.piece = state.next = NULL;
}

/* Not at the first call, which is measured. */
__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("BATTPROF_SIM_TRUTH");
    int file = path && path[0] ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : 0;
    if (file <= 0)
        return;
    state.file = file;
    pthread_atfork(NULL, NULL, in_child);
    begin_piece();
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
           : kind == BP_SIM_ARRAY  ? "array"
                                   : "managed";
}

static char *put_place(char *to, const struct bp_sim_record *r) {
    return put_number(put_number(to, ",\"device\":", r->device), ",\"stream\":", r->stream);
}

static char *put_rest(char *to, const struct bp_sim_record *r) {
    switch (r->kind) {
    case BP_SIM_RECORD_CALL:
        return put_number(put_text(to, ",\"name\":\"", r->name), ",\"result\":", r->result);
    case BP_SIM_RECORD_COPY:
    case BP_SIM_RECORD_MIGRATION:
        to = put_number(to, ",\"cause\":", r->value);
        to = put_text(to, ",\"direction\":\"", direction(r));
        to = put_text(to, ",\"source\":\"", memory_name(r->source));
        to = put_text(to, ",\"target\":\"", memory_name(r->target));
        to = put(to, r->async ? ",\"async\":true" : ",\"async\":false");
        return put_place(put_number(to, ",\"bytes\":", r->bytes), r);
    case BP_SIM_RECORD_SET:
        return put_place(put_number(to, ",\"bytes\":", r->bytes), r);
    case BP_SIM_RECORD_KERNEL:
        return put_place(put_text(to, ",\"name\":\"", r->name), r);
    case BP_SIM_RECORD_MEMORY:
        to = put_number(put_number(to, ",\"bytes\":", r->bytes), ",\"operation\":", r->value);
        return put_number(to, ",\"device\":", r->device);
    case BP_SIM_RECORD_FAULT:
        return put_number(put_number(to, ",\"bytes\":", r->bytes), ",\"device\":", r->device);
    case BP_SIM_RECORD_OVERHEAD:
        return put_number(to, ",\"overhead\":", r->value);
    default:
        return put_number(put_number(to, ",\"sync\":", r->value), ",\"device\":", r->device);
    }
}

void bp_sim_truth_write(const struct bp_sim_record *record) {
    static const char *const types[] = {"call", "copy",   "migration", "set",  "kernel",
                                        "sync", "memory", "overhead",  "fault"};
    if (state.file <= 0)
        return;
    bp_sim_lock(&state.lock);
    if (!state.piece || state.next + LONGEST > state.piece + PIECE)
        begin_piece();
    if (state.piece) {
        char *to = put_text(state.next, "{\"type\":\"", types[record->kind]);
        to = put_number(to, ",\"start\":", record->start);
        to = put_number(to, ",\"pid\":", (uint64_t)state.pid);
        to = put_number(to, ",\"tid\":", record->tid);
        to = put_number(to, ",\"correlation\":", record->correlation);
        to = put(put_rest(to, record), ",\"took\":");
        uint64_t end = record->kind == BP_SIM_RECORD_CALL ? bp_sim_now() : record->end;
        state.next = put(put_number(to, "", end - record->start), "}\n");
    }
    bp_sim_unlock(&state.lock);
}
