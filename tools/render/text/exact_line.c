/* SPDX-License-Identifier: MIT
 *
 * A table for each function whose lines were counted: every line with hits, and the source beside
 * it where the file can be read.
 */
#include <stdlib.h>

#include "tools/render/text/internal.h"

#define MOST_LINES 60 /* of the overview: one more function begins before, none after */
#define DOUBT 0.1     /* part of a line's time that its error must be to be said */
#define LEFT 50       /* columns left of the source text */

struct ranked {
    uint32_t function;
    double total_s;
};

static int by_total(const void *a, const void *b) {
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->total_s != y->total_s)
        return x->total_s > y->total_s ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* The functions that have exact lines: a new array. */
static struct ranked *rank(const struct bp_model *model, uint32_t *count) {
    struct ranked *list = calloc(model->lines.exact_count + 1, sizeof(*list));
    *count = 0;
    for (uint32_t i = 0; list && i < model->lines.exact_count; i++) {
        const struct bp_exact_line *line = &model->lines.exact[i];
        if (i == 0 || line->function != line[-1].function)
            list[(*count)++].function = line->function;
        list[*count - 1].total_s += line->total_s;
    }
    if (list)
        qsort(list, *count, sizeof(*list), by_total);
    return list;
}

static const char *cell_per_hit(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_exact_line *line = value;
    return bp_page_time(page, line->hits ? line->total_s / (double)line->hits : 0, text);
}

static const struct bp_column columns[] = {
    BP_LABEL(8),
    BP_COLUMN("hits", 12, bp_cell_count, struct bp_exact_line, hits),
    BP_COLUMN("time", 10, bp_cell_time, struct bp_exact_line, total_s),
    {"per hit", 10, cell_per_hit, 0},
    BP_COLUMN("share", 8, bp_cell_share, struct bp_exact_line, total_s),
    BP_HEAD("  source", 8),
    BP_LAST_COLUMN,
};

static void print_line(const struct bp_page *page, const struct bp_exact_line *line,
                       const char *source) {
    char number[16];
    snprintf(number, sizeof(number), "%8u", line->line);
    bp_columns_begin(page, columns, number, "", line);
    fputs("  ", page->out);
    if (source && bp_page_columns(source) > page->width - LEFT)
        bp_page_left(page, source, page->width - LEFT);
    else if (source)
        fputs(source, page->out);
    fputc('\n', page->out);
}

/* Lines whose time is known to a tenth at best: short ones, of which counting took most. */
static void say_doubt(const struct bp_page *page, const struct bp_exact_line *lines,
                      uint32_t count) {
    char text[300];
    const struct bp_exact_line *worst = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (lines[i].error_s > DOUBT * lines[i].total_s &&
            (!worst || lines[i].error_s > worst->error_s))
            worst = &lines[i];
    if (!worst)
        return;
    snprintf(text, sizeof(text),
             "  counting took much of the time of short lines, and is subtracted: line %u may be "
             "off by about %s",
             worst->line, BP_TIME(page, worst->error_s));
    bp_page_wrap(page, text, 4);
}

void bp_report_exact_function(const struct bp_page *page, const struct bp_model *model,
                              uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    uint32_t count;
    const struct bp_exact_line *lines = bp_model_exact_lines(model, number, &count);
    struct bp_page table = *page;
    table.whole = 0;
    for (uint32_t i = 0; i < count; i++)
        table.whole += lines[i].total_s;
    fprintf(page->out, "\n%s, %s:%u\n", function->full_name, function->file, function->line);
    bp_columns_title(page, "  line", columns);
    for (uint32_t i = 0; i < count; i++)
        print_line(&table, &lines[i], bp_model_exact_source(model, &lines[i]));
    say_doubt(page, lines, count);
}

void bp_report_exact_lines(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count;
    uint32_t printed = 0;
    uint32_t i = 0;
    struct ranked *list = rank(model, &count);
    for (; i < count && printed < MOST_LINES; i++) {
        uint32_t lines;
        bp_model_exact_lines(model, list[i].function, &lines);
        bp_report_exact_function(page, model, list[i].function);
        printed += lines;
    }
    if (i < count)
        bp_page_say(page, 4, "  and the lines of %u more function%s: --lines %s", count - i,
                    count - i == 1 ? "" : "s", model->functions[list[i].function].full_name);
    free(list);
}
