/* SPDX-License-Identifier: MIT
 *
 * Sentences of a comparison: factors as people say them, the interval with where it is from, and
 * what makes the two sides hard to compare.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/page.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"

/* Up to this factor per cent are easier to read. */
#define PER_CENT 1.5
/* From here on the factor says less than the seconds do. */
#define LARGEST 100
/* As a logarithm: less rounds to nothing. */
#define NOTHING 0.0005

const char *bp_diff_factor(double factor, bool utf8, char text[64]) {
    const char *times = utf8 ? "×" : "x";
    bool slower = factor > 1;
    double ratio = slower ? factor : 1 / factor;
    const char *as = slower ? "as long" : "as fast";
    if (!(fabs(log(factor)) >= NOTHING))
        snprintf(text, 64, "0 %% slower");
    else if (ratio > LARGEST)
        snprintf(text, 64, "more than %d %s %s", LARGEST, times, as);
    else if (ratio >= PER_CENT)
        snprintf(text, 64, "%.*f %s %s", ratio < 9.995 ? 2 : 1, ratio, times, as);
    else
        snprintf(text, 64, "%.*f %% %s", fabs(factor - 1) < 0.0995 ? 1 : 0, 100 * fabs(factor - 1),
                 slower ? "slower" : "faster");
    return text;
}

/* "3 to 17 % faster", "5 % faster to 9 % slower": the end that is nearer to no change first; words
 * that both share once. */
static const char *interval_words(const struct bp_diff *diff, bool utf8, char text[160]) {
    const struct bp_diff_wall *wall = &diff->wall;
    bool faster = wall->high < 1;
    char first[64];
    char second[64];
    bp_diff_factor(faster ? wall->high : wall->low, utf8, first);
    bp_diff_factor(faster ? wall->low : wall->high, utf8, second);
    char *word = first + strcspn(first, " ");
    const char *other = second + strcspn(second, " ");
    if (strcmp(word, other) == 0)
        *word = 0;
    snprintf(text, 160, "%s to %s", first, second);
    return text;
}

/* Per cent of a side's mean. */
static double deviation(const struct bp_diff_run *runs, uint32_t count) {
    double mean_s = 0;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        mean_s += runs[i].model->wall.total_s / count;
    for (uint32_t i = 0; i < count; i++)
        sum += pow(runs[i].model->wall.total_s / mean_s - 1, 2);
    return count > 1 && mean_s > 0 ? 100 * sqrt(sum / (count - 1)) : 0;
}

char *bp_diff_describe_interval(const struct bp_diff *diff, bool utf8) {
    const char *sign = utf8 ? "±" : "+-";
    uint32_t old_count = diff->old_side.count;
    uint32_t new_count = diff->new_side.count;
    char interval[160];
    struct bp_text text = {0};
    bp_text_add(&text, "95 %% interval: %s (", interval_words(diff, utf8, interval));
    if (diff->run_count > 2)
        bp_text_add(&text, "%u + %u runs, which vary by %s%.1f %% and %s%.1f %%).", old_count,
                    new_count, sign, deviation(diff->runs, old_count), sign,
                    deviation(diff->runs + old_count, new_count));
    else if (diff->speed_known)
        bp_text_add(&text, "two single runs; %u functions show the machine's speed).", diff->alike);
    else
        bp_text_add(&text, "two single runs; too %s the machine's speed).",
                    diff->alike < BP_DIFF_WITNESSES ? "few functions show"
                                                    : "much changed to show");
    return bp_text_take(&text);
}

static char *other_commands(const struct bp_diff *diff) {
    const char *a = diff->runs[0].model->run.command;
    const char *b = diff->runs[diff->old_side.count].model->run.command;
    size_t a_length = strcspn(a, " ");
    size_t b_length = strcspn(b, " ");
    if (strcmp(a, b) == 0)
        return NULL;
    bool same = a_length == b_length && strncmp(a, b, a_length) == 0;
    return bp_make_text(
        "%s", same ? "OLD and NEW had different arguments: some of the change may be theirs."
                   : "OLD and NEW are different programs.");
}

static char *wrong_order(const struct bp_diff *diff) {
    if (diff->old_side.began_ns <= diff->new_side.began_ns)
        return NULL;
    return bp_make_text("OLD is the later run: it began after NEW. Are they swapped?");
}

static char *other_tasks(const struct bp_diff *diff) {
    const struct bp_model *a = diff->runs[0].model;
    const struct bp_model *b = diff->runs[diff->old_side.count].model;
    if (a->tasks.summary.ended == b->tasks.summary.ended)
        return NULL;
    return bp_make_text("OLD has %u tasks, NEW has %u: they did different work.",
                        a->tasks.summary.ended, b->tasks.summary.ended);
}

static void describe_end(const struct bp_model *model, char text[48]) {
    if (model->run.signal)
        snprintf(text, 48, "was killed by signal %d", model->run.signal);
    else if (model->run.exit_status < 0)
        snprintf(text, 48, "has an unknown exit status");
    else
        snprintf(text, 48, "exited with status %d", model->run.exit_status);
}

static char *other_ends(const struct bp_diff *diff) {
    const struct bp_model *a = diff->runs[0].model;
    const struct bp_model *b = diff->runs[diff->old_side.count].model;
    char ends[2][48];
    describe_end(a, ends[0]);
    describe_end(b, ends[1]);
    if (strcmp(ends[0], ends[1]) == 0)
        return NULL;
    return bp_make_text("OLD %s, NEW %s: they may have done different work.", ends[0], ends[1]);
}

char *bp_diff_describe_sides(const struct bp_diff *diff, int *next) {
    static char *(*const oddities[])(const struct bp_diff *) = {
        wrong_order, other_commands,         other_tasks,
        other_ends,  bp_diff_describe_modes, bp_diff_describe_choices};
    char *text = NULL;
    while (!text && *next < (int)(sizeof(oddities) / sizeof(oddities[0])))
        text = oddities[(*next)++](diff);
    return text;
}

bool bp_diff_is_headline(const struct bp_diff *diff, const struct bp_diff_row *row) {
    bool split = true;
    for (uint32_t i = 0; i < diff->run_count && !diff->chosen; i++)
        split &= diff->runs[i].model->split.leads;
    return row->kind == (split ? BP_DIFF_SPLIT : BP_DIFF_CATEGORY);
}

const char *bp_diff_headline_name(const struct bp_diff_row *row) {
    for (int i = 0; i < BP_SPLIT_ROWS && row->kind == BP_DIFF_SPLIT; i++)
        if (strcmp(row->name, bp_split_key((enum bp_split_row)i)) == 0)
            return bp_split_name((enum bp_split_row)i);
    return strcmp(row->name, "dsl") == 0 ? "DSL" : row->name;
}
