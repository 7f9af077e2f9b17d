/* SPDX-License-Identifier: MIT
 *
 * Makes profile files in memory for tests, chunk by chunk, right or wrong as the test wants. Not
 * the writer: that one lives in the target and makes only right ones.
 */
#ifndef BP_TESTS_UNIT_BUILDER_H
#define BP_TESTS_UNIT_BUILDER_H

#include "profile/image.h"

/* Where the pretended target has mapped the file. */
#define BUILDER_ADDRESS UINT64_C(0x7f0000000000)

struct builder {
    struct bp_image image;
};

/* An exited process of one second on CLOCK_MONOTONIC, without chunks. */
void builder_init(struct builder *builder);
void builder_fini(struct builder *builder);

/* The head of a file of such a process: what a target fills in before anything else. */
void builder_begin_header(struct bp_header *header);

struct bp_header *builder_header(struct builder *builder);

/* Appends a chunk with `count` zeroed items and room for `capacity`; returns its offset. */
size_t builder_chunk(struct builder *builder, uint32_t kind, uint32_t thread, uint32_t count,
                     uint32_t capacity);
struct bp_chunk *builder_head(struct builder *builder, size_t chunk);
void *builder_item(struct builder *builder, size_t chunk, uint32_t index);
/* The target's address of an item. */
uint64_t builder_address(struct builder *builder, size_t chunk, uint32_t index);

/* Strings "", "libdsl.so", "f0" … "f7"; object 0 is libdsl.so; function 0 the root, 1 the folded, 2
 * to 9 the calls f0 to f7. */
void builder_names(struct builder *builder);
#define BUILDER_FUNC 2
#define BUILDER_FUNCS 8

/* A descriptor of a file without a name that holds it. */
int builder_open(const struct builder *builder);
int builder_write(const struct builder *builder, const char *path);

/* What the reader makes of it; NULL if it refuses it. */
struct bp_profile *builder_read(const struct builder *builder);
/* The same of a file that somebody else wrote, and that is gone then. */
struct bp_profile *builder_take(const char *path);

#endif
