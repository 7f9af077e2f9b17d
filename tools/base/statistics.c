/* SPDX-License-Identifier: MIT */
#include "tools/base/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "tools/base/memory.h"

/* Below this many values none stands out. */
#define FEWEST 5
#define LEAST_SPREAD 1.15
/* Student's t differs from that of this many degrees by less than 0.02 %. */
#define MANY_DEGREES 10000
#define LARGEST_T 1e9
/* Shortest time that differs from none, in seconds: logarithms need one. */
#define SHORTEST 1e-9
/* A slope below this part of the mean per step is rounding. */
#define ROUNDING 1e-9

static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void bp_sort_values(double *values, uint32_t count) {
    if (count)
        qsort(values, count, sizeof(*values), compare_values);
}

double bp_quantile(const double *sorted, uint32_t count, double q) {
    if (count == 0)
        return 0;
    double rank = q * (count - 1);
    uint32_t below = rank > 0 ? (uint32_t)rank : 0;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (rank - below) * (sorted[below + 1] - sorted[below]);
}

double bp_nearest_rank(const double *sorted, uint32_t count, double q) {
    double rank = ceil(q * count - 1e-9); /* 0.95 * 20 is 19, rounding or not */
    if (count == 0)
        return 0;
    return sorted[rank <= 1 ? 0 : rank >= count ? count - 1 : (uint32_t)rank - 1];
}

double bp_mean(const double *values, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / count : 0;
}

double bp_deviation(const double *values, uint32_t count) {
    double mean = bp_mean(values, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(sum / (count - 1)) : 0;
}

static double median_distance(double *distances, uint32_t count) {
    bp_sort_values(distances, count);
    return bp_quantile(distances, count, 0.5);
}

double bp_median_distance(const double *sorted, uint32_t count) {
    double median = bp_quantile(sorted, count, 0.5);
    double *distances = bp_alloc(count, sizeof(*distances));
    for (uint32_t i = 0; i < count; i++)
        distances[i] = fabs(sorted[i] - median);
    double result = median_distance(distances, count);
    free(distances);
    return result;
}

double bp_outlier_limit(const double *sorted, uint32_t count, double k) {
    if (count < FEWEST)
        return INFINITY;
    double median = fmax(bp_quantile(sorted, count, 0.5), SHORTEST);
    double *distances = bp_alloc(count, sizeof(*distances));
    for (uint32_t i = 0; i < count; i++)
        distances[i] = fabs(log(fmax(sorted[i], SHORTEST) / median));
    double spread = exp(median_distance(distances, count));
    free(distances);
    return median * pow(fmax(spread, LEAST_SPREAD), k);
}

struct bp_line bp_line_fit(const double *x, const double *y, uint32_t count) {
    struct bp_line line = {.count = count, .slope_error = INFINITY};
    double mean_x = bp_mean(x, count);
    double mean_y = bp_mean(y, count);
    double xx = 0;
    double xy = 0;
    double rest = 0;
    for (uint32_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    line.slope = xx > 0 ? xy / xx : 0;
    line.intercept = mean_y - line.slope * mean_x;
    for (uint32_t i = 0; i < count; i++) {
        double off = y[i] - line.intercept - line.slope * x[i];
        rest += off * off;
    }
    if (count > 2 && xx > 0)
        line.slope_error = sqrt(rest / (count - 2) / xx);
    return line;
}

bool bp_line_rises(const struct bp_line *line) {
    double least = ROUNDING * fabs(line->intercept);
    return line->count > 2 && fabs(line->slope) > least &&
           fabs(line->slope) > bp_student(line->count - 2) * line->slope_error;
}

/* Probability that Student's t lies within -t and t: Abramowitz and Stegun 26.7.3 and 26.7.4. */
static double student_within(double t, uint32_t degrees) {
    double angle = atan(t / sqrt(degrees));
    double cosine = cos(angle);
    bool odd = degrees % 2;
    double term = odd ? cosine : 1;
    double sum = degrees > 1 ? term : 0;
    for (uint32_t k = odd ? 3 : 2; k < degrees; k += 2) {
        term *= cosine * cosine * (k - 1) / k;
        sum += term;
    }
    double within = sin(angle) * sum;
    return odd ? (angle + within) / acos(0) : within;
}

double bp_student_at(uint32_t degrees, double level) {
    double low = 0;
    double high = 1;
    if (degrees == 0)
        return INFINITY;
    if (degrees > MANY_DEGREES)
        degrees = MANY_DEGREES;
    while (student_within(high, degrees) < level && high < LARGEST_T)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(student_within(middle, degrees) < level ? &low : &high) = middle;
    }
    return high;
}

double bp_student(uint32_t degrees) {
    return bp_student_at(degrees, 0.95);
}

double bp_amdahl(double part, double factor) {
    return 1 - part + part / factor;
}

uint32_t bp_most_at_once(double *starts, double *ends, uint32_t count) {
    uint32_t most = 0;
    bp_sort_values(starts, count);
    bp_sort_values(ends, count);
    for (uint32_t begun = 0, ended = 0; begun < count; begun++) {
        while (ends[ended] <= starts[begun] && ended < begun)
            ended++;
        most = begun + 1 - ended > most ? begun + 1 - ended : most;
    }
    return most;
}

void bp_histogram(const double *values, uint32_t count, double low, double high, uint32_t buckets,
                  uint32_t *counts) {
    double step = log(high / low) / buckets;
    for (uint32_t i = 0; i < buckets; i++)
        counts[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        double at = step > 0 && values[i] > low ? log(values[i] / low) / step : 0;
        counts[at < buckets ? (uint32_t)at : buckets - 1]++;
    }
}
