/* SPDX-License-Identifier: MIT
 *
 * The arena of one solver run: chunks that only grow until the reset between samples. The chunks
 * stay with the arena, so after the first samples a run takes no memory from malloc. A limit turns
 * a solver that multiplies objects without end into an error of that one sample.
 */
#include "dsl/internal.h"

#include <stdlib.h>

/* Bytes. A chunk holds most runs of a candidate; the limit is ten times what a whole run of the
 * default tasks, slow ones included, was seen to take (25 MB resident). */
#define CHUNK_BYTES ((size_t)256 << 10)
#define LIMIT_BYTES ((size_t)256 << 20)

struct chunk {
    struct chunk *next;
    size_t room;
    _Alignas(16) unsigned char bytes[];
};

struct dsl_arena {
    struct chunk *first;
    struct chunk *current;
    size_t used; /* of current */
    size_t total;
    const char *error;
};

struct dsl_arena *dsl_arena_new(void) {
    return calloc(1, sizeof(struct dsl_arena));
}

void dsl_arena_reset(struct dsl_arena *arena) {
    arena->current = arena->first;
    arena->used = 0;
    arena->error = NULL;
}

void dsl_arena_free(struct dsl_arena *arena) {
    struct chunk *chunk = arena ? arena->first : NULL;
    while (chunk) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

const char *dsl_arena_error(const struct dsl_arena *arena) {
    return arena->error;
}

/* For callers inside the library: not through the PLT. */
bool dsl_failed(const struct dsl_arena *arena) {
    return arena->error;
}

void dsl_fail(struct dsl_arena *arena, const char *message) {
    if (!arena->error)
        arena->error = message;
}

/* Links a new chunk behind the current one; chunks kept from earlier samples stay behind it. */
static struct chunk *chunk_add(struct dsl_arena *arena, size_t bytes) {
    size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    if (room > LIMIT_BYTES - arena->total)
        return NULL;
    struct chunk *chunk = malloc(sizeof(*chunk) + room);
    if (!chunk)
        return NULL;
    chunk->room = room;
    struct chunk **link = arena->current ? &arena->current->next : &arena->first;
    chunk->next = *link;
    *link = chunk;
    arena->total += room;
    return chunk;
}

static struct chunk *chunk_after(struct dsl_arena *arena, size_t bytes) {
    struct chunk *next = arena->current ? arena->current->next : arena->first;
    return next && next->room >= bytes ? next : chunk_add(arena, bytes);
}

void *dsl_alloc(struct dsl_arena *arena, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    if (!arena->current || bytes > arena->current->room - arena->used) {
        struct chunk *chunk = chunk_after(arena, bytes);
        if (!chunk) {
            dsl_fail(arena, "out of arena memory");
            return NULL;
        }
        arena->current = chunk;
        arena->used = 0;
    }
    void *memory = arena->current->bytes + arena->used;
    arena->used += bytes;
    return memory;
}
