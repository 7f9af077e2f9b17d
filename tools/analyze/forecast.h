/* SPDX-License-Identifier: MIT
 *
 * How long a run of more tasks may take, by simulating it many times: the measured tasks and more
 * that are drawn from what they tell, one after the other on so many places. Pure functions;
 * nothing here knows of profiles. The same input gives the same figures: the seed is fixed.
 *
 * A few tasks of a heavy tail hold few long ones or none, so their mean and their spread are too
 * low. Every simulated run therefore assumes a population of its own, as far from the measured
 * tasks as chance allows: a lognormal one whose mean and deviation are drawn anew, or the measured
 * tasks themselves, with other weights and a Pareto tail in place of the longest.
 */
#ifndef BP_TOOLS_ANALYZE_FORECAST_H
#define BP_TOOLS_ANALYZE_FORECAST_H

#include <stdint.h>

struct bp_forecast_run {
    const double *times; /* of the measured tasks, in the order of their starts */
    uint32_t count;
    uint32_t places; /* at which tasks run side by side */
    double gap_s;    /* between two tasks on a place */
    double once_s;   /* paid once, but for `waste_s` */
    double each_s;   /* paid for every task beside its own time, by the whole run */
    double waste_s;  /* time of the places that the order of tasks does not explain: paid once,
                        or for every task, or in between: one run does not tell */
    double load;     /* part of their time for which threads had no CPU: others' load may go, or
                        double */
};

/* Between low and high lie 96.5 % of the simulated runs, and of real ones about 95 %. */
struct bp_forecast {
    double low_s;
    double median_s;
    double high_s;
};

struct bp_forecast bp_forecast(const struct bp_forecast_run *run, uint64_t tasks);

/* From the first start to the last end of tasks on places that each take the next one. */
double bp_forecast_span(const double *times, uint32_t count, uint32_t places, double gap_s);

#endif
