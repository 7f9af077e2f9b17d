/* SPDX-License-Identifier: MIT
 *
 * Messages of protocol buffers, written only: a field is a number, a kind and its value. All zero
 * is the empty message.
 */
#ifndef BP_TOOLS_EXPORT_PROTO_H
#define BP_TOOLS_EXPORT_PROTO_H

#include <stddef.h>
#include <stdint.h>

struct bp_proto {
    uint8_t *data;
    size_t length;
    size_t room;
};

void bp_proto_number(struct bp_proto *proto, uint32_t field, uint64_t value);
void bp_proto_double(struct bp_proto *proto, uint32_t field, double value);
void bp_proto_text(struct bp_proto *proto, uint32_t field, const char *text); /* UTF-8 */
void bp_proto_packed(struct bp_proto *proto, uint32_t field, const uint64_t *values, size_t count);
/* The message becomes a field, and is empty again: its memory is used for the next one. */
void bp_proto_message(struct bp_proto *proto, uint32_t field, struct bp_proto *message);
/* All fields of another one, as they are. */
void bp_proto_append(struct bp_proto *proto, const struct bp_proto *fields);
void bp_proto_fini(struct bp_proto *proto);

#endif
