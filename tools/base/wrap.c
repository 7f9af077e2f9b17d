/* SPDX-License-Identifier: MIT
 *
 * See wrap.h. A word longer than a line (a path) stands on one of its own and is never cut: it is
 * there to be copied.
 */
#include "tools/base/wrap.h"

#include <string.h>

#define WIDTH 79

/* Columns, not bytes: continuation bytes of UTF-8 take none. */
static int columns(const char *text, int bytes) {
    int n = 0;
    for (int i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

void bp_wrap_print(const char *text, int column, int indent, FILE *out) {
    while (*text) {
        int bytes = (int)strcspn(text, " "), width = columns(text, bytes);
        if (column + 1 + width > WIDTH && column > indent) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        if (column > indent)
            column += fprintf(out, " ");
        fprintf(out, "%.*s", bytes, text);
        column += width;
        text += bytes;
        text += strspn(text, " ");
    }
    fprintf(out, "\n");
}
