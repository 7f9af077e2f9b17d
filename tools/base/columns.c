/* SPDX-License-Identifier: MIT
 *
 * The head, the cells and the end of a table; see columns.h.
 */
#include "tools/base/columns.h"

#include <stdlib.h>
#include <string.h>

/* Tenths of the width beyond the usual one that names get; they are not cut then. */
#define NAMES_PART 6
#define NAMES_MOST 48
#define BAR_MOST 40
#define BAR_LEAST 8
#define BAR_GAP 2
#define BAR_COLOUR 34
/* A column is made no narrower than this, nor than its name; that of labels last of all. */
#define CELL_LEAST 9
#define LABEL_LEAST 16
#define MOST_COLUMNS 16

static int least(int a, int b) {
    return a < b ? a : b;
}

int bp_columns_extra(const struct bp_page *page) {
    int extra = page->width - BP_PAGE_WIDTH;
    return extra <= 2 * BAR_LEAST ? extra : least(extra * NAMES_PART / 10, NAMES_MOST);
}

static int bar_width(const struct bp_page *page) {
    int left = page->width - BP_PAGE_WIDTH - bp_columns_extra(page) - BAR_GAP;
    return left < BAR_LEAST ? 0 : least(left, BAR_MOST);
}

/* One column less of the first that can spare it; false if none can. */
static bool narrow(const struct bp_column *columns, int *widths) {
    for (int i = 1; columns[i].name; i++)
        if (widths[i] > CELL_LEAST && widths[i] > bp_page_columns(columns[i].name) + 1) {
            widths[i]--;
            return true;
        }
    return false;
}

/* The widths on this page. */
static void fit(const struct bp_page *page, const struct bp_column *columns, int *widths) {
    int extra = bp_columns_extra(page);
    int least_label = least(LABEL_LEAST, columns->width);
    for (int i = 0; columns[i].name; i++)
        widths[i] = columns[i].width;
    widths[0] += extra;
    for (int i = 1; columns[i].name && extra > 0; i++)
        if (columns[i].cell == bp_cell_text) { /* names, too */
            widths[0] -= extra / 2;
            widths[i] += extra / 2;
            extra = 0;
        }
    while (widths[0] < least_label && narrow(columns, widths))
        widths[0]++;
    if (widths[0] < 2)
        widths[0] = 2;
}

void bp_columns_names(const struct bp_page *page, const char *title,
                      const struct bp_column *columns) {
    int widths[MOST_COLUMNS];
    fit(page, columns, widths);
    int left = widths[0] - bp_page_columns(title);
    bp_page_heading(page, title);
    fprintf(page->out, "%*s", left > 0 ? left : 0, "");
    for (int i = 1; columns[i].name; i++)
        if (widths[i])
            bp_page_right(page, columns[i].name, widths[i] + (i == 1 && left < 0 ? left : 0));
    fputc('\n', page->out);
}

void bp_columns_title(const struct bp_page *page, const char *title,
                      const struct bp_column *columns) {
    fputc('\n', page->out);
    bp_columns_names(page, title, columns);
}

/* The share that the last cell tells, 0 to 1; negative if it tells none. */
static double print_cells(const struct bp_page *page, const struct bp_column *columns,
                          const int *widths, const void *row) {
    double share = -1;
    for (int i = 1; columns[i].name; i++) {
        char text[64];
        if (!widths[i] || !columns[i].cell)
            continue;
        const char *cell = columns[i].cell(page, (const char *)row + columns[i].offset, text);
        bp_page_right(page, cell, widths[i]);
        share = strchr(cell, '%') ? atof(cell) / 100 : -1;
    }
    return share;
}

/* On a line of its own, of which the end says most where it is too long even for that. */
static void print_alone(const struct bp_page *page, const char *mark, const char *label) {
    const char *cut = page->utf8 ? "…" : "..";
    int room = page->width - bp_page_columns(mark);
    if (bp_page_columns(label) <= room)
        cut = "";
    for (room -= bp_page_columns(cut); *label && bp_page_columns(label) > room;)
        do
            label++;
        while ((*label & 0xc0) == 0x80); /* within a character */
    fprintf(page->out, "%s%s%s\n", mark, cut, label);
}

static double begin_row(const struct bp_page *page, const struct bp_column *columns,
                        const char *mark, const char *label, const void *row) {
    int widths[MOST_COLUMNS];
    fit(page, columns, widths);
    bool fits = bp_page_columns(mark) + bp_page_columns(label) <= widths[0];
    if (!fits && page->width < BP_PAGE_WIDTH) {
        print_alone(page, mark, label);
        mark = label = "";
    }
    fputs(mark, page->out);
    bp_page_left(page, label, widths[0] - bp_page_columns(mark));
    return print_cells(page, columns, widths, row);
}

void bp_columns_begin(const struct bp_page *page, const struct bp_column *columns, const char *mark,
                      const char *label, const void *row) {
    begin_row(page, columns, mark, label, row);
}

void bp_columns_row(const struct bp_page *page, const struct bp_column *columns, const char *mark,
                    const char *label, const void *row) {
    double share = begin_row(page, columns, mark, label, row);
    int width = bar_width(page);
    if (share * width >= (page->utf8 ? 1.0 / 16 : 0.5)) {
        fprintf(page->out, "%*s", BAR_GAP, "");
        bp_page_bar_alone(page, share, width, BAR_COLOUR);
    }
    fputc('\n', page->out);
}

void bp_columns_whole_row(const struct bp_page *page, const struct bp_column *columns,
                          const char *mark, const char *label, const void *row) {
    int widths[MOST_COLUMNS];
    fit(page, columns, widths);
    bool fits = bp_page_columns(mark) + bp_page_columns(label) <= widths[0];
    if (!fits)
        print_alone(page, mark, label);
    bp_columns_row(page, columns, fits ? mark : "", fits ? label : "", row);
}

void bp_columns_more_by(const struct bp_page *page, const char *indent, uint32_t count,
                        uint32_t shown, const char *what, const char *where) {
    if (count > shown)
        fprintf(page->out, "%sand %u more%s%s%s\n", indent, count - shown, what,
                where[0] ? ": " : "", where);
}

void bp_columns_more(const struct bp_page *page, const char *indent, uint32_t count,
                     uint32_t shown) {
    char option[24];
    snprintf(option, sizeof(option), "--top %u", count);
    bp_columns_more_by(page, indent, count, shown, "", option);
}

const char *bp_cell_bytes(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    return bp_page_bytes((double)*(const uint64_t *)value, text);
}

const char *bp_cell_count(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    return bp_page_count(*(const uint64_t *)value, text);
}

const char *bp_cell_estimate(const struct bp_page *page, const void *value, char text[64]) {
    const double *s = value;
    return s[0] < 0 ? "" : bp_page_estimate(page, s[0], s[1], text);
}

const char *bp_cell_number(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    return bp_page_count(*(const uint32_t *)value, text);
}

const char *bp_cell_share(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_share(*(const double *)value, page->whole, text);
}

const char *bp_cell_some(const struct bp_page *page, const void *value, char text[64]) {
    return *(const uint64_t *)value ? bp_cell_count(page, value, text) : "";
}

const char *bp_cell_text(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    (void)text;
    return *(const char *const *)value;
}

const char *bp_cell_time(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_time(page, *(const double *)value, text);
}
