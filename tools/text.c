/* SPDX-License-Identifier: MIT */
#include "tools/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/memory.h"

const char *bp_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_plain(const char *word) {
    return *word &&
           !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "%+,-./:=@_")];
}

/* How long `word` is in quotes; written as far as there is room. */
static size_t quote(char *to, size_t room, const char *word) {
    size_t used = 0;
#define PUT(c) (used < room ? (void)(to[used] = (c)) : (void)0, used++)
    PUT('\'');
    for (; *word; word++) {
        PUT(*word);
        if (*word == '\'') { /* closes; an escaped one follows, and a new beginning */
            PUT('\\');
            PUT('\'');
            PUT('\'');
        }
    }
    PUT('\'');
#undef PUT
    return used;
}

void bp_quote_words(char *to, size_t size, char *const *words) {
    size_t used = 0;
    to[0] = 0;
    for (; *words && used + 1 < size; words++) {
        if (used)
            to[used++] = ' ';
        size_t room = size - used;
        size_t length = is_plain(*words) ? strlen(*words) : quote(to + used, room, *words);
        if (is_plain(*words))
            memcpy(to + used, *words, length < room ? length : room);
        used += length;
    }
    to[used < size ? used : size - 1] = 0;
}

char *bp_make_text(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return bp_copy_text(text);
}
