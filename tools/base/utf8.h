/* SPDX-License-Identifier: MIT
 *
 * Names come from other people's binaries and may be any bytes; most formats want UTF-8.
 */
#ifndef BP_TOOLS_BASE_UTF8_H
#define BP_TOOLS_BASE_UTF8_H

#include <stdbool.h>

bool bp_utf8_is_valid(const char *text);

/* The text, or if it is no UTF-8, with a question mark for each byte that is not ASCII: a new text.
 */
char *bp_utf8_text(const char *text);

#endif
