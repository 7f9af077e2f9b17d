/* SPDX-License-Identifier: MIT */
#include "interpose/python/location.h"

#include "interpose/base/bytes.h"

#define LONGEST (256u << 10) /* bytes of a table */

/* 3.8, 3.9: (bytes, lines): so many bytes on, the line changes by so much. */
static uint32_t find_notab(struct bp_bytes *bytes, uint32_t place, uint32_t line) {
    uint32_t at = 0;
    while (bytes->at + 1 < bytes->end) {
        at += (uint32_t)bp_bytes_number(bytes, 1);
        if (at > place)
            break;
        line += (uint32_t)bp_bytes_signed(bytes, 1);
    }
    return line;
}

/* 3.10: (bytes, lines): the line changes by so much, for so many bytes; -128: these have none. */
static uint32_t find_table(struct bp_bytes *bytes, uint32_t place, uint32_t line) {
    uint32_t at = 0;
    while (bytes->at + 1 < bytes->end) {
        at += (uint32_t)bp_bytes_number(bytes, 1);
        int64_t change = bp_bytes_signed(bytes, 1);
        line += change == -128 ? 0 : (uint32_t)change;
        if (place < at)
            return change == -128 ? 0 : line;
    }
    return 0;
}

/* Six bits at a time, the lowest first. */
static uint32_t read_varint(struct bp_bytes *bytes) {
    uint64_t value = 0, byte = 0x40;
    for (unsigned shift = 0; byte & 0x40 && shift < 36; shift += 6) {
        byte = bp_bytes_number(bytes, 1);
        value |= (byte & 0x3f) << shift;
    }
    return (uint32_t)value;
}

static int32_t read_change(struct bp_bytes *bytes) {
    uint32_t value = read_varint(bytes);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

enum { SPAN_LONG = 14, SPAN_NO_COLUMN = 13, SPAN_ONE_LINE = 10, SPAN_NONE = 15 };

/* The change of line that one span begins with; the rest of it, columns, is skipped. */
static int32_t read_span(struct bp_bytes *bytes, unsigned code) {
    int32_t change;
    if (code == SPAN_NONE)
        return 0;
    if (code == SPAN_LONG) {
        change = read_change(bytes);
        for (int i = 0; i < 3; i++)
            read_varint(bytes);
        return change;
    }
    if (code == SPAN_NO_COLUMN)
        return read_change(bytes);
    bp_bytes_skip(bytes, code >= SPAN_ONE_LINE ? 2 : 1);
    return code >= SPAN_ONE_LINE ? (int32_t)code - SPAN_ONE_LINE : 0;
}

/* 3.11: spans of 1 to 8 code units of two bytes. */
static uint32_t find_span(struct bp_bytes *bytes, uint32_t place, uint32_t line) {
    uint32_t at = 0;
    while (bytes->at < bytes->end) {
        unsigned head = (unsigned)bp_bytes_number(bytes, 1), code = head >> 3 & 15;
        at += 2 * ((head & 7) + 1);
        line += (uint32_t)read_span(bytes, code);
        if (place < at)
            return code == SPAN_NONE ? 0 : line;
    }
    return 0;
}

uint32_t bp_lines_find(const struct bp_layout *layout, struct bp_safe *safe, uint64_t table,
                       uint32_t place, uint32_t first) {
    uint64_t size;
    if (!bp_safe_load(safe, table + BP_LAYOUT_SIZE, &size) || size > LONGEST ||
        !bp_safe_range(safe, table + BP_LAYOUT_BYTES, size))
        return 0;
    const uint8_t *start = (const uint8_t *)table + BP_LAYOUT_BYTES;
    struct bp_bytes bytes = {start, start + size, 0};
    uint32_t line = layout->lines == BP_LINES_NOTAB   ? find_notab(&bytes, place, first)
                    : layout->lines == BP_LINES_TABLE ? find_table(&bytes, place, first)
                                                      : find_span(&bytes, place, first);
    return bytes.bad ? 0 : line;
}
