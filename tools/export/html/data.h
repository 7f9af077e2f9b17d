/* SPDX-License-Identifier: MIT
 *
 * What the page's script needs beside the JSON report, as JSON of its own: the graph, histograms of
 * call durations, what functions took in single tasks, source text, projections. docs/page.md and
 * the scripts in page/ describe it; it is no interface for others.
 */
#ifndef BP_TOOLS_EXPORT_HTML_DATA_H
#define BP_TOOLS_EXPORT_HTML_DATA_H

#include <stdio.h>

#include "tools/model/model.h"

struct bp_html_limits {
    uint32_t nodes;   /* of the graph */
    uint32_t threads; /* with values of their own */
    uint32_t sources; /* lines of source text */
    uint32_t rows;    /* of a table that is readable without scripts */
};

/* Functions that anything refers to have numbers of their own, in the order of their first use. */
struct bp_html_numbers {
    uint32_t *of; /* + 1; 0: not used */
    uint32_t *functions;
    uint32_t count;
};

uint32_t bp_html_number(struct bp_html_numbers *numbers, uint32_t function);

void bp_html_data(const struct bp_model *model, const struct bp_html_limits *limits, FILE *out);

/* data_task.c: "tasks", what each function took in each of them. */
void bp_html_tasks(const struct bp_model *model, struct bp_html_numbers *numbers, FILE *out);

/* data_source.c: "sources", the text around the lines that took most time. */
void bp_html_sources(const struct bp_model *model, uint32_t most, FILE *out);

/* A text as a JSON string. */
void bp_html_string(const char *text, FILE *out);

#endif
