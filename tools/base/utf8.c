/* SPDX-License-Identifier: MIT */
#include "tools/base/utf8.h"

#include <stdint.h>

#include "tools/base/memory.h"

/* Bytes of the character; 0: it is none. A surrogate, a character beyond the last one and a form
 * that is longer than needed are none. */
static int character_length(const unsigned char *text) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = text[0] < 0x80   ? 1
                 : text[0] < 0xc0 ? 0
                 : text[0] < 0xe0 ? 2
                 : text[0] < 0xf0 ? 3
                 : text[0] < 0xf8 ? 4
                                  : 0;
    uint32_t character = length > 1 ? text[0] & (0x7fu >> length) : text[0];
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = character >= 0xd800 && character < 0xe000;
    return length && !surrogate && character >= least[length] && character < 0x110000 ? length : 0;
}

bool bp_utf8_is_valid(const char *text) {
    for (int length; *text; text += length) {
        length = character_length((const unsigned char *)text);
        if (!length)
            return false;
    }
    return true;
}

char *bp_utf8_text(const char *text) {
    char *copy = bp_copy_text(text);
    if (bp_utf8_is_valid(copy))
        return copy;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return copy;
}
