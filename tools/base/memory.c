/* SPDX-License-Identifier: MIT */
#include "tools/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/error.h"

static struct {
    const char *words;
    void (*act)(void);
    int ending;
} state = {.words = ""};

void bp_memory_at_end(const char *words, void (*act)(void)) {
    state.words = words;
    state.act = act;
}

/* bp_note() would need some. No exit(): a function of libc or of a library may have asked, with a
 * lock held that a handler of exit() waits for. The locks of streams are the thread's own. */
_Noreturn void bp_memory_end(void) {
    char line[160];
    if (state.ending++)
        _exit(BP_FAILED);
    int length =
        state.words ? snprintf(line, sizeof line, "battprof: out of memory%s\n", state.words) : 0;
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(BP_FAILED);
    if (state.act)
        state.act();
    fflush(stdout);
    _exit(BP_FAILED);
}

static void *check(void *memory) {
    if (!memory)
        bp_memory_end();
    return memory;
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

void *bp_resize(void *items, size_t count, size_t size) {
    return check(reallocarray(items, count, size));
}

char *bp_copy_text(const char *text) {
    return check(strdup(text));
}
