/* SPDX-License-Identifier: MIT */
#include "tools/memory.h"

#include <stdlib.h>
#include <string.h>

#include "tools/error.h"

static void *check(void *memory) {
    if (memory)
        return memory;
    bp_note("out of memory");
    exit(BP_FAILED);
}

void *bp_alloc(size_t count, size_t size) {
    return check(calloc(count ? count : 1, size));
}

void *bp_grow(void *items, uint32_t count, size_t size) {
    if ((count & (count - 1)) == 0)
        items = check(reallocarray(items, count ? (size_t)count * 2 : 1, size));
    memset((char *)items + count * size, 0, size);
    return items;
}

char *bp_copy_text(const char *text) {
    return check(strdup(text));
}
