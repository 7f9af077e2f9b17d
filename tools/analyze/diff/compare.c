/* SPDX-License-Identifier: MIT
 *
 * Which rows certainly changed. A number of calls is a fact. A time has changed if a call takes
 * longer or shorter than the machine explains, by more than the spread. The machine explains what
 * lies between as long as before and what all functions share: of such a row it is unknown whether
 * it changed at all, and in which direction. The spread of single runs is an estimate with an upper
 * end: beyond that a change is one, also when everything changed. That of repeated runs is their
 * own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"

/* The scatter of all functions is multiplied by this: with 100 of them chance must not exceed it.
 */
#define SIGMAS 4
/* That limit as a level for Student's t: four deviations of a normal distribution. */
#define LEVEL 0.99994
/* The deviation of a row in repeated runs is mixed with that of the others as if that had been seen
 * in as many more runs: two or three runs agree by accident. */
#define PRIOR_DEGREES 4
/* Relative floors: what two single runs differ by on an idle machine (caches, page colours, heap
 * layout: 23 % seen of a function that writes 16 KiB); with repeated runs those are in the spread.
 */
#define FLOOR_SINGLE 0.25
#define FLOOR_REPEATED 0.02
/* Without a known speed nothing is known about neighbours, which cost up to half. */
#define FLOOR_UNKNOWN 0.45
/* A neighbour on the same core makes functions slower that use all of it, and no others: by up to
 * 1.75 here. Their shortest calls are as short as before, within the second. */
#define NEIGHBOUR 0.55
#define AS_SHORT 0.15
/* Upper end, relative to the mean of both times: no machine makes one function 1.7 times as fast
 * against the others. */
#define CEILING 0.5
/* Absolute floors: of the wall, and in seconds. */
#define FLOOR_PART 0.003
#define FLOOR_S 0.0005
/* A change of the number of calls up to this factor may be less than chance makes of their time. */
#define FEW_MORE 2
/* The calibrated overhead of calls is off by as much when caches are cold. */
#define COST_DOUBT 0.25

/* Means over the runs of one side. */
struct side {
    double likely_s; /* a run's time without lost slices */
    double s;
    double wall_s;
    double fixed_s;
    double noise_s;
    double overhead_s;
    double count;
    double bytes;
    bool same_count;
};

static struct side sum_side(const struct bp_diff_row *row, uint32_t first, uint32_t count) {
    struct side side = {.same_count = true};
    for (uint32_t i = first; i < first + count; i++) {
        const struct bp_diff_value *value = &row->values[i];
        side.likely_s += value->likely_s / count;
        side.s += value->s / count;
        side.wall_s += value->wall_s / count;
        side.fixed_s += value->fixed_s / count;
        side.noise_s += value->doubt_s / count;
        side.overhead_s += value->overhead_s / count;
        side.count += (double)value->count / count;
        side.bytes += (double)value->bytes / count;
        side.same_count &= value->count == row->values[first].count;
    }
    return side;
}

static double floor_s(const struct bp_diff *diff) {
    return fmax(FLOOR_PART * fmin(diff->wall.old_s, diff->wall.new_s), FLOOR_S);
}

double bp_diff_relative_spread(const struct bp_diff *diff) {
    double spread = diff->speed_known ? FLOOR_SINGLE : FLOOR_UNKNOWN;
    return fmin(fmax(spread, SIGMAS * diff->scatter), CEILING);
}

/* The difference is compared with a part of the mean of both times. */
double bp_diff_chance_slower(double spread) {
    return spread < 2 ? (2 + spread) / (2 - spread) - 1 : INFINITY;
}

double bp_diff_chance_faster(double spread) {
    return spread < 2 ? 1 - (2 - spread) / (2 + spread) : 1;
}

/* Deviation of a difference of two means, in seconds. */
static double repeated_spread(const struct bp_diff *diff, const struct bp_diff_row *row,
                              double expected_s, double now_s) {
    double degrees;
    double variance = bp_diff_variance(diff, row, &degrees) * degrees;
    variance += pow(diff->repetition, 2) * PRIOR_DEGREES;
    degrees += PRIOR_DEGREES;
    double squares = expected_s * expected_s / diff->old_side.count;
    squares += now_s * now_s / diff->new_side.count;
    return bp_student_at((uint32_t)degrees, LEVEL) * sqrt(variance / degrees * squares);
}

/* Most of the calls take longer or shorter, the shortest does not: a neighbour may be why. */
static bool is_as_short(const struct bp_diff_row *row) {
    double old_s = row->values[0].least_s;
    double new_s = row->values[1].least_s;
    return old_s > 0 && new_s > 0 && fabs(log(new_s / old_s)) < AS_SHORT;
}

static double single_spread(const struct bp_diff *diff, const struct bp_diff_row *row) {
    if (bp_diff_on_device(row))
        return BP_DIFF_DEVICE_SPREAD;
    double spread = bp_diff_relative_spread(diff);
    return is_as_short(row) ? fmax(spread, NEIGHBOUR) : spread;
}

static double spread_of(const struct bp_diff *diff, const struct bp_diff_row *row,
                        const struct side *old_side, const struct side *new_side, double scale) {
    double expected_s = old_side->likely_s * scale;
    double s = (expected_s + new_side->likely_s) / 2;
    double spread_s = COST_DOUBT * (old_side->overhead_s * scale + new_side->overhead_s) / 2 +
                      fabs(new_side->overhead_s - old_side->overhead_s * scale) / 2 + floor_s(diff);
    if (diff->run_count > 2)
        return spread_s + FLOOR_REPEATED * s +
               repeated_spread(diff, row, expected_s, new_side->likely_s);
    double relative = single_spread(diff, row);
    return spread_s + relative * s + old_side->noise_s * scale + new_side->noise_s;
}

/* How far NEW is from what the machine explains; 0 if it is between that and no change. What runs
 * on a device, or waits, does not follow the speed of a CPU. */
static double beyond_machine(const struct bp_diff *diff, const struct side *old_side,
                             const struct side *new_side, double scale) {
    double s = old_side->s + new_side->s;
    double fixed = s > 0 ? fmin((old_side->fixed_s + new_side->fixed_s) / s, 1) : 1;
    double common = pow(diff->common, 1 - fixed);
    double expected_s = old_side->likely_s * scale;
    double least_s = expected_s * fmin(common, 1);
    double most_s = expected_s * fmax(common, 1);
    double now_s = new_side->likely_s;
    return now_s > most_s ? now_s - most_s : now_s < least_s ? now_s - least_s : 0;
}

/* More or less of the same: calls that take as long as the side with more of them says. */
static double explained_s(const struct bp_diff_row *row, double scale) {
    return scale > 1 ? row->new_s * (1 - 1 / scale) : row->old_s * (scale - 1);
}

/* As measured, so that all rows add up to what was measured of the wall. Of a few calls more or
 * less it is what their number explains, since all else is chance. */
static double change_of_wall(const struct bp_diff_row *row, double scale) {
    double s = row->old_s + row->new_s;
    double explained = explained_s(row, scale);
    bool few = row->count_differs && !row->time_differs && row->in_old && row->in_new &&
               scale < FEW_MORE && scale * FEW_MORE > 1 && fabs(explained) <= row->spread_s;
    if (!bp_diff_differs(row) || row->other)
        return 0;
    if (few)
        return s > 0 ? explained * (row->old_wall_s + row->new_wall_s) / s : 0;
    return row->new_wall_s - row->old_wall_s;
}

static void set_means(struct bp_diff_row *row, const struct side *old_side,
                      const struct side *new_side) {
    row->old_s = old_side->s;
    row->new_s = new_side->s;
    row->change_s = new_side->s - old_side->s;
    row->old_wall_s = old_side->wall_s;
    row->new_wall_s = new_side->wall_s;
    row->old_count = old_side->count;
    row->new_count = new_side->count;
    row->old_bytes = old_side->bytes;
    row->new_bytes = new_side->bytes;
}

/* What a row may have changed of the wall, on a machine that was never busy with others: between
 * the change as measured and that without what all functions share, and by the spread beyond both.
 */
static void set_quiet(const struct bp_diff *diff, struct bp_diff_row *row,
                      const struct side *old_side, const struct side *new_side) {
    double s = old_side->s + new_side->s;
    double rate = s > 0 ? (old_side->wall_s + new_side->wall_s) / s : 0;
    double old_rate = old_side->s > 0 ? old_side->wall_s / old_side->s : rate;
    double new_rate = new_side->s > 0 ? new_side->wall_s / new_side->s : rate;
    double new_s = new_side->likely_s * new_rate;
    double steady_s = new_s / diff->common;
    double spread_s = row->other ? s : row->spread_s;
    row->quiet_old_s = old_side->likely_s * old_rate;
    row->quiet_low_s = fmin(new_s, steady_s) - row->quiet_old_s - rate * spread_s;
    row->quiet_high_s = fmax(new_s, steady_s) - row->quiet_old_s + rate * spread_s;
}

/* What would be a difference, were it not for neighbours; `s` is the mean of both times. */
static double neighbour_s(const struct bp_diff *diff, const struct bp_diff_row *row, double off_s,
                          double s) {
    if (row->kind != BP_DIFF_FUNCTION || diff->run_count != 2 || row->time_differs ||
        !is_as_short(row))
        return 0;
    double usual = row->spread_s - (single_spread(diff, row) - bp_diff_relative_spread(diff)) * s;
    double rate = (row->old_wall_s + row->new_wall_s) / (row->old_s + row->new_s);
    return fabs(off_s) > usual ? fabs(off_s) * rate : 0;
}

/* Numbers that vary within a side say nothing. Calls are exact: more of them need no more time than
 * their number explains. A change that is seen only without the lost slices is none: what was
 * measured would point the other way. */
static void judge(const struct bp_diff *diff, struct bp_diff_row *row) {
    struct side old_side = sum_side(row, 0, diff->old_side.count);
    struct side new_side = sum_side(row, diff->old_side.count, diff->new_side.count);
    bool both = old_side.count > 0 && new_side.count > 0;
    double scale = both ? new_side.count / old_side.count : 1;
    double off_s = beyond_machine(diff, &old_side, &new_side, scale);
    set_means(row, &old_side, &new_side);
    row->count_differs = !row->unseen && old_side.same_count && new_side.same_count &&
                         old_side.count != new_side.count;
    row->spread_s = spread_of(diff, row, &old_side, &new_side, scale);
    row->time_differs =
        !row->other && fabs(off_s) > row->spread_s && off_s * (new_side.s - old_side.s * scale) > 0;
    row->wall_change_s = change_of_wall(row, scale);
    set_quiet(diff, row, &old_side, &new_side);
    row->neighbour_s =
        neighbour_s(diff, row, off_s, (old_side.likely_s * scale + new_side.likely_s) / 2);
}

/* The wall, its parts, what may cause a change, and groups of those. */
static int rank_of(const struct bp_diff_row *row) {
    if (row->kind == BP_DIFF_WALL)
        return 0;
    if (row->kind == BP_DIFF_CATEGORY || row->kind == BP_DIFF_SPLIT || row->kind == BP_DIFF_TASK)
        return 1;
    return row->kind == BP_DIFF_GROUP ? 4 : row->kind == BP_DIFF_SAMPLED ? 3 : 2;
}

bool bp_diff_is_cause(const struct bp_diff_row *row) {
    return rank_of(row) == 2;
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

struct bp_diff_row *bp_diff_find(const struct bp_diff *diff, enum bp_diff_kind kind) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (diff->rows[i].kind == kind)
            return &diff->rows[i];
    return NULL;
}

static double mean_wall(const struct bp_diff_run *runs, uint32_t count) {
    double s = 0;
    for (uint32_t i = 0; i < count; i++)
        s += runs[i].model->wall.total_s / count;
    return s;
}

void bp_diff_compare(struct bp_diff *diff, bool same_speed) {
    diff->wall.old_s = mean_wall(diff->runs, diff->old_side.count);
    diff->wall.new_s = mean_wall(diff->runs + diff->old_side.count, diff->new_side.count);
    bp_diff_find_speed(diff, same_speed);
    for (uint32_t i = 0; i < diff->row_count; i++) {
        judge(diff, &diff->rows[i]);
        diff->differences += bp_diff_is_cause(&diff->rows[i]) && bp_diff_differs(&diff->rows[i]);
    }
    bp_diff_find_wall(diff);
    qsort(diff->rows, diff->row_count, sizeof(*diff->rows), compare_rows);
}
