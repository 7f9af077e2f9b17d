/* SPDX-License-Identifier: MIT
 *
 * A profile that is being written, through a mapping of its file: what a target has counted stays
 * where it is. For who wants one item now; reader.h has a profile as a whole. System calls alone,
 * as the target itself finds the wall page of its tree this way.
 */
#ifndef BP_PROFILE_LIVE_H
#define BP_PROFILE_LIVE_H

#include <stddef.h>

#include "profile/format.h"

struct bp_live {
    char *data; /* the header first */
    uint64_t size;
};

/* The file as long as it is now; what is written there goes to the file if it was opened for that.
 * 0 or -errno. */
int bp_live_open(struct bp_live *live, const char *path, int to_write);
void bp_live_close(struct bp_live *live);

/* The chunk behind `chunk`, the first one behind NULL; NULL if there is none that is whole. */
struct bp_chunk *bp_live_next(const struct bp_live *live, const struct bp_chunk *chunk);

/* The item of a kind of no thread, and how many bytes of such items follow it in its chunk, with
 * its own. NULL if it is not there yet. */
const void *bp_live_find(const struct bp_live *live, enum bp_chunk_kind kind, uint32_t index,
                         uint64_t *bytes);

#endif
