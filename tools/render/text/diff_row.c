/* SPDX-License-Identifier: MIT
 *
 * The tables of what differs: seconds as measured, and below a row its number of calls where that
 * differs. Groups stand apart, since their functions are named already.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/columns.h"
#include "tools/base/text.h"

/* Share of the wall below which changed calls are counted, not listed. */
#define QUIET_PART 0.001
/* Share of a call's time by which it must change not to be as long as before. */
#define AS_LONG 0.1
/* Share of a change by which the wall's must differ to have a column. */
#define OTHER_WALL 0.05
/* Columns: of a change and its factor, of names at most; below the width all are narrower. */
#define CHANGE 27
#define LONGEST_NAME 60
#define NARROW 72

/* A new text. */
static char *name_of(const struct bp_diff_row *row) {
    return bp_make_text("%s%s",
                        row->kind == BP_DIFF_TRANSFER ? "copies "
                        : row->kind != BP_DIFF_KERNEL ? ""
                        : row->category == BP_DSL     ? "DSL kernel "
                                                      : "kernel ",
                        bp_diff_name(row));
}

/* The first call of CUDA's makes the context: where the number differs, a mean says nothing. */
static bool has_first(const struct bp_diff_row *row) {
    return row->count_differs && row->function && row->function->cuda;
}

static bool is_about(double a, double b) {
    return fabs(a - b) <= AS_LONG * fmax(a, b);
}

/* Copies of another size: what each of them takes says nothing of their speed. */
static bool is_resized(const struct bp_diff_row *row) {
    return row->old_count > 0 && row->new_count > 0 &&
           !is_about(row->old_bytes / row->old_count, row->new_bytes / row->new_count);
}

/* "new", "gone", "18.5 × as fast", "-3.2 %". */
static void describe(const struct bp_page *page, const struct bp_diff_row *row, char text[64]) {
    static const char much[] = "more than ";
    char factor[64];
    bool sampled = row->kind == BP_DIFF_SAMPLED; /* it may have been too little for a sample */
    strcpy(text, sampled ? "" : !row->in_old ? "new" : !row->in_new ? "gone" : "");
    if (text[0] || !(row->old_s > 0) || !(row->new_s > 0))
        return;
    bp_diff_factor(row->new_s / row->old_s, page->utf8, factor);
    if (strchr(factor, '%'))
        snprintf(text, 64, "%+.1f %%", 100 * row->change_s / row->old_s);
    else if (strncmp(factor, much, strlen(much)) == 0)
        snprintf(text, 64, "> %.60s", factor + strlen(much));
    else
        strcpy(text, factor);
}

/* Threads share the wall, and a kernel may be waited for or not. */
static bool has_other_wall(const struct bp_diff_row *row) {
    return fabs(row->wall_change_s - row->change_s) > OTHER_WALL * fabs(row->change_s);
}

static int time_width(const struct bp_page *page) {
    return page->width < NARROW ? 9 : 10;
}

static int name_width(const struct bp_page *page) {
    int left = page->width - 2 - 2 * time_width(page) - CHANGE;
    return left < LONGEST_NAME ? left : LONGEST_NAME;
}

static void print_values(const struct bp_page *page, const struct bp_column *columns,
                         const struct bp_diff_row *row) {
    char *name = name_of(row);
    char how[64];
    describe(page, row, how);
    bp_columns_begin(page, columns, "  ", name, row);
    free(name);
    bp_diff_text_change(page, row->change_s, how);
    fputc('\n', page->out);
}

static double longest_first(const struct bp_diff_row *row, uint32_t first, uint32_t count) {
    double s = 0;
    for (uint32_t i = first; i < first + count; i++)
        s = fmax(s, row->values[i].first_s);
    return s;
}

/* What each of them takes. */
static void describe_each(const struct bp_page *page, const struct bp_diff *diff,
                          const struct bp_diff_row *row, struct bp_text *text) {
    double old_s = row->old_s / row->old_count;
    double new_s = row->new_s / row->new_count;
    if (is_resized(row)) {
        bp_text_add(text, "; together %s, before %s", BP_BYTES(row->new_bytes),
                    BP_BYTES(row->old_bytes));
    } else if (has_first(row)) {
        uint32_t count = diff->old_side.count;
        bp_text_add(text, "; the first %s, before %s",
                    BP_TIME(page, longest_first(row, count, diff->new_side.count)),
                    BP_TIME(page, longest_first(row, 0, count)));
    } else if (!row->time_differs && is_about(old_s, new_s)) {
        bp_text_add(text, "; each takes as long as before");
    } else {
        bp_text_add(text, "; each %s, before %s%s", BP_TIME(page, new_s), BP_TIME(page, old_s),
                    row->time_differs ? "" : ", maybe by chance");
    }
}

static void print_count(const struct bp_page *page, const struct bp_diff *diff,
                        const struct bp_diff_row *row) {
    struct bp_text each = {0};
    static const char *const one[] = {"call", "copy", "launch"};
    static const char *const many[] = {"calls", "copies", "launches"};
    int what = row->kind == BP_DIFF_TRANSFER ? 1 : row->kind == BP_DIFF_KERNEL ? 2 : 0;
    if (row->old_count > 0 && row->new_count > 0)
        describe_each(page, diff, row, &each);
    bp_page_say(page, 4, "    %s %s, before %s%s", BP_COUNT((uint64_t)row->new_count),
                row->new_count == 1 ? one[what] : many[what], BP_COUNT((uint64_t)row->old_count),
                bp_text_get(&each));
    bp_text_fini(&each);
}

static void print_row(const struct bp_page *page, const struct bp_column *columns,
                      const struct bp_diff *diff, const struct bp_diff_row *row) {
    print_values(page, columns, row);
    if (row->count_differs || is_resized(row))
        print_count(page, diff, row);
    if (bp_diff_is_cause(row) && row->time_differs && has_other_wall(row))
        fprintf(page->out, "    of the wall %s%s\n", row->wall_change_s < 0 ? "-" : "+",
                BP_TIME(page, fabs(row->wall_change_s)));
}

static const char *cell_old(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_diff_row *row = value;
    return row->in_old ? bp_page_time(page, row->old_s, text) : "-";
}

static const char *cell_new(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_diff_row *row = value;
    return row->in_new ? bp_page_time(page, row->new_s, text) : "-";
}

static bool is_wanted(const struct bp_diff_row *row, enum bp_diff_kind kind) {
    bool cause = kind == BP_DIFF_KINDS && bp_diff_is_cause(row);
    return (cause || row->kind == kind) && bp_diff_differs(row);
}

void bp_diff_text_rows(const struct bp_page *page, const struct bp_diff *diff,
                       enum bp_diff_kind kind, const char *title, unsigned top) {
    uint32_t shown = 0;
    uint32_t quiet = 0;
    const struct bp_column columns[] = {
        BP_LABEL(2 + name_width(page) - bp_columns_extra(page)),
        {"OLD", time_width(page), cell_old, 0},
        {"NEW", time_width(page), cell_new, 0},
        BP_HEAD("change", 10),
        BP_LAST_COLUMN,
    };
    double least_s = QUIET_PART * fmin(diff->wall.old_s, diff->wall.new_s);
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        if (!is_wanted(row, kind))
            continue;
        if (!row->time_differs && fabs(row->wall_change_s) < least_s) {
            quiet++;
            continue;
        }
        if (shown == 0)
            bp_columns_title(page, title, columns);
        if (shown++ < top)
            print_row(page, columns, diff, row);
    }
    bp_columns_more(page, "  ", shown, top);
    if (quiet)
        fprintf(page->out, "%s  %u more %s number of calls, not in time: --json\n",
                shown ? "" : "\n", quiet, quiet == 1 ? "differs in its" : "differ in their");
}

void bp_diff_text_causes(const struct bp_page *page, const struct bp_diff *diff, unsigned top) {
    bp_diff_text_rows(page, diff, BP_DIFF_KINDS, "Differences", top);
}
