/* SPDX-License-Identifier: MIT
 *
 * A stream that packs what is written to it. The same bytes in, the same bytes out: there is no
 * time and no name in its header.
 */
#ifndef BP_TOOLS_EXPORT_GZIP_H
#define BP_TOOLS_EXPORT_GZIP_H

#include <stdio.h>

/* fclose() ends it and leaves `out` open; it fails if `out` could not be written to. */
FILE *bp_gzip_open(FILE *out);

#endif
