/* SPDX-License-Identifier: MIT */
#include "tools/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

const char *bp_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_plain(const char *word) {
    return *word &&
           !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "%+,-./:=@_")];
}

void bp_text_add_list(struct bp_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    text->data = bp_resize(text->data, text->length + (size_t)length + 1, 1);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    text->length += (size_t)length;
}

void bp_text_add(struct bp_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bp_text_add_list(text, format, arguments);
    va_end(arguments);
}

/* The new text may be made of the old one. */
void bp_text_set(struct bp_text *text, const char *format, ...) {
    struct bp_text before = *text;
    va_list arguments;
    *text = (struct bp_text){0};
    va_start(arguments, format);
    bp_text_add_list(text, format, arguments);
    va_end(arguments);
    bp_text_fini(&before);
}

const char *bp_text_get(const struct bp_text *text) {
    return text->data ? text->data : "";
}

char *bp_text_take(struct bp_text *text) {
    char *data = text->data ? text->data : bp_copy_text("");
    *text = (struct bp_text){0};
    return data;
}

void bp_text_fini(struct bp_text *text) {
    free(text->data);
    *text = (struct bp_text){0};
}

char *bp_make_text(const char *format, ...) {
    struct bp_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    bp_text_add_list(&text, format, arguments);
    va_end(arguments);
    return bp_text_take(&text);
}

char *bp_quote_words(char *const *words) {
    struct bp_text text = {0};
    for (char *const *word = words; *word; word++) {
        bp_text_add(&text, "%s", word > words ? " " : "");
        if (is_plain(*word)) {
            bp_text_add(&text, "%s", *word);
            continue;
        }
        bp_text_add(&text, "'");
        for (const char *c = *word; *c; c++)
            bp_text_add(&text, "%c%s", *c, *c == '\'' ? "\\''" : ""); /* ends, and begins again */
        bp_text_add(&text, "'");
    }
    return bp_text_take(&text);
}

/* One part of a path behind the others; ".." takes the last of them away. */
static void add_part(struct bp_text *text, const char *part, size_t length) {
    if (length == 0 || (length == 1 && part[0] == '.'))
        return;
    if (length != 2 || strncmp(part, "..", 2) != 0) {
        bp_text_add(text, "/%.*s", (int)length, part);
        return;
    }
    while (text->length > 0 && text->data[--text->length] != '/')
        ;
    if (text->data)
        text->data[text->length] = 0;
}

static void add_parts(struct bp_text *text, const char *path) {
    for (;;) {
        size_t length = strcspn(path, "/");
        add_part(text, path, length);
        if (!path[length])
            return;
        path += length + 1;
    }
}

char *bp_plain_path(const char *folder, const char *path) {
    struct bp_text text = {0};
    if (path[0] != '/')
        add_parts(&text, folder);
    add_parts(&text, path);
    if (text.length == 0)
        bp_text_add(&text, "/");
    return bp_text_take(&text);
}
