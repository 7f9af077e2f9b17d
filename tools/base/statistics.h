/* SPDX-License-Identifier: MIT
 *
 * Figures over a handful of values, as pure functions. Quantiles interpolate between the two
 * nearest values, so that the median of two values is their mean. Nothing here knows of profiles.
 */
#ifndef BP_TOOLS_BASE_STATISTICS_H
#define BP_TOOLS_BASE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

/* Without the fraction. What fits into no count, as a quotient of a damaged profile may, is the
 * nearest that does. */
static inline uint64_t bp_whole(double value) {
    if (!(value > 0))
        return 0;
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

void bp_sort_values(double *values, uint32_t count);

/* The quantile `q`, from 0 to 1, of sorted values; 0 if there are none. */
double bp_quantile(const double *sorted, uint32_t count, double q);

/* The value that at least a part `q` of the values do not exceed: one of them. */
double bp_nearest_rank(const double *sorted, uint32_t count, double q);

double bp_mean(const double *values, uint32_t count);

/* The standard deviation of the population that the values are drawn from; 0 below two values. */
double bp_deviation(const double *values, uint32_t count);

/* The median distance from the median of sorted values. */
double bp_median_distance(const double *sorted, uint32_t count);

/* What is beyond this is an outlier: median times spread to the power of k, where spread is the
 * median factor between a value and the median, in other words median + k * MAD of the logarithms.
 * Times of tasks differ by factors: on a linear scale the long side of any ordinary mix would be
 * full of "outliers". Where most values are alike their spread says nothing; it is taken as at
 * least 1.15, so that with k = 5 nothing below twice the median is one. INFINITY below five
 * values. `sorted` values must be sorted. */
double bp_outlier_limit(const double *sorted, uint32_t count, double k);

/* A least-squares line through points. */
struct bp_line {
    uint32_t count;
    double intercept;
    double slope;
    double slope_error; /* standard error of the slope; INFINITY where two points leave none */
};

struct bp_line bp_line_fit(const double *x, const double *y, uint32_t count);

/* Whether the slope differs from 0 beyond chance: with 95 % confidence, and by more than rounding.
 */
bool bp_line_rises(const struct bp_line *line);

/* Two-sided 95 % quantile of Student's t; INFINITY without a degree of freedom. */
double bp_student(uint32_t degrees);
/* Student's t for another level, 0 to 1. */
double bp_student_at(uint32_t degrees, double level);

/* By Amdahl's law: the part of the time that is left when `part` of it (0 to 1) becomes `factor`
 * times as fast. Its inverse is the speed-up of the whole. */
double bp_amdahl(double part, double factor);

/* How many of the stretches from starts[i] to ends[i] overlap at most; sorts both arrays. */
uint32_t bp_most_at_once(double *starts, double *ends, uint32_t count);

/* Counts in `buckets` equal steps of the logarithm from `low` to `high`; what lies outside goes to
 * the first and the last. */
void bp_histogram(const double *values, uint32_t count, double low, double high, uint32_t buckets,
                  uint32_t *counts);

#endif
