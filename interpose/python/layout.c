/* SPDX-License-Identifier: MIT
 *
 * An entry for each version of CPython that battprof knows. A version that has none is profiled
 * without Python frames and imports; python.c says so.
 */
#include "interpose/python/layout.h"

#include <stddef.h>

/* What neighbouring versions have in common. */
#define FIELDS_8_TO_10                                                                             \
    .current = 24, .indirect = -1, .previous = 24, .code = 32, .globals = 48, .filename = 104,     \
    .name = 112, .line = 40, .table = 120, .constants = 56, .flags = 36, .tuple = 24, .ascii = 48, \
    .wide = 72

#define FIELDS_FROM_11                                                                             \
    .instruction = 56, .place = BP_PLACE_POINTER, .lines = BP_LINES_SPANS, .filename = 112,        \
    .name = 120, .qualname = 128, .table = 136, .constants = 24, .flags = 48

#define FIELDS_FROM_12                                                                             \
    FIELDS_FROM_11, .previous = 8, .code = 0, .globals = 24, .entry = 3, .line = 68, .ascii = 40,  \
                    .wide = 56

#define FIELDS_FROM_13 FIELDS_FROM_12, .current = 72, .indirect = -1, .jump_caches = 1

#define FIELDS_FROM_14 FIELDS_FROM_13, .tags = 3, .owner = 74, .instructions = 208, .tuple = 32

static const struct bp_layout layouts[] = {
    {FIELDS_8_TO_10, .minor = 8, .instruction = 104, .place = BP_PLACE_BYTES,
     .lines = BP_LINES_NOTAB},
    {FIELDS_8_TO_10, .minor = 9, .instruction = 104, .place = BP_PLACE_BYTES,
     .lines = BP_LINES_NOTAB},
    {FIELDS_8_TO_10, .minor = 10, .instruction = 96, .place = BP_PLACE_WORDS,
     .lines = BP_LINES_TABLE},
    {FIELDS_FROM_11, .minor = 11, .current = 56, .indirect = 8, .previous = 48, .code = 32,
     .globals = 8, .owner = 68, .entry = 1, .line = 72, .instructions = 184, .tuple = 24,
     .ascii = 48, .wide = 72},
    {FIELDS_FROM_12, .minor = 12, .current = 56, .indirect = 0, .owner = 70, .instructions = 192,
     .jump_back = 140, .extended_arg = 144, .tuple = 24},
    {FIELDS_FROM_13, .minor = 13, .owner = 70, .instructions = 200, .jump_back = 77,
     .extended_arg = 71, .tuple = 24},
    {FIELDS_FROM_14, .minor = 14, .jump_back = 75, .extended_arg = 69},
    {FIELDS_FROM_14, .minor = 15, .jump_back = 74, .extended_arg = 67},
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
