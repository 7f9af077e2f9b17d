/* SPDX-License-Identifier: MIT
 *
 * An entry for each version of CPython that battprof knows. A version that has none is profiled
 * without Python frames and imports; python.c says so.
 */
#include "interpose/python/layout.h"

#include <stddef.h>

static const struct bp_layout layouts[] = {
    {.minor = 8,
     .current = 24,
     .indirect = -1,
     .previous = 24,
     .code = 32,
     .instruction = 104,
     .globals = 48,
     .place = BP_PLACE_BYTES,
     .lines = BP_LINES_NOTAB,
     .filename = 104,
     .name = 112,
     .line = 40,
     .table = 120,
     .constants = 56,
     .flags = 36,
     .ascii = 48,
     .wide = 72},
    {.minor = 9,
     .current = 24,
     .indirect = -1,
     .previous = 24,
     .code = 32,
     .instruction = 104,
     .globals = 48,
     .place = BP_PLACE_BYTES,
     .lines = BP_LINES_NOTAB,
     .filename = 104,
     .name = 112,
     .line = 40,
     .table = 120,
     .constants = 56,
     .flags = 36,
     .ascii = 48,
     .wide = 72},
    {.minor = 10,
     .current = 24,
     .indirect = -1,
     .previous = 24,
     .code = 32,
     .instruction = 96,
     .globals = 48,
     .place = BP_PLACE_WORDS,
     .lines = BP_LINES_TABLE,
     .filename = 104,
     .name = 112,
     .line = 40,
     .table = 120,
     .constants = 56,
     .flags = 36,
     .ascii = 48,
     .wide = 72},
    {.minor = 11,
     .current = 56,
     .indirect = 8,
     .previous = 48,
     .code = 32,
     .instruction = 56,
     .globals = 8,
     .owner = 68,
     .entry = 1,
     .place = BP_PLACE_POINTER,
     .lines = BP_LINES_SPANS,
     .filename = 112,
     .name = 120,
     .qualname = 128,
     .line = 72,
     .table = 136,
     .constants = 24,
     .flags = 48,
     .instructions = 184,
     .ascii = 48,
     .wide = 72},
    {.minor = 12,
     .current = 56,
     .indirect = 0,
     .previous = 8,
     .code = 0,
     .instruction = 56,
     .globals = 24,
     .owner = 70,
     .entry = 3,
     .place = BP_PLACE_POINTER,
     .lines = BP_LINES_SPANS,
     .filename = 112,
     .name = 120,
     .qualname = 128,
     .line = 68,
     .table = 136,
     .constants = 24,
     .flags = 48,
     .instructions = 192,
     .ascii = 40,
     .wide = 56},
    {.minor = 13,
     .current = 72,
     .indirect = -1,
     .previous = 8,
     .code = 0,
     .instruction = 56,
     .globals = 24,
     .owner = 70,
     .entry = 3,
     .place = BP_PLACE_POINTER,
     .lines = BP_LINES_SPANS,
     .filename = 112,
     .name = 120,
     .qualname = 128,
     .line = 68,
     .table = 136,
     .constants = 24,
     .flags = 48,
     .instructions = 200,
     .ascii = 40,
     .wide = 56},
};

int bp_layout_minor(const char *version) {
    int minor = 0;
    if (version[0] != '3' || version[1] != '.')
        return 0;
    for (version += 2; *version >= '0' && *version <= '9'; version++)
        minor = 10 * minor + (*version - '0');
    return minor;
}

const struct bp_layout *bp_layout_find(const char *version) {
    int minor = bp_layout_minor(version);
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    return NULL;
}
