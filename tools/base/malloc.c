/* SPDX-License-Identifier: MIT
 *
 * malloc and its like never return NULL in the command: without memory it ends (memory.h). Our own
 * code asks for that, and libraries need it: jansson and libdw follow NULL pointers, abort, or
 * leave out what they could not store, which a report must not do unnoticed. Linked into the
 * command only.
 *
 * A library that has read nonsense may ask for more than any machine has. It gets its NULL.
 */
#include <stdint.h>

#include "tools/base/memory.h"

#define NONSENSE ((size_t)1 << 32) /* bytes: no report has needed as much at once */

#ifdef BP_STATIC /* -Wl,--wrap */
#    define OURS(name) __wrap_##name
#    define LIBC(name) __real_##name
#else
#    define OURS(name) name
#    define LIBC(name) __libc_##name
#endif

void *LIBC(malloc)(size_t size);
void *LIBC(calloc)(size_t count, size_t size);
void *LIBC(realloc)(void *memory, size_t size);
void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t count, size_t size);
void *OURS(realloc)(void *memory, size_t size);

static void *check(void *memory, size_t size) {
    if (!memory && size && size < NONSENSE)
        bp_memory_end();
    return memory;
}

void *OURS(malloc)(size_t size) {
    return check(LIBC(malloc)(size), size);
}

void *OURS(calloc)(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return check(LIBC(calloc)(count, size), bytes);
}

void *OURS(realloc)(void *memory, size_t size) {
    return check(LIBC(realloc)(memory, size), size);
}
