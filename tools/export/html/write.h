/* SPDX-License-Identifier: MIT
 *
 * What the files of the page share: text that cannot become markup, and values as people read them.
 */
#ifndef BP_TOOLS_EXPORT_HTML_WRITE_H
#define BP_TOOLS_EXPORT_HTML_WRITE_H

#include <stdio.h>

#include <jansson.h>

#include "tools/export/html/data.h"

/* Text from a profile. Markup is escaped; what a reader would not see, or what would turn the line
 * around (control characters, bidirectional overrides), is named; long texts are cut. */
void bp_html_text(const char *text, FILE *out);
/* Never cut: our own sentences, with names in them. */
void bp_html_sentence(const char *text, FILE *out);

/* How a value of the JSON is written. */
enum bp_html_unit {
    BP_HTML_NAME, /* of a function: the script makes it a link */
    BP_HTML_WORD,
    BP_HTML_TIME, /* seconds */
    BP_HTML_COUNT,
    BP_HTML_BYTES,
    BP_HTML_PERCENT,
    BP_HTML_RATE,   /* GB/s, and other plain numbers */
    BP_HTML_CHANGE, /* seconds with their sign */
    BP_HTML_FACTOR, /* of an old value */
    BP_HTML_UNITS
};

void bp_html_value(const json_t *value, enum bp_html_unit unit, FILE *out);
/* "tasks.list" in an object; NULL if it is not there. Borrowed. */
json_t *bp_html_find(json_t *root, const char *path);

/* derive.c: the report, or the comparison, with the lists that tables are made of beside it. New.
 */
json_t *bp_html_derive(json_t *report);
json_t *bp_html_derive_diff(json_t *diff);

/* summary.c */
void bp_html_summary(json_t *report, FILE *out);
void bp_html_advice(json_t *report, FILE *out);
void bp_html_notes(json_t *report, FILE *out);
void bp_html_diff(json_t *diff, FILE *out);

/* table.c: the sections of a view with the tables that have rows. */
void bp_html_tables(json_t *report, json_t *diff, const struct bp_html_limits *limits, FILE *out);

#endif
