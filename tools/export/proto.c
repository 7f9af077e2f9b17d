/* SPDX-License-Identifier: MIT */
#include "tools/export/proto.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2 };

#define LONGEST_VARINT 10

static void reserve(struct bp_proto *proto, size_t more) {
    if (proto->length + more <= proto->room)
        return;
    proto->room = 2 * proto->room + more + 64;
    proto->data = bp_resize(proto->data, proto->room, 1);
}

/* Seven bits a byte, the lowest first; the top bit is set in all but the last. */
static void add_varint(struct bp_proto *proto, uint64_t value) {
    reserve(proto, LONGEST_VARINT);
    for (; value >= 0x80; value >>= 7)
        proto->data[proto->length++] = (uint8_t)(value | 0x80);
    proto->data[proto->length++] = (uint8_t)value;
}

static void copy_bytes(struct bp_proto *proto, const void *data, size_t size) {
    reserve(proto, size);
    if (size)
        memcpy(proto->data + proto->length, data, size);
    proto->length += size;
}

static void add_bytes(struct bp_proto *proto, uint32_t field, const void *data, size_t size) {
    add_varint(proto, (uint64_t)field << 3 | BYTES);
    add_varint(proto, size);
    copy_bytes(proto, data, size);
}

void bp_proto_number(struct bp_proto *proto, uint32_t field, uint64_t value) {
    add_varint(proto, (uint64_t)field << 3 | VARINT);
    add_varint(proto, value);
}

void bp_proto_double(struct bp_proto *proto, uint32_t field, double value) {
    add_varint(proto, (uint64_t)field << 3 | FIXED64);
    copy_bytes(proto, &value, sizeof(value)); /* little-endian, as a profile is */
}

void bp_proto_text(struct bp_proto *proto, uint32_t field, const char *text) {
    add_bytes(proto, field, text, strlen(text));
}

static size_t varint_length(uint64_t value) {
    size_t length = 1;
    for (; value >= 0x80; value >>= 7)
        length++;
    return length;
}

void bp_proto_packed(struct bp_proto *proto, uint32_t field, const uint64_t *values, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += varint_length(values[i]);
    add_varint(proto, (uint64_t)field << 3 | BYTES);
    add_varint(proto, size);
    for (size_t i = 0; i < count; i++)
        add_varint(proto, values[i]);
}

void bp_proto_message(struct bp_proto *proto, uint32_t field, struct bp_proto *message) {
    add_bytes(proto, field, message->data, message->length);
    message->length = 0;
}

void bp_proto_append(struct bp_proto *proto, const struct bp_proto *fields) {
    copy_bytes(proto, fields->data, fields->length);
}

void bp_proto_fini(struct bp_proto *proto) {
    free(proto->data);
    *proto = (struct bp_proto){0};
}
