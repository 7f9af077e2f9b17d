/* SPDX-License-Identifier: MIT
 *
 * Texts: parts of them, and new ones.
 */
#ifndef BP_TOOLS_TEXT_H
#define BP_TOOLS_TEXT_H

#include <stddef.h>

/* What follows the last slash of a path: borrowed. */
const char *bp_base_name(const char *path);

/* The words as a shell would have to be given them. What does not fit is left out. */
void bp_quote_words(char *to, size_t size, char *const *words);

/* A new text of at most 511 bytes. */
char *bp_make_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
