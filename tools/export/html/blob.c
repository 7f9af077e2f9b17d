/* SPDX-License-Identifier: MIT */
#include "tools/export/html/blob.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

#define BEGIN "<script type=\"application/octet-stream\" id=\"%s\">"
#define END "</script>"

/* Bytes of a report that was read back: more was not written by us. */
#define LARGEST ((size_t)1 << 30)

/* 9 makes 4 % less of the largest list in five times the time. */
#define LEVEL 7

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_base64(const unsigned char *data, size_t size, FILE *out) {
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0);
        fputc(digits[bits >> 18], out);
        fputc(digits[bits >> 12 & 63], out);
        fputc(left > 1 ? digits[bits >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[bits & 63] : '=', out);
    }
}

int bp_blob_write(const char *id, const char *data, size_t size, FILE *out) {
    uLongf packed_size = compressBound(size);
    unsigned char *packed = bp_alloc(packed_size, 1);
    int result = compress2(packed, &packed_size, (const Bytef *)data, size, LEVEL);
    if (result == Z_OK) {
        fprintf(out, BEGIN, id);
        write_base64(packed, packed_size, out);
        fputs(END "\n", out);
    }
    free(packed);
    return result == Z_OK ? 0 : -1;
}

/* Bytes, a new array; NULL if a character is none of base64. */
static unsigned char *read_base64(const char *text, size_t length, size_t *size) {
    unsigned char *data = bp_alloc(length / 4 * 3 + 3, 1);
    uint32_t bits = 0;
    *size = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) {
            free(data);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 > 0)
            data[(*size)++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    return data;
}

/* A new text; NULL if it is no such data. Its length is not in it, so room grows as it is needed.
 */
static char *inflate_all(const unsigned char *packed, size_t packed_size, size_t *size) {
    z_stream stream = {.next_in = (Bytef *)packed, .avail_in = (uInt)packed_size};
    char *data = NULL;
    size_t room = 0;
    int result = inflateInit(&stream);
    while (result == Z_OK && room < LARGEST) {
        size_t used = room;
        room = room ? 2 * room : 65536;
        data = bp_resize(data, room + 1, 1);
        stream.next_out = (Bytef *)data + used;
        stream.avail_out = (uInt)(room - used);
        result = inflate(&stream, Z_NO_FLUSH);
    }
    *size = stream.total_out;
    inflateEnd(&stream);
    if (result != Z_STREAM_END) {
        free(data);
        return NULL;
    }
    data[*size] = 0;
    return data;
}

char *bp_blob_read(const char *page, const char *id, size_t *size) {
    char *begin = bp_make_text(BEGIN, id);
    const char *from = strstr(page, begin);
    const char *to = from ? strstr(from, END) : NULL;
    char *data = NULL;
    if (to) {
        size_t packed_size;
        from += strlen(begin);
        unsigned char *packed = read_base64(from, (size_t)(to - from), &packed_size);
        data = packed ? inflate_all(packed, packed_size, size) : NULL;
        free(packed);
    }
    free(begin);
    return data;
}
