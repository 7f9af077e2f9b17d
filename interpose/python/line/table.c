/* SPDX-License-Identifier: MIT
 *
 * The tables grow as lines are met: most lines of a module never run. What an instruction's line is
 * is asked once.
 */
#include "interpose/python/line/table.h"

#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/layout.h"

#define LINES_AT_ONCE 64
#define MOST_LINES (1u << 20) /* of a function: a line number beyond it is nonsense */

static struct { uint32_t lines; /* numbers given out */ } state;

struct bp_py_lines *bp_py_lines_new(void *code, uint32_t func, int kept) {
    long first = bp_py_number(code, "co_firstlineno");
    void *bytes = bp_py.PyObject_GetAttrString(code, "co_code");
    long size = bytes && bp_py.PyBytes_Size ? bp_py.PyBytes_Size(bytes) : 0;
    struct bp_py_lines *lines = size > 0 && first >= 0 ? bp_pages_new(BP_PAGE) : NULL;
    bp_py.PyErr_Clear();
    if (!lines) {
        bp_py_drop(bytes);
        return NULL;
    }
    *lines = (struct bp_py_lines){.code = code, .func = func, .kept = kept, .bytes = bytes};
    lines->first = (uint32_t)first;
    lines->text = bp_py.PyBytes_AsString(bytes);
    lines->places = bp_pages_new((uint64_t)size / 2 * sizeof(struct bp_py_place));
    lines->place_count = lines->places ? (uint32_t)size / 2 : 0;
    lines->memory = kept ? NULL : (struct bp_line_count *)(lines + 1);
    return lines;
}

void bp_py_lines_free(struct bp_py_lines *lines) {
    if (!lines)
        return;
    bp_py_drop(lines->bytes);
    if (lines->slots)
        bp_pages_free(lines->slots, lines->slot_count * sizeof *lines->slots);
    if (lines->places)
        bp_pages_free(lines->places, lines->place_count * sizeof *lines->places);
    bp_pages_free(lines, BP_PAGE);
}

/* 3.11 has room for caches among the instructions: code units of the opcode 0. */
static int is_instruction(const struct bp_py_lines *lines, uint32_t index) {
    return lines->text[2 * (size_t)index] != 0;
}

uint32_t bp_py_lines_size(const struct bp_py_lines *lines) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < lines->place_count; i++)
        size += (uint32_t)is_instruction(lines, i);
    return size;
}

/* Whether a jump back stays within the line. A long one is left out: its rounds are long, too. */
static int has_rounds(struct bp_py_lines *lines, uint32_t line) {
    const struct bp_layout *layout = bp_layout_find(bp_py.Py_GetVersion());
    const uint8_t *text = (const uint8_t *)lines->text;
    for (uint32_t i = 1; layout && layout->jump_back && i < lines->place_count; i++) {
        if (text[2 * (size_t)i] != layout->jump_back ||
            text[2 * (size_t)(i - 1)] == layout->extended_arg)
            continue;
        int64_t target = (int64_t)i + 1 + layout->jump_caches - text[2 * (size_t)i + 1];
        if (bp_py_place_of(lines, 2 * (int64_t)i)->line == line &&
            bp_py_place_of(lines, 2 * target)->line == line)
            return 1;
    }
    return 0;
}

static struct bp_line_count *new_count(struct bp_py_lines *lines, uint32_t line) {
    uint32_t index, room = (BP_PAGE - sizeof *lines) / sizeof(struct bp_line_count);
    struct bp_line_count *count = NULL;
    uint32_t flags = has_rounds(lines, line) ? BP_LINE_ROUNDS : 0;
    if (!lines->kept && lines->memory_used < room)
        count = &lines->memory[lines->memory_used++];
    uint64_t mask = bp_lock(&bp_process.lock);
    if (lines->kept)
        count = bp_writer_item(&bp_process.writer, BP_LINE_COUNTS, &index);
    if (count)
        *count = (struct bp_line_count){.func = lines->func, .line = line, .flags = flags};
    if (count && lines->kept)
        bp_writer_commit(&bp_process.writer, BP_LINE_COUNTS);
    bp_unlock(&bp_process.lock, mask);
    return count;
}

static int grow(struct bp_py_lines *lines, uint32_t wanted) {
    uint32_t count = lines->slot_count ? 2 * lines->slot_count : LINES_AT_ONCE;
    while (count < wanted)
        count *= 2;
    struct bp_py_line *slots = bp_pages_new(count * sizeof *slots);
    if (!slots)
        return -1;
    if (lines->slots) {
        memcpy(slots, lines->slots, lines->slot_count * sizeof *slots);
        bp_pages_free(lines->slots, lines->slot_count * sizeof *slots);
    }
    lines->slots = slots;
    lines->slot_count = count;
    return 0;
}

struct bp_py_line *bp_py_line_new(struct bp_py_lines *lines, uint32_t line) {
    uint32_t index = line - lines->first;
    if (index >= MOST_LINES || (index >= lines->slot_count && grow(lines, index + 1)))
        return NULL;
    struct bp_py_line *slot = &lines->slots[index];
    if (!slot->count && (slot->count = new_count(lines, line)) != NULL)
        slot->number = state.lines++;
    return slot->count ? slot : NULL;
}

/* Lines come one after the other, so how long one is follows from where the next begins. */
static __attribute__((noinline)) void ask_place(struct bp_py_lines *lines, uint32_t index) {
    struct bp_py_place *place = &lines->places[index];
    int line = bp_py.PyCode_Addr2Line ? bp_py.PyCode_Addr2Line(lines->code, 2 * (int)index) : -1;
    place->line = line > 0 ? (uint32_t)line : lines->first;
    place->length = 1;
    for (uint32_t next = index + 1; line > 0 && next < lines->place_count; next++) {
        if (bp_py.PyCode_Addr2Line(lines->code, 2 * (int)next) != line)
            break;
        place->length += (uint32_t)is_instruction(lines, next);
    }
}

const struct bp_py_place *bp_py_place_of(struct bp_py_lines *lines, int64_t place) {
    static const struct bp_py_place nowhere;
    uint64_t index = (uint64_t)place / 2;
    if (place < 0 || index >= lines->place_count)
        return &nowhere;
    if (__builtin_expect(!lines->places[index].line, 0))
        ask_place(lines, (uint32_t)index);
    return &lines->places[index];
}

int bp_py_lines_known(void) {
    return state.lines != 0;
}
