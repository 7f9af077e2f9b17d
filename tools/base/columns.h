/* SPDX-License-Identifier: MIT
 *
 * Tables on a page. A column has its name, its width and how a value of a row is written, in one
 * place. The first column is for the labels of rows, as wide as the title and the indent of a row
 * together.
 */
#ifndef BP_TOOLS_BASE_COLUMNS_H
#define BP_TOOLS_BASE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/base/page.h"

/* The text for a value: borrowed, or in `text`. */
typedef const char *bp_cell(const struct bp_page *page, const void *value, char text[64]);
bp_cell bp_cell_bytes;    /* uint64_t */
bp_cell bp_cell_count;    /* uint64_t */
bp_cell bp_cell_estimate; /* double, and next to it its error; nothing if it is negative */
bp_cell bp_cell_number;   /* uint32_t */
bp_cell bp_cell_share;    /* double, of the page's whole */
bp_cell bp_cell_some;     /* uint64_t; nothing for 0 */
bp_cell bp_cell_text;     /* const char * */
bp_cell bp_cell_time;     /* double; "-" if it is negative: unknown */

struct bp_column {
    const char *name; /* NULL ends the list */
    int width;        /* the text ends where the column does; 0: left out */
    bp_cell *cell;    /* NULL: the caller prints what is below the name */
    size_t offset;    /* of the value in a row */
};
#define BP_COLUMN(name, width, cell, type, member)                                                 \
    { name, width, cell, offsetof(type, member) }
#define BP_HEAD(name, width)                                                                       \
    { name, width, NULL, 0 }
#define BP_LABEL(width) BP_HEAD("", width)
#define BP_LAST_COLUMN BP_HEAD(NULL, 0)

/* What columns of labels have more than they were written for, on this page; less than nothing on a
 * narrow one. Bars have the rest. */
int bp_columns_extra(const struct bp_page *page);

/* After an empty line the title, padded to the column of labels, and the names of the others. */
void bp_columns_title(const struct bp_page *page, const char *title,
                      const struct bp_column *columns);
/* Such a title without the empty line before it. */
void bp_columns_names(const struct bp_page *page, const char *title,
                      const struct bp_column *columns);
/* A line: `mark`, which may be an indent, the label and the cells; on a wide page a bar, if the
 * last of them is a share. On a narrow one a label that is too long has a line of its own. */
void bp_columns_row(const struct bp_page *page, const struct bp_column *columns, const char *mark,
                    const char *label, const void *row);
/* As a row; a label that is too long has a line of its own, since its end tells it from others. */
void bp_columns_whole_row(const struct bp_page *page, const struct bp_column *columns,
                          const char *mark, const char *label, const void *row);
/* As a row, but the line does not end. */
void bp_columns_begin(const struct bp_page *page, const struct bp_column *columns, const char *mark,
                      const char *label, const void *row);
/* "and 12 more: --top 24" below a table of which not all rows are shown. */
void bp_columns_more(const struct bp_page *page, const char *indent, uint32_t count,
                     uint32_t shown);
/* "and 12 more kernels: --by kernel" where other options show them; `where` may be "". */
void bp_columns_more_by(const struct bp_page *page, const char *indent, uint32_t count,
                        uint32_t shown, const char *what, const char *where);

#endif
