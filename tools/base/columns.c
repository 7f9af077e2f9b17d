/* SPDX-License-Identifier: MIT
 *
 * The head, the cells and the end of a table; see columns.h.
 */
#include "tools/base/columns.h"

void bp_columns_names(const struct bp_page *page, const char *title,
                      const struct bp_column *columns) {
    int left = columns->width - bp_page_columns(title);
    bp_page_heading(page, title);
    fprintf(page->out, "%*s", left > 0 ? left : 0, "");
    while ((++columns)->name)
        if (columns->width)
            bp_page_right(page, columns->name, columns->width);
    fputc('\n', page->out);
}

void bp_columns_title(const struct bp_page *page, const char *title,
                      const struct bp_column *columns) {
    fputc('\n', page->out);
    bp_columns_names(page, title, columns);
}

void bp_columns_begin(const struct bp_page *page, const struct bp_column *columns, const char *mark,
                      const char *label, const void *row) {
    char text[64];
    fputs(mark, page->out);
    bp_page_left(page, label, columns->width - bp_page_columns(mark));
    while ((++columns)->name)
        if (columns->width && columns->cell)
            bp_page_right(page, columns->cell(page, (const char *)row + columns->offset, text),
                          columns->width);
}

void bp_columns_row(const struct bp_page *page, const struct bp_column *columns, const char *mark,
                    const char *label, const void *row) {
    bp_columns_begin(page, columns, mark, label, row);
    fputc('\n', page->out);
}

void bp_columns_whole_row(const struct bp_page *page, const struct bp_column *columns,
                          const char *mark, const char *label, const void *row) {
    bool fits = bp_page_columns(mark) + bp_page_columns(label) <= columns->width;
    if (!fits)
        fprintf(page->out, "%s%s\n", mark, label);
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
