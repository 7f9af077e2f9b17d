/* SPDX-License-Identifier: MIT
 *
 * Forecasts of generated runs whose longer run is known: tasks of heavy tails on one to eight
 * places, 10 to 100 of them, three to ten times as many. The interval must hold the truth in 9 of
 * 10, and not by being wide.
 */
#include <math.h>

#include "tests/unit/test.h"
#include "tools/analyze/forecast.h"
#include "tools/base/statistics.h"

#define MOST 1000
#define RUNS 6 /* of each kind and number of tasks */

static uint64_t state = 12345;

static double uniform(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)((state >> 11) + 1) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

enum kind {
    LOGNORMAL,
    WIDE_LOGNORMAL,
    PARETO_3,
    PARETO_2,
    PARETO_1_5,
    BIMODAL,
    FAR_BIMODAL,
    KINDS
};

/* Seconds. */
static double draw_task(enum kind kind) {
    switch (kind) {
    case LOGNORMAL:
        return exp(normal());
    case WIDE_LOGNORMAL:
        return exp(1.5 * normal());
    case PARETO_3:
        return pow(uniform(), -1.0 / 3);
    case PARETO_2:
        return pow(uniform(), -1.0 / 2);
    case PARETO_1_5:
        return pow(uniform(), -1.0 / 1.5);
    case BIMODAL:
        return (uniform() < 0.25 ? 8 : 1) * exp(0.1 * normal());
    default:
        return (uniform() < 0.15 ? 20 : 1) * exp(0.3 * normal());
    }
}

/* Whether the interval holds the longer run; `width` as a part of it. */
static bool holds(enum kind kind, uint32_t count, double *width) {
    static double times[MOST];
    uint32_t places = 1 + (uint32_t)(7.999 * uniform());
    uint32_t more = count * (3 + (uint32_t)(7.999 * uniform()));
    for (uint32_t i = 0; i < more; i++)
        times[i] = draw_task(kind);
    struct bp_forecast_run run = {.times = times, .count = count, .places = places, .once_s = 1};
    struct bp_forecast forecast = bp_forecast(&run, more);
    double truth_s = 1 + bp_forecast_span(times, more, places, 0);
    *width = (forecast.high_s - forecast.low_s) / truth_s;
    return forecast.low_s <= truth_s && truth_s <= forecast.high_s;
}

static void heavy_tails(void) {
    static double widths[3 * KINDS * RUNS];
    static const uint32_t counts[] = {10, 30, 100};
    uint32_t held = 0;
    uint32_t all = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < 3; n++)
            for (int i = 0; i < RUNS; i++, all++)
                held += holds((enum kind)kind, counts[n], &widths[all]);
    bp_sort_values(widths, all);
    double median = bp_quantile(widths, all, 0.5);
    printf("%u of %u held, median width %.2f of the run\n", held, all, median);
    CHECK(held >= 0.9 * all);
    CHECK(median < 1.6);
}

/* Places that take the next task: 3, 1 and 1 s on two places are 3 s, and 0.5 s between the ones.
 */
static void span(void) {
    double times[] = {3, 1, 1, 1};
    CHECK_NEAR(bp_forecast_span(times, 3, 2, 0), 3, 1e-9);
    CHECK_NEAR(bp_forecast_span(times, 4, 2, 0), 3, 1e-9);
    CHECK_NEAR(bp_forecast_span(times, 4, 2, 0.5), 4, 1e-9);
    CHECK_NEAR(bp_forecast_span(times, 4, 1, 0), 6, 1e-9);
}

/* Alike tasks are known but for what two runs differ by; a far scale needs no more time. */
static void alike(void) {
    double times[] = {1, 1, 1, 1};
    struct bp_forecast_run run = {.times = times, .count = 4, .places = 1};
    struct bp_forecast forecast = bp_forecast(&run, 1000000);
    CHECK_NEAR(forecast.median_s, 1e6, 1e4);
    CHECK(forecast.low_s > 0.9e6 && forecast.high_s < 1.1e6);
    run.load = 0.4;
    CHECK(bp_forecast(&run, 1000000).high_s > 1.2e6);
}

/* Half of the places' time had no task: paid once, or for each. */
static void waste(void) {
    double times[] = {1, 1, 1, 1};
    struct bp_forecast_run run = {.times = times, .count = 4, .places = 1, .waste_s = 4};
    struct bp_forecast forecast = bp_forecast(&run, 40);
    CHECK(forecast.low_s < 52 && forecast.high_s > 72);
}

int main(void) {
    RUN(span);
    RUN(alike);
    RUN(waste);
    RUN(heavy_tails);
    return test_result();
}
