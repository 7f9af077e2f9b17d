/* SPDX-License-Identifier: MIT
 *
 * Data within a page: a <script> element of a type that no browser runs, compressed (zlib) and in
 * base64, so nothing in it can end the element and a page stays small.
 */
#ifndef BP_TOOLS_EXPORT_HTML_BLOB_H
#define BP_TOOLS_EXPORT_HTML_BLOB_H

#include <stddef.h>
#include <stdio.h>

/* 0, or -1. */
int bp_blob_write(const char *id, const char *data, size_t size, FILE *out);

/* The data of that id in the text of a page: new, ended by a zero byte, its length in `*size`. NULL
 * if the page has none, or it is damaged. */
char *bp_blob_read(const char *page, const char *id, size_t *size);

#endif
