/* SPDX-License-Identifier: MIT
 *
 * From _PyRuntime to the interpreters, to their threads, to a thread's frames. Whatever makes no
 * sense ends the walk: every code object is known by the name of its type.
 */
#include "tools/live/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "interpose/python/layout.h"
#include "interpose/python/location.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/live/exported.h"

/* Where the threads are. Offsets in bytes; tests/command compares what they lead to. */
struct bp_python_places {
    int minor;
    uint16_t interpreters; /* _PyRuntimeState: the first one */
    uint16_t next;         /* PyInterpreterState: the next one */
    uint16_t threads;      /* the first thread */
    uint16_t thread_id;    /* PyThreadState: pthread_self() */
    uint16_t native_id;    /* gettid(); 0: it does not say, before 3.11 */
};

static const struct bp_python_places all_places[] = {
    {8, 32, 0, 8, 176, 0},           {9, 32, 0, 8, 176, 0},
    {10, 32, 0, 8, 176, 0},          {11, 40, 0, 16, 152, 160},
    {12, 40, 0, 72, 136, 144},       {13, 632, 7264, 7344, 152, 160},
    {14, 808, 7272, 7344, 152, 160}, {15, 936, 7264, 7336, 176, 184},
};

#define NEXT_THREAD 8 /* in PyThreadState */
#define TYPE_NAME 24  /* in PyTypeObject */
#define MOST_THREADS 10000
#define MOST_INTERPRETERS 100
#define LONGEST_TABLE (256u << 10)

static bool read_memory(const struct bp_python *python, uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(python->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* 0 if it cannot be read. */
static uint64_t read_word(const struct bp_python *python, uint64_t address) {
    uint64_t word = 0;
    return read_memory(python, address, &word, sizeof(word)) ? word : 0;
}

/* The "3.12" in its name says which one it is. */
static int minor_of(const char *path) {
    const char *found = strstr(bp_base_name(path), "python3.");
    return found ? bp_layout_minor(found + strlen("python")) : 0;
}

void bp_python_look(struct bp_python *python, const char *path, uint64_t base) {
    int minor = python->runtime || python->problem ? 0 : minor_of(path);
    char version[16];
    uint64_t runtime = minor ? bp_exported(path, "_PyRuntime") : 0;
    snprintf(version, sizeof(version), "3.%d", minor);
    python->layout = bp_layout_find(version);
    for (size_t i = 0; runtime && i < sizeof(all_places) / sizeof(*all_places); i++)
        python->places = all_places[i].minor == minor ? &all_places[i] : python->places;
    if (runtime && bp_exported(path, "_Py_MergeZeroLocalRefcount"))
        python->problem = "this Python is free-threaded";
    else if (runtime && (!python->layout || !python->places))
        python->problem = "battprof does not know this version of Python";
    else if (runtime)
        python->runtime = base + runtime;
}

/* Whether the thread state is that of the thread. Without a pointer the main thread is the one that
 * was there first, the last of its list. */
static bool is_of(const struct bp_python *python, uint64_t state, pid_t tid, uint64_t pointer) {
    const struct bp_python_places *places = python->places;
    if (pointer)
        return read_word(python, state + places->thread_id) == pointer;
    if (places->native_id)
        return read_word(python, state + places->native_id) == (uint64_t)tid;
    return tid == python->pid && !read_word(python, state + NEXT_THREAD);
}

uint64_t bp_python_pointer(const struct bp_python *python, uint64_t low, uint64_t high) {
    uint64_t interpreter = read_word(python, python->runtime + python->places->interpreters);
    uint64_t state = read_word(python, interpreter + python->places->threads);
    for (int i = 0; state && i < MOST_THREADS; i++) {
        uint64_t pointer = read_word(python, state + python->places->thread_id);
        if (pointer >= low && pointer < high)
            return pointer;
        state = read_word(python, state + NEXT_THREAD);
    }
    return 0;
}

static uint64_t find_in(const struct bp_python *python, uint64_t interpreter, pid_t tid,
                        uint64_t pointer) {
    uint64_t state = read_word(python, interpreter + python->places->threads);
    for (int i = 0; state && i < MOST_THREADS; i++) {
        if (is_of(python, state, tid, pointer) &&
            read_word(python, state + python->layout->current))
            return state;
        state = read_word(python, state + NEXT_THREAD);
    }
    return 0;
}

static uint64_t find_thread(const struct bp_python *python, pid_t tid, uint64_t pointer) {
    uint64_t interpreter = read_word(python, python->runtime + python->places->interpreters);
    uint64_t state = 0;
    for (int i = 0; interpreter && !state && i < MOST_INTERPRETERS; i++) {
        state = find_in(python, interpreter, tid, pointer);
        interpreter = read_word(python, interpreter + python->places->next);
    }
    return state;
}

static bool is_code(const struct bp_python *python, uint64_t object) {
    char name[5];
    uint64_t type = read_word(python, object + BP_LAYOUT_TYPE);
    uint64_t called = type ? read_word(python, type + TYPE_NAME) : 0;
    return called && read_memory(python, called, name, sizeof(name)) &&
           memcmp(name, "code", sizeof(name)) == 0;
}

/* UTF-8 of a character; how many bytes. */
static size_t encode(uint32_t c, char *to) {
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = more; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(more ? first[more] | c : c < 32 || c == 127 ? '?' : c);
    return more + 1;
}

/* "?" if it makes no sense; cut if it does not fit. */
static void read_text(const struct bp_python *python, uint64_t object, char *to, size_t size) {
    const struct bp_layout *layout = python->layout;
    uint32_t bits = (uint32_t)read_word(python, object + BP_LAYOUT_TEXT_STATE), c;
    uint32_t kind = bits >> 2 & 7;
    uint64_t length = read_word(python, object + BP_LAYOUT_SIZE), used = 0;
    uint64_t begin = object + (bits >> 6 & 1 ? layout->ascii : layout->wide);
    unsigned char data[2048];
    snprintf(to, size, "?");
    if (!(bits >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
        return;
    length = length < size ? length : size - 1;
    length = length * kind <= sizeof(data) ? length : sizeof(data) / kind;
    if (!read_memory(python, begin, data, length * kind))
        return;
    for (uint64_t i = 0; i < length && used + 5 < size; i++) {
        c = 0;
        memcpy(&c, data + i * kind, kind);
        used += encode(c, to + used);
    }
    if (used)
        to[used] = 0;
}

/* The table of a code object is read as it lies in the process: head and bytes. */
static uint32_t line_of(const struct bp_python *python, uint64_t code, uint32_t place) {
    const struct bp_layout *layout = python->layout;
    uint64_t table = read_word(python, code + layout->table);
    uint64_t size = table ? read_word(python, table + BP_LAYOUT_SIZE) : 0;
    uint32_t first = (uint32_t)read_word(python, code + layout->line), line = 0;
    if (!table || size > LONGEST_TABLE)
        return 0;
    char *copy = bp_alloc(1, BP_LAYOUT_BYTES + size);
    struct bp_safe safe = {.low = (uint64_t)copy, .high = (uint64_t)copy + BP_LAYOUT_BYTES + size};
    if (read_memory(python, table, copy, BP_LAYOUT_BYTES + size))
        line = bp_lines_find(layout, &safe, (uint64_t)copy, place, first);
    free(copy);
    return line;
}

static uint32_t place_of(const struct bp_python *python, uint64_t frame, uint64_t code) {
    const struct bp_layout *layout = python->layout;
    uint64_t at = read_word(python, frame + layout->instruction), first;
    int32_t number = (int32_t)at < 0 ? 0 : (int32_t)at;
    if (layout->place != BP_PLACE_POINTER)
        return (uint32_t)(layout->place == BP_PLACE_WORDS ? 2 * number : number);
    first = code + layout->instructions;
    return at >= first && at - first < UINT32_MAX ? (uint32_t)(at - first) : 0;
}

static void describe(const struct bp_python *python, uint64_t frame, uint64_t code,
                     struct bp_python_frame *to) {
    const struct bp_layout *layout = python->layout;
    char name[200], file[400];
    uint32_t line = line_of(python, code, place_of(python, frame, code));
    read_text(python,
              read_word(python, code + (layout->qualname ? layout->qualname : layout->name)), name,
              sizeof(name));
    read_text(python, read_word(python, code + layout->filename), file, sizeof(file));
    if (line)
        snprintf(to->text, sizeof(to->text), "%s (%s:%u)", name, file, line);
    else
        snprintf(to->text, sizeof(to->text), "%s (%s)", name, file);
}

static uint8_t owner_of(const struct bp_python *python, uint64_t frame) {
    uint8_t owner = 0;
    return python->layout->owner && read_memory(python, frame + python->layout->owner, &owner, 1)
               ? owner
               : 0;
}

/* From 3.12 on a frame of its own stands for a call from C; in 3.11 the frame has a mark; before,
 * each is one. */
uint32_t bp_python_read(const struct bp_python *python, pid_t tid, uint64_t pointer,
                        struct bp_python_frame *frames, uint32_t most) {
    const struct bp_layout *layout = python->layout;
    uint64_t state = python->runtime ? find_thread(python, tid, pointer) : 0;
    uint64_t frame = state ? read_word(python, state + layout->current) : 0;
    uint32_t count = 0;
    if (frame && layout->indirect >= 0)
        frame = read_word(python, frame + (uint64_t)layout->indirect);
    for (; frame && count < most; frame = read_word(python, frame + layout->previous)) {
        bool marked = layout->owner && owner_of(python, frame) >= layout->entry;
        if (marked && layout->minor >= 12) {
            frames[count ? count - 1 : 0].entry |= count > 0;
            continue;
        }
        uint64_t code = read_word(python, frame + layout->code) & ~(uint64_t)layout->tags;
        if (!is_code(python, code))
            break;
        describe(python, frame, code, &frames[count]);
        frames[count++].entry = !layout->owner || (layout->minor == 11 && marked);
    }
    return count;
}
