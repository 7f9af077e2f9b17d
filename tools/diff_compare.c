/* SPDX-License-Identifier: MIT
 *
 * Which changes are more than chance. A shared machine is slower by up to half while neighbours
 * work, for all functions alike: that factor is found first, as the median over the functions, and
 * taken out. What is left scatters; how much it does over all functions says how far a single
 * one may stray. To that come what a run shows itself — time slices lost, own cost subtracted —
 * and a floor. With repeated runs their own spread takes the place of the scatter.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/diff.h"
#include "tools/memory.h"
#include "tools/statistics.h"

/* A function counts for the speed of the machine from this part of the wall on. */
#define SPEED_PART 0.002
/* Neighbours cost up to half; more is the program, whatever it is that all functions share. */
#define MOST_SLOWNESS 1.7
/* Fewer functions are no witness of the machine. */
#define LEAST_WITNESSES 5
/* Scatter or spread is multiplied by this: with 100 functions chance must not exceed it. */
#define SIGMAS 4
/* A neighbour on the same core slows functions by kind: one that waits for its own results not at
 * all, one that keeps all units busy by a quarter. A fifth of the functions off by as much is a
 * neighbour; this factor covers those that are off more. */
#define KINDS_QUANTILE 0.8
#define KINDS_FACTOR 2
/* Relative floors: what two single runs differ by on an idle machine (caches, page colours, heap
 * layout); with repeated runs those are in the spread. */
#define FLOOR_SINGLE 0.15
#define FLOOR_REPEATED 0.02
/* Without witnesses nothing is known about neighbours, which cost up to half. */
#define FLOOR_UNKNOWN 0.30
/* Absolute floors: of the wall, and in seconds. */
#define FLOOR_PART 0.003
#define FLOOR_S 0.0005
/* A change of the number of calls up to this factor may be less than chance makes of their time. */
#define FEW_MORE 2
/* The calibrated own cost of calls is off by as much when caches are cold. */
#define COST_DOUBT 0.25

static bool is_witness(const struct bp_diff *diff, const struct bp_diff_row *row, uint32_t run) {
    const struct bp_diff_value *here = &row->values[run];
    const struct bp_diff_value *first = &row->values[0];
    double least_s = SPEED_PART * diff->runs[0].model->wall_s;
    return row->kind == BP_DIFF_FUNCTION && row->function->kind == BP_FUNC_CALL &&
           !row->function->cuda && here->count > 0 && first->count > 0 &&
           first->likely_s > least_s && here->doubt_s < here->likely_s / 2 &&
           first->doubt_s < first->likely_s / 2;
}

/* Per call, so that more work is not a slower machine. */
static double log_ratio(const struct bp_diff_row *row, uint32_t run) {
    const struct bp_diff_value *here = &row->values[run];
    const struct bp_diff_value *first = &row->values[0];
    return log(here->likely_s / (double)here->count / (first->likely_s / (double)first->count));
}

/* Of sorted values around their median. */
static double quantile_of_distances(double *sorted, uint32_t count) {
    double middle = bp_quantile(sorted, count, 0.5);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - middle);
    bp_sort_values(sorted, count);
    return bp_quantile(sorted, count, KINDS_QUANTILE);
}

static void keep_larger(double *to, double value) {
    if (value > *to)
        *to = value;
}

/* Returns how many functions were asked. */
static uint32_t find_slowness(struct bp_diff *diff, uint32_t run) {
    double *logs = bp_alloc(diff->row_count, sizeof(*logs));
    uint32_t count = 0;
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (is_witness(diff, &diff->rows[i], run))
            logs[count++] = log_ratio(&diff->rows[i], run);
    bp_sort_values(logs, count);
    double middle = bp_quantile(logs, count, 0.5);
    /* The standard deviation, if it were normal. */
    keep_larger(&diff->scatter, 1.4826 * bp_median_distance(logs, count));
    keep_larger(&diff->kinds, quantile_of_distances(logs, count));
    free(logs);
    if (count < LEAST_WITNESSES)
        return 0;
    diff->runs[run].slowness = exp(middle);
    return count;
}

static void forget_speeds(struct bp_diff *diff) {
    diff->slowness = 1;
    for (uint32_t i = 0; i < diff->run_count; i++)
        diff->runs[i].slowness = 1;
}

/* Where one run has too few witnesses no speed is known: to scale the others alone would make a
 * difference of its own. */
static void find_speeds(struct bp_diff *diff, bool same_speed) {
    double old_sum = 0;
    double new_sum = 0;
    uint32_t old_count = diff->old_side.count;
    for (uint32_t i = 1; i < diff->run_count; i++) {
        uint32_t alike = find_slowness(diff, i);
        if (i == 1 || alike < diff->alike)
            diff->alike = alike;
    }
    if (same_speed || !diff->alike) {
        forget_speeds(diff);
        return;
    }
    for (uint32_t i = 0; i < diff->run_count; i++)
        *(i < old_count ? &old_sum : &new_sum) += log(diff->runs[i].slowness);
    diff->slowness = exp(new_sum / diff->new_side.count - old_sum / old_count);
    if (diff->slowness < MOST_SLOWNESS && diff->slowness > 1 / MOST_SLOWNESS)
        return;
    diff->changed = diff->slowness;
    forget_speeds(diff);
}

/* Of a time in one run, what it would have been at the speed of the first. */
static double at_speed(const struct bp_diff *diff, const struct bp_diff_row *row, uint32_t run,
                       double s) {
    double fixed_s = fmin(row->values[run].fixed_s, s);
    return fixed_s + (s - fixed_s) / diff->runs[run].slowness;
}

/* The runs of one side. */
struct side {
    double mean_s; /* what is likely, at the speed of the first run */
    double even_s; /* what was measured, at that speed */
    double raw_s;  /* the next two as measured */
    double wall_s;
    double fixed_s;
    double variance; /* of a single run; 0 from one run */
    double noise_s;
    double cost_s;
    double count;
    double bytes;
    bool same_count;
};

static struct side sum_side(const struct bp_diff *diff, const struct bp_diff_row *row,
                            uint32_t first, uint32_t count) {
    struct side side = {.same_count = true};
    for (uint32_t i = first; i < first + count; i++) {
        const struct bp_diff_value *value = &row->values[i];
        side.mean_s += at_speed(diff, row, i, value->likely_s) / count;
        side.even_s += at_speed(diff, row, i, value->s) / count;
        side.raw_s += value->s / count;
        side.wall_s += value->wall_s / count;
        side.fixed_s += value->fixed_s / count;
        side.noise_s += value->doubt_s / diff->runs[i].slowness / count;
        side.cost_s += value->cost_s / diff->runs[i].slowness / count;
        side.count += (double)value->count / count;
        side.bytes += (double)value->bytes / count;
        side.same_count &= value->count == row->values[first].count;
    }
    for (uint32_t i = first; count > 1 && i < first + count; i++) {
        double off_s = at_speed(diff, row, i, row->values[i].likely_s) - side.mean_s;
        side.variance += off_s * off_s / (count - 1);
    }
    return side;
}

/* The standard deviation of one run that the repeated ones show. */
static double pooled(const struct bp_diff *diff, const struct side *old_side,
                     const struct side *new_side) {
    double free_old = diff->old_side.count - 1;
    double free_new = diff->new_side.count - 1;
    double sum = old_side->variance * free_old + new_side->variance * free_new;
    return sqrt(sum / (free_old + free_new));
}

static double floor_s(const struct bp_diff *diff) {
    double part_s = FLOOR_PART * diff->runs[0].model->wall_s;
    return part_s > FLOOR_S ? part_s : FLOOR_S;
}

double bp_diff_relative_spread(const struct bp_diff *diff) {
    double spread = diff->alike ? FLOOR_SINGLE : FLOOR_UNKNOWN;
    keep_larger(&spread, SIGMAS * diff->scatter);
    keep_larger(&spread, KINDS_FACTOR * diff->kinds);
    if (diff->changed > 0)
        keep_larger(&spread, KINDS_FACTOR * fabs(log(diff->changed)));
    return spread;
}

/* The difference is compared with a part of the mean of both times. */
double bp_diff_chance_slower(double spread) {
    return spread < 2 ? (2 + spread) / (2 - spread) - 1 : INFINITY;
}

double bp_diff_chance_faster(double spread) {
    return spread < 2 ? 1 - (2 - spread) / (2 + spread) : 1;
}

static double spread_of(const struct bp_diff *diff, const struct bp_diff_row *row,
                        const struct side *old_side, const struct side *new_side, double scale) {
    double s = (old_side->mean_s * scale + new_side->mean_s) / 2;
    double doubt_s = COST_DOUBT * (old_side->cost_s * scale + new_side->cost_s) / 2 +
                     fabs(new_side->cost_s - old_side->cost_s * scale);
    bool on_device = bp_diff_on_device(row);
    if (!on_device) /* some of what CUDA takes is the CPU's all the same */
        doubt_s += new_side->fixed_s * fabs(1 / diff->slowness - 1);
    if (diff->run_count > 2) {
        double runs = 1.0 / diff->old_side.count + 1.0 / diff->new_side.count;
        double single_s = pooled(diff, old_side, new_side);
        if (single_s < diff->scatter * s / 2) /* three runs may agree by accident */
            single_s = diff->scatter * s / 2;
        return SIGMAS * single_s * sqrt(runs) + FLOOR_REPEATED * s + doubt_s + floor_s(diff);
    }
    double relative = on_device ? BP_DIFF_DEVICE_SPREAD : bp_diff_relative_spread(diff);
    return relative * s + old_side->noise_s * scale + new_side->noise_s + doubt_s + floor_s(diff);
}

/* More or less of the same: calls that take as long as the side with more of them says. */
static double explained_s(const struct bp_diff_row *row, double scale) {
    return scale > 1 ? row->even_s * (1 - 1 / scale) : row->old_s * (scale - 1);
}

/* NEW as if the machine had been as fast as it was for OLD: what OLD's runs were off the first
 * one's speed is in its mean, and has to be in NEW's, too. */
static double even_new(const struct bp_diff *diff, const struct side *old_side,
                       const struct side *new_side) {
    double slowness = 0;
    if (old_side->even_s > 0)
        return new_side->even_s * (old_side->raw_s / old_side->even_s); /* exact where it is 1 */
    for (uint32_t i = 0; i < diff->old_side.count; i++)
        slowness += diff->runs[i].slowness / diff->old_side.count;
    return new_side->fixed_s + (new_side->even_s - new_side->fixed_s) * slowness;
}

/* What is likely decides whether a row differs; by how much is what was measured. The wall changes
 * by as much as the row does, so far as the row is part of it: the rows that are shown add up to
 * what is said of the wall. Of a few calls more or less it is what they explain, since all else is
 * chance. What is waited for a kernel need not follow the time that it takes. */
static void set_change(struct bp_diff_row *row, const struct side *old_side,
                       const struct side *new_side, double scale) {
    double s = old_side->raw_s + new_side->raw_s;
    double wall_s = old_side->wall_s + new_side->wall_s;
    double explained = explained_s(row, scale);
    bool few = row->count_differs && !row->time_differs && row->in_old && row->in_new &&
               scale < FEW_MORE && scale * FEW_MORE > 1 && fabs(explained) <= row->spread_s;
    row->change_s = row->even_s - row->old_s;
    if (!bp_diff_differs(row) || row->other)
        row->wall_change_s = 0;
    else if (row->kind == BP_DIFF_KERNEL)
        row->wall_change_s = new_side->wall_s - old_side->wall_s;
    else
        row->wall_change_s = s > 0 ? (few ? explained : row->change_s) * wall_s / s : 0;
}

/* Counts that vary within a side say nothing. Calls are exact: more of them need no more time than
 * their number explains. */
static void judge(const struct bp_diff *diff, struct bp_diff_row *row) {
    struct side old_side = sum_side(diff, row, 0, diff->old_side.count);
    struct side new_side = sum_side(diff, row, diff->old_side.count, diff->new_side.count);
    bool both = old_side.count > 0 && new_side.count > 0;
    double scale = both ? new_side.count / old_side.count : 1;
    double per_call_s = new_side.mean_s - old_side.mean_s * scale;
    row->old_s = old_side.raw_s;
    row->new_s = new_side.raw_s;
    row->even_s = even_new(diff, &old_side, &new_side);
    row->old_count = old_side.count;
    row->new_count = new_side.count;
    row->old_bytes = old_side.bytes;
    row->new_bytes = new_side.bytes;
    row->count_differs = !row->unseen && old_side.same_count && new_side.same_count &&
                         old_side.count != new_side.count;
    row->spread_s = spread_of(diff, row, &old_side, &new_side, scale);
    row->time_differs = !row->other && fabs(per_call_s) > row->spread_s;
    set_change(row, &old_side, &new_side, scale);
}

/* The wall, its parts, what may cause a change, and groups of those. */
static int rank_of(const struct bp_diff_row *row) {
    if (row->kind == BP_DIFF_WALL)
        return 0;
    if (row->kind == BP_DIFF_CATEGORY || row->kind == BP_DIFF_TASK)
        return 1;
    return row->kind == BP_DIFF_GROUP ? 3 : 2;
}

static int compare_rows(const void *a, const void *b) {
    const struct bp_diff_row *x = a;
    const struct bp_diff_row *y = b;
    if (rank_of(x) != rank_of(y))
        return rank_of(x) < rank_of(y) ? -1 : 1;
    if (rank_of(x) == 1) /* always there, in their own order */
        return strcmp(x->name, y->name);
    if (fabs(x->change_s) != fabs(y->change_s))
        return fabs(x->change_s) > fabs(y->change_s) ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Sums and groups follow from others. */
static bool is_cause(const struct bp_diff_row *row) {
    return rank_of(row) == 2;
}

static void add_net(struct bp_diff *diff, const struct bp_diff_row *row) {
    diff->differences++;
    diff->slower_or_faster |= row->time_differs;
    diff->net_s += row->wall_change_s;
    diff->category_net_s[row->category] += row->wall_change_s;
}

const struct bp_diff_row *bp_diff_find(const struct bp_diff *diff, enum bp_diff_kind kind) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (diff->rows[i].kind == kind)
            return &diff->rows[i];
    return NULL;
}

double bp_diff_part(const struct bp_diff *diff) {
    double wall_s = bp_diff_find(diff, BP_DIFF_WALL)->old_s;
    return wall_s > 0 ? diff->net_s / wall_s : 0;
}

double bp_diff_unclear(const struct bp_diff *diff) {
    const struct bp_diff_row *wall = bp_diff_find(diff, BP_DIFF_WALL);
    double off_s = fabs(wall->new_s - wall->old_s);
    double spread = wall->old_s > 0 ? wall->spread_s / wall->old_s : 0;
    bool clear =
        diff->slower_or_faster || spread < BP_DIFF_WIDE || off_s < BP_DIFF_LEAST * wall->old_s;
    return clear || fabs(bp_diff_part(diff)) >= BP_DIFF_LEAST ? 0 : spread;
}

void bp_diff_compare(struct bp_diff *diff, bool same_speed) {
    find_speeds(diff, same_speed);
    for (uint32_t i = 0; i < diff->row_count; i++) {
        judge(diff, &diff->rows[i]);
        if (is_cause(&diff->rows[i]) && bp_diff_differs(&diff->rows[i]))
            add_net(diff, &diff->rows[i]);
    }
    qsort(diff->rows, diff->row_count, sizeof(*diff->rows), compare_rows);
}
