/* SPDX-License-Identifier: MIT
 *
 * Texts: parts of them, and new ones of any length. No name may be cut by a buffer.
 */
#ifndef BP_TOOLS_BASE_TEXT_H
#define BP_TOOLS_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* What follows the last slash of a path: borrowed. */
const char *bp_base_name(const char *path);

/* A text that grows. All zero is the empty one. */
struct bp_text {
    char *data; /* NULL until something was added */
    size_t length;
};

void bp_text_add(struct bp_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bp_text_add_list(struct bp_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* In place of what it was. */
void bp_text_set(struct bp_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Borrowed; never NULL. */
const char *bp_text_get(const struct bp_text *text);
/* The caller's to free; never NULL. The text is empty then. */
char *bp_text_take(struct bp_text *text);
void bp_text_fini(struct bp_text *text);

/* A new text. */
char *bp_make_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The path as seen from the folder, without "." and ".." in it: a new text. Links are not followed.
 */
char *bp_plain_path(const char *folder, const char *path);

/* The words as a shell would have to be given them: a new text. */
char *bp_quote_words(char *const *words);

#endif
