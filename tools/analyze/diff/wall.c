/* SPDX-License-Identifier: MIT
 *
 * The walls as they were measured, and how far their ratio may be off. With repeated runs the
 * interval is from their own spread, by Student's t on relative deviations. Two single runs have
 * none: theirs is a model of what the runs show themselves — time without a CPU, starts of
 * programs, the speed of the machine as the functions tell it — above a floor.
 */
#include <math.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/statistics.h"

/* Half of the interval of two single runs, as a logarithm: at a known speed the scatter of the
 * functions times a factor, within two ends; and at an unknown one, since neighbours cost up to
 * half. */
#define SCATTERS 3
#define SINGLE_LEAST 0.04
#define SINGLE_KNOWN 0.10
#define SINGLE_UNKNOWN 0.45
/* The walls of single runs certainly differ only beyond the interval by as much of it again. */
#define SINGLE_CERTAIN 0.4
/* The limit for repeated runs, as a level: one in a thousand differs by chance. */
#define CERTAIN_LEVEL 0.999
/* Seconds that starting a program may take more or less; on average of a series. */
#define START_S 0.003
#define SERIES_START_S 0.001
/* Half of the interval between two series of runs: other memory, another hour. Their own spread is
 * of one of each. */
#define BETWEEN_SERIES 0.03
/* Correlation of the runs of a series: a busy machine is busy for longer than one of them. */
#define ALIKE 0.3
/* Series with fewer runs borrow the deviation of the other. */
#define FEW_RUNS 3
/* Part of a run's wall that may be stray time at most. */
#define MOST_STRAY 0.95
/* Share of the change and of the differences: where each is so much of the other, these explain it.
 */
#define BACKED 0.5
/* Part of OLD's wall below which a difference says nothing of it. */
#define NOTABLE 0.005
/* What a run may be too long, as a logarithm. */
static double stray(const struct bp_diff_run *run) {
    return -log(1 - fmin((run->stray_s + run->stall_s) / run->quiet_s, MOST_STRAY));
}

static double single_noise(const struct bp_diff *diff) {
    if (!diff->speed_known)
        return SINGLE_UNKNOWN;
    if (diff->alike < BP_DIFF_WITNESSES)
        return SINGLE_KNOWN;
    return fmin(fmax(SCATTERS * diff->scatter, SINGLE_LEAST), SINGLE_KNOWN);
}

static double neighbours_s(const struct bp_diff *diff) {
    double s = 0;
    for (uint32_t i = 0; i < diff->row_count; i++)
        s += diff->rows[i].neighbour_s;
    return s;
}

/* The machine may have been as fast as the functions say, or all of it is the program. Time in
 * which others had the CPU is known: the ratio without it is as good as the measured one. */
static void find_single(struct bp_diff *diff) {
    struct bp_diff_wall *wall = &diff->wall;
    double ratio = log(wall->factor);
    double quiet = log(diff->runs[1].quiet_s / diff->runs[0].quiet_s);
    double common = log(diff->common);
    double noise = single_noise(diff) + (START_S + neighbours_s(diff)) /
                                            fmin(diff->runs[0].quiet_s, diff->runs[1].quiet_s);
    double low = quiet - fmax(common, 0) - noise - stray(&diff->runs[1]);
    double high = quiet - fmin(common, 0) + noise + stray(&diff->runs[0]);
    double sure = SINGLE_CERTAIN * noise;
    wall->low = exp(fmin(low, ratio));
    wall->high = exp(fmax(high, ratio));
    wall->certain = (low > sure && ratio > 0) || (high < -sure && ratio < 0);
}

/* All of NEW's runs are further from all of OLD's than two single runs ever are. */
static bool are_apart(const struct bp_diff *diff) {
    double least[2] = {INFINITY, INFINITY};
    double most[2] = {0, 0};
    for (uint32_t i = 0; i < diff->run_count; i++) {
        int side = i >= diff->old_side.count;
        least[side] = fmin(least[side], diff->runs[i].model->wall.total_s);
        most[side] = fmax(most[side], diff->runs[i].model->wall.total_s);
    }
    double gap = exp(SINGLE_UNKNOWN * (1 + SINGLE_CERTAIN));
    return least[1] > most[0] * gap || least[0] > most[1] * gap;
}

double bp_diff_quiet_mean(const struct bp_diff_run *runs, uint32_t count) {
    double sum_s = 0;
    for (uint32_t i = 0; i < count; i++)
        sum_s += runs[i].quiet_s;
    return sum_s / count;
}

/* Relative variance of a side's runs, without time in which others had the CPU. */
static double variance_of(const struct bp_diff_run *runs, uint32_t count) {
    double mean_s = bp_diff_quiet_mean(runs, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += pow(runs[i].quiet_s / mean_s - 1, 2);
    return count > 1 ? sum / (count - 1) : 0;
}

/* Without stray time, too: a run is at least as long as that. */
static double working_mean(const struct bp_diff_run *runs, uint32_t count) {
    double sum_s = 0;
    for (uint32_t i = 0; i < count; i++)
        sum_s += fmax(runs[i].quiet_s - runs[i].stray_s, (1 - MOST_STRAY) * runs[i].quiet_s);
    return sum_s / count;
}

/* Squared relative errors of both means, and their degrees of freedom: by Welch, each side with its
 * own deviation, if both can tell it. Runs that follow each other are alike. */
static double squared_error(const struct bp_diff *diff, double *degrees) {
    uint32_t old_count = diff->old_side.count;
    double n = old_count;
    double m = diff->new_side.count;
    double a = variance_of(diff->runs, old_count);
    double b = variance_of(diff->runs + old_count, diff->new_side.count);
    *degrees = n + m - 2;
    if (n < FEW_RUNS || m < FEW_RUNS)
        a = b = (a * (n - 1) + b * (m - 1)) / *degrees;
    else if (a + b > 0)
        *degrees = pow(a / n + b / m, 2) / (pow(a / n, 2) / (n - 1) + pow(b / m, 2) / (m - 1));
    return a / n + b / m + ALIKE * (a + b);
}

/* With what two series differ by anyway. */
static double half_of(const struct bp_diff *diff, double squares, double degrees, double level) {
    double t = bp_student_at((uint32_t)degrees, level);
    double start = SERIES_START_S / fmin(diff->wall.old_s, diff->wall.new_s);
    return sqrt(t * t * squares + BETWEEN_SERIES * BETWEEN_SERIES + start * start);
}

/* Time in which others had the CPU is known, and left out; of the other time without a CPU it is
 * unknown whose it is. What was measured stays inside. */
static void find_repeated(struct bp_diff *diff) {
    struct bp_diff_wall *wall = &diff->wall;
    const struct bp_diff_run *new_runs = diff->runs + diff->old_side.count;
    uint32_t old_count = diff->old_side.count;
    uint32_t new_count = diff->new_side.count;
    double degrees;
    double squares = squared_error(diff, &degrees);
    double ratio = log(wall->factor);
    double quiet =
        log(bp_diff_quiet_mean(new_runs, new_count) / bp_diff_quiet_mean(diff->runs, old_count));
    double working = log(working_mean(new_runs, new_count) / working_mean(diff->runs, old_count));
    double low = fmin(quiet, working);
    double high = fmax(quiet, working);
    double half = half_of(diff, squares, degrees, 0.95);
    double sure = half_of(diff, squares, degrees, CERTAIN_LEVEL);
    if (are_apart(diff))
        sure = fmin(sure, SINGLE_UNKNOWN);
    wall->low = exp(fmin(low - half, ratio));
    wall->high = exp(fmax(high + half, ratio));
    wall->certain = (low > sure && ratio > 0) || (high < -sure && ratio < 0);
}

/* The sum of what the functions may have changed by can be on one side where the walls are not:
 * then the sign is certain, and the interval ends there. What was measured stays inside. */
static void narrow(struct bp_diff *diff) {
    struct bp_diff_wall *wall = &diff->wall;
    if (wall->factor < 1 && wall->parts_high < 1) {
        wall->high = fmin(wall->high, fmax(wall->factor, wall->parts_high));
        wall->certain = true;
    } else if (wall->factor > 1 && wall->parts_low > 1) {
        wall->low = fmax(wall->low, fmin(wall->factor, wall->parts_low));
        wall->certain = true;
    }
}

void bp_diff_find_wall(struct bp_diff *diff) {
    struct bp_diff_wall *wall = &diff->wall;
    struct bp_diff_row *row = bp_diff_find(diff, BP_DIFF_WALL);
    wall->factor = wall->low = wall->high = 1;
    if (wall->old_s > 0 && wall->new_s > 0) {
        wall->factor = wall->new_s / wall->old_s;
        if (diff->run_count > 2)
            find_repeated(diff);
        else
            find_single(diff);
    }
    bp_diff_find_parts(diff);
    narrow(diff);
    row->spread_s = fmax(wall->high - wall->factor, wall->factor - wall->low) * wall->old_s;
    row->time_differs = wall->certain;
    row->wall_change_s = row->time_differs ? row->change_s : 0;
}

/* Differences that have the sign of the change, and are about as large. */
static bool is_backed(const struct bp_diff_wall *wall) {
    double change_s = wall->new_s - wall->old_s;
    double certain_s = wall->certain_s;
    return certain_s * change_s > 0 && fabs(certain_s) >= BACKED * fabs(change_s) &&
           fabs(change_s) >= BACKED * fabs(certain_s) && fabs(certain_s) >= NOTABLE * wall->old_s;
}

bool bp_diff_is_likely(const struct bp_diff *diff) {
    return diff->wall.low > 1 || diff->wall.high < 1 || is_backed(&diff->wall);
}

double bp_diff_measured_part(const struct bp_diff *diff) {
    const struct bp_diff_wall *wall = &diff->wall;
    return wall->old_s > 0 ? wall->factor - 1 - wall->even_s / wall->old_s : 0;
}

double bp_diff_slower_part(const struct bp_diff *diff) {
    const struct bp_diff_wall *wall = &diff->wall;
    if (!(wall->old_s > 0))
        return 0;
    double certain = wall->certain_s / wall->old_s;
    bool beyond = wall->certain && wall->low - wall->even_s / wall->old_s > 1;
    return beyond ? fmax(certain, bp_diff_measured_part(diff)) : certain;
}
