/* SPDX-License-Identifier: MIT
 *
 * Text for people: as wide as the terminal, human units, UTF-8 only where the locale has it, colour
 * only on a terminal without NO_COLOR.
 */
#ifndef BP_TOOLS_BASE_PAGE_H
#define BP_TOOLS_BASE_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Columns that tables are written for, and of a page that is for no terminal. */
#define BP_PAGE_WIDTH 80

struct bp_page {
    FILE *out;
    int width;    /* columns that it is laid out for */
    double whole; /* that shares in cells are of */
    bool utf8;
    bool colour;
};

void bp_page_init(struct bp_page *page, FILE *out);
/* Pages for `memory` look as those for `out`, where their text goes to in the end. */
void bp_page_stand_in(FILE *memory, FILE *out);
#define BP_PAGE_RED 31
#define BP_PAGE_GREEN 32
/* What follows, where there is colour; 0 ends it. */
void bp_page_colour(const struct bp_page *page, int colour);

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
/* "1.23", "45.6", "24,100": three digits, never an exponent. */
const char *bp_page_ratio(double ratio, char text[32]);
/* "12.3 %" of `whole`; "" if there is no whole. */
const char *bp_page_share(double part, double whole, char text[32]);

/* "1.23 ms" within a sentence, which is wrapped later for the terminal that there is. */
const char *bp_sentence_time(double s, char text[32]);

/* Numbers as arguments of a call. Such a text lives as long as the block that the call is in. */
#define BP_TIME(page, s) bp_page_time(page, s, (char[32]){0})
#define BP_ESTIMATE(page, s, error_s) bp_page_estimate(page, s, error_s, (char[64]){0})
#define BP_BOUND(page, s, error_s) bp_page_bound(page, s, error_s, (char[32]){0})
#define BP_BYTES(bytes) bp_page_bytes(bytes, (char[32]){0})
#define BP_COUNT(count) bp_page_count(count, (char[32]){0})
#define BP_RATIO(ratio) bp_page_ratio(ratio, (char[32]){0})
#define BP_SHARE(part, whole) bp_page_share(part, whole, (char[32]){0})
#define BP_SENTENCE_TIME(s) bp_sentence_time(s, (char[32]){0})

/* Pads to a width in columns; a text that is too long is cut, with an ellipsis at the cut. */
void bp_page_left(const struct bp_page *page, const char *text, int width);
void bp_page_right(const struct bp_page *page, const char *text, int width);
void bp_page_bar(const struct bp_page *page, double part, int width, int colour);
/* A bar at the end of a line: nothing follows it. */
void bp_page_bar_alone(const struct bp_page *page, double part, int width, int colour);

/* One paragraph, broken at spaces; lines after the first are indented by `indent`, the first by the
 * spaces that it begins with. What follows a line break in it is a command, to be pasted: it begins
 * a line of its own, as bp_page_command() prints it. */
void bp_page_wrap(const struct bp_page *page, const char *text, int indent);
void bp_page_say(const struct bp_page *page, int indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Where it is too long for a line it goes on after a backslash, as a shell reads it. `column` is
 * where the line is already. */
void bp_page_command(const struct bp_page *page, const char *command, int column, int indent);
void bp_page_heading(const struct bp_page *page, const char *text);

/* Columns of the character that begins here; 0 within one. Bytes that are no UTF-8 take one each.
 */
int bp_page_columns_at(const char *text);
/* Columns that the text takes. */
int bp_page_columns(const char *text);

#endif
