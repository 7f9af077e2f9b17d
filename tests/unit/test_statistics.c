/* SPDX-License-Identifier: MIT
 *
 * Figures that can be done by hand, tables of Student's t, and what must not be called an outlier:
 * lognormal noise of any width.
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "tools/base/statistics.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct { uint64_t random; } state = {88172645463325252u};

static double draw(void) {
    state.random ^= state.random << 13;
    state.random ^= state.random >> 7;
    state.random ^= state.random << 17;
    return ((double)(state.random >> 11) + 0.5) * 0x1p-53;
}

static double draw_normal(void) {
    double radius = sqrt(-2 * log(draw()));
    return radius * cos(6.283185307179586 * draw());
}

static void percentiles_are_values(void) {
    double values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i + 1;
    CHECK_NEAR(bp_nearest_rank(values, 100, 0.99), 99, 0);
    CHECK_NEAR(bp_nearest_rank(values, 99, 0.99), 99, 0);
    CHECK_NEAR(bp_nearest_rank(values, 40, 0.99), 40, 0);
    CHECK_NEAR(bp_nearest_rank(values, 20, 0.95), 19, 0);
    CHECK_NEAR(bp_nearest_rank(values, 12, 0.75), 9, 0);
    CHECK_NEAR(bp_nearest_rank(values, 1, 0.75), 1, 0);
    CHECK_NEAR(bp_nearest_rank(values, 0, 0.75), 0, 0);
}

static void quantiles_interpolate(void) {
    double values[] = {4, 1, 3, 2};
    bp_sort_values(values, 4);
    CHECK_NEAR(bp_quantile(values, 4, 0.5), 2.5, 1e-12);
    CHECK_NEAR(bp_quantile(values, 4, 0), 1, 0);
    CHECK_NEAR(bp_quantile(values, 4, 1), 4, 0);
    CHECK_NEAR(bp_quantile(values, 4, 0.9), 3.7, 1e-12);
    CHECK_NEAR(bp_quantile(values, 1, 0.99), 1, 0);
    CHECK_NEAR(bp_quantile(values, 0, 0.5), 0, 0);
}

static void whole_numbers(void) {
    CHECK_EQUAL(bp_whole(3.9), 3);
    CHECK_EQUAL(bp_whole(-1), 0);
    CHECK_EQUAL(bp_whole(NAN), 0);
    CHECK(bp_whole(3e19) == UINT64_MAX && bp_whole(INFINITY) == UINT64_MAX);
}

static void spreads(void) {
    double values[] = {1, 2, 4, 4, 9};
    CHECK_NEAR(bp_mean(values, 5), 4, 1e-12);
    CHECK_NEAR(bp_deviation(values, 5), sqrt(9.5), 1e-12);
    CHECK_NEAR(bp_deviation(values, 1), 0, 0);
    CHECK_NEAR(bp_median_distance(values, 5), 2, 1e-12);
    CHECK_NEAR(bp_median_distance(values, 0), 0, 0);
}

static void outliers_are_those_planted(void) {
    double alike[] = {1, 1, 1, 1, 1, 1, 1.9, 2.1};
    double limit = bp_outlier_limit(alike, COUNT(alike), 5);
    CHECK_NEAR(limit, pow(1.15, 5), 1e-12);
    double spread[] = {0.5, 0.5, 1, 2, 2}; /* median factor 2 */
    CHECK_NEAR(bp_outlier_limit(spread, 5, 5), 32, 1e-9);
    CHECK(isinf(bp_outlier_limit(spread, 4, 5)));
    double nothing[] = {0, 0, 0, 0, 0};
    CHECK(bp_outlier_limit(nothing, 5, 5) > 0);
}

static uint32_t count_outliers(double width, uint32_t count) {
    double values[400];
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        values[i] = 0.01 * exp(width * draw_normal());
    bp_sort_values(values, count);
    double limit = bp_outlier_limit(values, count, 5);
    while (found < count && values[count - 1 - found] > limit)
        found++;
    return found;
}

/* Run-to-run noise must never look like outliers. Where tasks differ by orders of magnitude, 5 MADs
 * are 3.4 deviations: one value in 2700 is beyond. */
static void noise_has_no_outliers(void) {
    for (int i = 0; i < 200; i++) {
        CHECK_EQUAL(count_outliers(0.02, 400), 0);
        CHECK_EQUAL(count_outliers(0.1, 400), 0);
    }
    uint32_t found = 0;
    for (int i = 0; i < 200; i++)
        found += count_outliers(1, 400);
    CHECK(found < 200 * 400 / 1000);
}

static void lines(void) {
    double x[] = {0, 1, 2, 3};
    double y[] = {1, 3, 5, 7};
    struct bp_line line = bp_line_fit(x, y, 4);
    CHECK_NEAR(line.intercept, 1, 1e-12);
    CHECK_NEAR(line.slope, 2, 1e-12);
    CHECK(bp_line_rises(&line));
    double flat[] = {1, 2, 2, 1};
    line = bp_line_fit(x, flat, 4);
    CHECK_NEAR(line.slope, 0, 1e-12);
    CHECK_NEAR(line.intercept, 1.5, 1e-12);
    CHECK_NEAR(line.slope_error, sqrt(1.0 / 2 / 5), 1e-12);
    CHECK(!bp_line_rises(&line));
    line = bp_line_fit(x, y, 2);
    CHECK(!bp_line_rises(&line)); /* two points are a line, whatever they are */
    line = bp_line_fit(x, y, 0);
    CHECK_NEAR(line.slope, 0, 0);
}

static void student(void) {
    static const struct {
        uint32_t degrees;
        double t;
    } table[] = {{1, 12.7062}, {2, 4.3027},  {3, 3.1824},  {4, 2.7764},
                 {9, 2.2622},  {30, 2.0423}, {399, 1.9659}};
    for (size_t i = 0; i < COUNT(table); i++)
        CHECK_NEAR(bp_student(table[i].degrees), table[i].t, 1e-4);
    CHECK(isinf(bp_student(0)));
    CHECK_NEAR(bp_student_at(1, 0.5), 1, 1e-9);
    CHECK_NEAR(bp_student_at(6, 0.999), 5.9588, 1e-4);
    CHECK_NEAR(bp_student_at(7, 0.99), 3.4995, 1e-4);
    CHECK_NEAR(bp_student_at(1000000000, 0.95), 1.96, 1e-3);
}

static void amdahl(void) {
    CHECK_NEAR(bp_amdahl(0.4, 4), 0.7, 1e-12);
    CHECK_NEAR(bp_amdahl(0, 6), 1, 0);
    CHECK_NEAR(bp_amdahl(1, 3), 1.0 / 3, 1e-12);
    CHECK_NEAR(bp_amdahl(0.25, INFINITY), 0.75, 1e-12);
}

static void histogram(void) {
    double values[] = {0.5, 1, 5, 15, 99, 100, 1000};
    uint32_t counts[2];
    bp_histogram(values, COUNT(values), 1, 100, 2, counts);
    CHECK_EQUAL(counts[0], 3);
    CHECK_EQUAL(counts[1], 4);
    bp_histogram(values, 3, 1, 1, 2, counts);
    CHECK_EQUAL(counts[0], 3);
}

int main(void) {
    RUN(quantiles_interpolate);
    RUN(percentiles_are_values);
    RUN(whole_numbers);
    RUN(spreads);
    RUN(outliers_are_those_planted);
    RUN(noise_has_no_outliers);
    RUN(lines);
    RUN(student);
    RUN(amdahl);
    RUN(histogram);
    return test_result();
}
