/* SPDX-License-Identifier: MIT
 *
 * A report as one page: one file, nothing fetched, every table readable without scripts. The page
 * holds the JSON report that it shows, and that can be read back.
 */
#ifndef BP_TOOLS_EXPORT_HTML_HTML_H
#define BP_TOOLS_EXPORT_HTML_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tools/base/error.h"
#include "tools/model/model.h"

/* Borrowed. Reports are rendered elsewhere: an export knows none of their options. */
struct bp_html_input {
    const struct bp_model *model;
    json_t *report;   /* of `report --json` */
    const char *text; /* of `report` */
    json_t *diff;     /* of `diff --json OLD RUN`; NULL without OLD */
    bool small;       /* at most BP_HTML_SMALL bytes: the largest of everything */
};

/* Bytes of a page within a notebook, which keeps a copy of it for every run of a cell. */
#define BP_HTML_SMALL 200000

/* 0, or -1. */
int bp_export_html(const struct bp_html_input *input, FILE *out);

/* Whether the file is a page. */
bool bp_html_is_page(const char *path);
/* The JSON report in a page: a new text; NULL with the error set. */
char *bp_html_read(const char *path, struct bp_error *error);

#endif
