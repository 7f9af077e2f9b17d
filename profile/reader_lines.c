/* SPDX-License-Identifier: MIT
 *
 * Line counts of a profile. One whose function does not exist is left out. A file from before
 * format 1.6 has none.
 */
#include "profile/reader_internal.h"

int bp_reader_load_lines(struct bp_reader *reader) {
    struct bp_profile *profile = reader->profile;
    uint32_t kept = 0;
    int result = 0;
    profile->lines = bp_reader_take(reader, BP_LINE_COUNTS, &profile->line_count, &result);
    uint32_t unknown = profile->func_count - 1; /* load_funcs has added it */
    for (uint32_t i = 0; result == 0 && i < profile->line_count; i++)
        if (profile->lines[i].func < unknown)
            profile->lines[kept++] = profile->lines[i];
    reader->bad_items += profile->line_count - kept;
    profile->line_count = kept;
    return result;
}
