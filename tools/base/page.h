/* SPDX-License-Identifier: MIT
 *
 * Text for people: at most 80 columns, human units, UTF-8 only where the locale has it, colour only
 * on a terminal without NO_COLOR.
 */
#ifndef BP_TOOLS_PAGE_H
#define BP_TOOLS_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define BP_PAGE_WIDTH 80

struct bp_page {
    FILE *out;
    bool utf8;
    bool colour;
};

void bp_page_init(struct bp_page *page, FILE *out);

/* "1.23 s", "45.6 ms", "789 µs", "12 ns"; "0" for nothing. */
const char *bp_page_time(const struct bp_page *page, double s, char text[32]);
/* "  1.23 s ± 0.05 ": BP_PAGE_ESTIMATE columns, of which the time has the first BP_PAGE_VALUE, so
 * that signs stand below each other; the time alone where the error is too small to show. */
#define BP_PAGE_VALUE 8
#define BP_PAGE_ESTIMATE 16
const char *bp_page_estimate(const struct bp_page *page, double s, double error_s, char text[64]);
/* "12.3 ms", or "< 4.56 ms" where the error is more than the time. */
const char *bp_page_bound(const struct bp_page *page, double s, double error_s, char text[32]);
/* "1.23 GB"; decimal units, as bandwidths have them. */
const char *bp_page_bytes(double bytes, char text[32]);
/* "1,234,567" */
const char *bp_page_count(uint64_t count, char text[32]);
/* "12.3 %" of `whole`; "" if there is no whole. */
const char *bp_page_share(double part, double whole, char text[32]);

/* Pads to a width in columns; a text that is too long is cut, with an ellipsis at the cut. */
void bp_page_left(const struct bp_page *page, const char *text, int width);
void bp_page_right(const struct bp_page *page, const char *text, int width);
void bp_page_bar(const struct bp_page *page, double part, int width, int colour);

/* One paragraph, broken at spaces; lines after the first are indented by `indent`, the first by the
 * spaces that it begins with. */
void bp_page_wrap(const struct bp_page *page, const char *text, int indent);
void bp_page_heading(const struct bp_page *page, const char *text);

/* The head of a table, after an empty line: the title, padded to `width`, and above each column its
 * name, which ends where the column does. */
struct bp_column {
    const char *name; /* NULL ends the list */
    int width;
};
#define BP_COLUMNS(...) ((const struct bp_column[]){__VA_ARGS__, {NULL, 0}})
void bp_page_title(const struct bp_page *page, const char *title, int width,
                   const struct bp_column *columns);

/* Columns that the text takes. */
int bp_page_columns(const char *text);

#endif
