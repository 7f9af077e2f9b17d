/* SPDX-License-Identifier: MIT
 *
 * The change that most functions share. A shared machine is slower by up to half while neighbours
 * work, for all functions alike; a change of the program usually is in some of them. So the median
 * over the functions tells how fast the machine was, if most of them agree and a machine may differ
 * as much. Otherwise the program changed in everything, and the machine's speed is unknown. No time
 * is ever scaled by it: a function's change is certain only if it lies beyond what was measured and
 * beyond what the others share.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"

/* A function counts for the speed of the machine from this part of the wall on. */
#define SPEED_PART 0.002
/* Neighbours cost up to half; more is the program, whatever it is that all functions share. */
#define MOST_SLOWNESS 1.7
/* Agreement: so many of them are as near to their median, as a logarithm. */
#define AGREE_PART 0.6
#define AGREE 0.1
/* Relative deviation that every run has, also where a few repeated ones agree by accident. */
#define LEAST_DEVIATION 0.01

/* A function over some runs. */
struct witness {
    double s;
    double doubt_s;
    double count;
};

static struct witness ask(const struct bp_diff_row *row, uint32_t first, uint32_t count) {
    struct witness witness = {0};
    for (uint32_t i = first; i < first + count; i++) {
        witness.s += row->values[i].likely_s / count;
        witness.doubt_s += row->values[i].doubt_s / count;
        witness.count += (double)row->values[i].count / count;
    }
    return witness;
}

static bool is_sure(const struct witness *witness) {
    return witness->count > 0 && witness->s > 0 && witness->doubt_s < witness->s / 2;
}

/* Large enough on one side: made much faster it is still a witness of the change. */
static bool is_witness(const struct bp_diff *diff, const struct bp_diff_row *row,
                       const struct witness *a, const struct witness *b) {
    double least_s = SPEED_PART * diff->runs[0].model->wall.total_s;
    return row->kind == BP_DIFF_FUNCTION && row->function->kind == BP_FUNC_CALL &&
           !row->function->cuda && is_sure(a) && is_sure(b) && (a->s > least_s || b->s > least_s);
}

/* Sorted logarithms of how much longer a call takes in the second runs: a new array. Per call, so
 * that more work is not a slower machine. */
static double *compare_calls(const struct bp_diff *diff, uint32_t old_count, uint32_t first,
                             uint32_t new_count, uint32_t *count) {
    double *logs = bp_alloc(diff->row_count, sizeof(*logs));
    *count = 0;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        struct witness a = ask(&diff->rows[i], 0, old_count);
        struct witness b = ask(&diff->rows[i], first, new_count);
        if (is_witness(diff, &diff->rows[i], &a, &b))
            logs[(*count)++] = log(b.s / b.count / (a.s / a.count));
    }
    bp_sort_values(logs, *count);
    return logs;
}

static bool do_agree(const double *logs, uint32_t count, double middle) {
    uint32_t near = 0;
    for (uint32_t i = 0; i < count; i++)
        near += fabs(logs[i] - middle) <= AGREE;
    return count >= BP_DIFF_WITNESSES && near >= AGREE_PART * count;
}

/* How slow each run was against the first, for those who look at single runs. */
static void find_slowness(struct bp_diff *diff, uint32_t run) {
    uint32_t count;
    double *logs = compare_calls(diff, 1, run, 1, &count);
    double middle = bp_quantile(logs, count, 0.5);
    diff->runs[run].slowness = do_agree(logs, count, middle) ? exp(middle) : 1;
    free(logs);
}

/* Relative variance of a row within its side, with its degrees of freedom added to `*degrees`. */
static double vary(const struct bp_diff_row *row, uint32_t first, uint32_t count, double *degrees) {
    double mean_s = ask(row, first, count).s;
    double sum = 0;
    if (count < 2 || !(mean_s > 0))
        return 0;
    for (uint32_t i = first; i < first + count; i++)
        sum += pow(row->values[i].likely_s / mean_s - 1, 2);
    *degrees += count - 1;
    return sum;
}

double bp_diff_variance(const struct bp_diff *diff, const struct bp_diff_row *row,
                        double *degrees) {
    uint32_t old_count = diff->old_side.count;
    *degrees = 0;
    double sum = vary(row, 0, old_count, degrees);
    sum += vary(row, old_count, diff->new_side.count, degrees);
    return *degrees > 0 ? sum / *degrees : 0;
}

/* How far a function strays from run to run: the median over those of some size. */
static double find_repetition(const struct bp_diff *diff) {
    double *deviations = bp_alloc(diff->row_count, sizeof(*deviations));
    uint32_t count = 0;
    double degrees;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        double s = ask(row, 0, diff->run_count).s;
        double variance = bp_diff_variance(diff, row, &degrees);
        if (row->kind == BP_DIFF_FUNCTION && degrees > 0 &&
            s > SPEED_PART * diff->runs[0].model->wall.total_s)
            deviations[count++] = sqrt(variance);
    }
    bp_sort_values(deviations, count);
    double middle = bp_quantile(deviations, count, 0.5);
    free(deviations);
    return fmax(middle, LEAST_DEVIATION);
}

void bp_diff_find_speed(struct bp_diff *diff, bool same_speed) {
    uint32_t old_count = diff->old_side.count;
    double *logs = compare_calls(diff, old_count, old_count, diff->new_side.count, &diff->alike);
    double middle = bp_quantile(logs, diff->alike, 0.5);
    diff->slowness = exp(middle);
    diff->scatter = 1.4826 * bp_median_distance(logs, diff->alike); /* as a normal deviation */
    diff->speed_known =
        same_speed || (do_agree(logs, diff->alike, middle) && fabs(middle) < log(MOST_SLOWNESS));
    diff->common = diff->speed_known && !same_speed ? diff->slowness : 1;
    free(logs);
    for (uint32_t i = 1; i < diff->run_count; i++)
        find_slowness(diff, i);
    diff->repetition = find_repetition(diff);
}
