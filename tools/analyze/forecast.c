/* SPDX-License-Identifier: MIT
 *
 * What the measured tasks tell is learnt once; each simulated run then assumes a population, draws
 * its tasks and puts them on the places.
 */
#include "tools/analyze/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/statistics.h"

/* Simulated runs; fewer of long ones, so that a forecast takes no longer than some 100 ms. */
#define MOST_RUNS 1000
#define FEWEST_RUNS 300
#define MOST_DRAWS 2000000
/* Tasks drawn in a simulated run; of the rest each takes the mean of these. */
#define MOST_DRAWN 6000
/* Places that are simulated; more are so many times as fast. */
#define MOST_PLACES 64
/* Shortest time that logarithms are taken of, seconds. */
#define SHORTEST 1e-9
/* Two runs of the same program on the same machine differ by so much: standard deviation. */
#define RUN_TO_RUN 0.02
/* Standard deviation that the load of the machine adds at most: others' programs are no task. */
#define MOST_LOAD 0.25
/* What is assumed of a tail beside what the tasks tell: an exponent of about 2.5, as three more
 * tasks would show it, and never below 1.3. */
#define TAIL_TASKS 3
#define TAIL_EXCESS 1.2
#define LEAST_ALPHA 1.3
/* Part of the simulated runs that assume a lognormal population. With half of them, and exponents
 * of the Pareto tail as the tasks alone tell, the interval held 244 instead of 243 of the 252
 * generated runs like those of tests/unit/test_forecast.c, and was 4.42 instead of 1.16 times as
 * wide as the run. */
#define LOGNORMAL_RUNS 0.3
/* Part of them that assume a Pareto tail; in the others the longest tasks are like those measured.
 */
#define PARETO_RUNS 0.5
/* Simulated runs outside of the interval, below and above. The low side is cheap: it is near. */
#define BELOW 0.01
#define ABOVE 0.025
#define SEED UINT64_C(0x9e3779b97f4a7c15)

struct random {
    uint64_t state;
    double spare; /* normal draws are made in pairs */
    bool has_spare;
};

/* splitmix64 */
static uint64_t next(struct random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Above 0, up to 1. */
static double uniform(struct random *random) {
    return (double)((next(random) >> 11) + 1) * 0x1p-53;
}

/* Marsaglia's polar method: most of a forecast's time is spent here, and it needs no cosine. */
static double normal(struct random *random) {
    double x;
    double y;
    double square;
    random->has_spare = !random->has_spare;
    if (!random->has_spare)
        return random->spare;
    do {
        x = 2 * uniform(random) - 1;
        y = 2 * uniform(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square <= 0);
    double factor = sqrt(-2 * log(square) / square);
    random->spare = y * factor;
    return x * factor;
}

/* A draw from the gamma distribution with scale 1 and a shape of at least 1, by Marsaglia and
 * Tsang. */
static double gamma_draw(struct random *random, double shape) {
    double d = shape - 1.0 / 3;
    double c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(random);
        double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v > 0 && log(uniform(random)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

enum kind { LOGNORMAL, PARETO, MEASURED };

/* What the measured tasks tell, and the population that one simulated run assumes. */
struct population {
    uint32_t count;
    const double *sorted; /* logarithms of the times */
    double mean;
    double deviation;
    uint32_t tail;    /* of the longest tasks, which the Pareto tail is made of */
    double excess;    /* sum of their logarithms above the longest task below them */
    double bandwidth; /* by which a drawn task differs from the measured one it is like */
    enum kind kind;
    double drawn_mean;
    double drawn_deviation;
    double alpha;
    double *weights; /* sums over the measured tasks, rising */
    uint32_t *guide; /* the first task whose sum reaches each of as many equal parts of the whole */
};

static void learn(struct population *population, const double *sorted, uint32_t count) {
    *population = (struct population){.count = count, .sorted = sorted};
    population->mean = bp_mean(sorted, count);
    population->deviation = bp_deviation(sorted, count);
    population->tail = (uint32_t)fmax(2, ceil(sqrt(count)));
    if (population->tail > count - 1)
        population->tail = count - 1;
    for (uint32_t i = count - population->tail; i < count; i++)
        population->excess += sorted[i] - sorted[count - population->tail - 1];
    population->bandwidth = 0.5 * population->deviation * pow(count, -0.2);
    population->weights = bp_alloc(count, sizeof(*population->weights));
    population->guide = bp_alloc(count, sizeof(*population->guide));
}

static void make_guide(struct population *population) {
    uint32_t count = population->count;
    double part = population->weights[count - 1] / count;
    for (uint32_t i = 0, at = 0; i < count; i++) {
        while (at < count - 1 && population->weights[at] < i * part)
            at++;
        population->guide[i] = at;
    }
}

static void assume(struct population *population, struct random *random) {
    double freedom = population->count - 1;
    double sum = 0;
    double kind = uniform(random);
    population->kind = kind < LOGNORMAL_RUNS                 ? LOGNORMAL
                       : kind < LOGNORMAL_RUNS + PARETO_RUNS ? PARETO
                                                             : MEASURED;
    population->drawn_deviation =
        population->deviation * sqrt(freedom / (2 * gamma_draw(random, fmax(freedom / 2, 1))));
    population->drawn_mean =
        population->mean + normal(random) * population->drawn_deviation / sqrt(population->count);
    population->alpha =
        gamma_draw(random, population->tail + TAIL_TASKS) / (population->excess + TAIL_EXCESS);
    if (population->alpha < LEAST_ALPHA)
        population->alpha = LEAST_ALPHA;
    if (!(population->excess > 0))
        population->alpha = INFINITY; /* all alike */
    for (uint32_t i = 0; i < population->count; i++)
        population->weights[i] = sum -= log(uniform(random));
    make_guide(population);
}

/* A measured task, by its weight; `at` is above 0, up to 1. */
static uint32_t pick(const struct population *population, double at) {
    uint32_t last = population->count - 1;
    uint32_t part = (uint32_t)(at * population->count);
    uint32_t i = population->guide[part < last ? part : last];
    double sum = at * population->weights[last];
    while (i > 0 && population->weights[i - 1] >= sum) /* the rounding of parts */
        i--;
    while (i < last && population->weights[i] < sum)
        i++;
    return i;
}

/* The time of a task that was not measured. */
static double draw(const struct population *population, struct random *random) {
    if (population->kind == LOGNORMAL)
        return exp(population->drawn_mean + population->drawn_deviation * normal(random));
    uint32_t count = population->count;
    uint32_t like = pick(population, uniform(random));
    if (population->kind == MEASURED || like < count - population->tail)
        return exp(population->sorted[like] + population->bandwidth * normal(random));
    double above = -log(uniform(random)) / population->alpha;
    return exp(population->sorted[count - population->tail - 1] + above);
}

struct places {
    uint32_t count;
    double gap_s;
    double end_s[MOST_PLACES]; /* when each is free */
    double last_s;
};

static void put(struct places *places, double s) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < places->count; i++)
        if (places->end_s[i] < places->end_s[first])
            first = i;
    places->end_s[first] += s;
    places->last_s = fmax(places->last_s, places->end_s[first]);
    places->end_s[first] += places->gap_s;
}

static struct places make_places(uint32_t count, double gap_s) {
    double more = count > MOST_PLACES ? (double)count / MOST_PLACES : 1;
    return (struct places){.count = count > MOST_PLACES ? MOST_PLACES : count,
                           .gap_s = gap_s / more};
}

/* A task's time where more places than are simulated share the work. */
static double on_place(uint32_t places, double s) {
    return places > MOST_PLACES ? s * MOST_PLACES / places : s;
}

double bp_forecast_span(const double *times, uint32_t count, uint32_t places, double gap_s) {
    struct places all = make_places(places, gap_s);
    for (uint32_t i = 0; i < count; i++)
        put(&all, on_place(places, times[i]));
    return all.last_s;
}

/* Measured tasks first: a longer run has them, too. A shorter one has some of them. */
static struct places lay_measured(const struct bp_forecast_run *run, uint64_t tasks) {
    struct places places = make_places(run->places, run->gap_s);
    for (uint32_t i = 0; tasks > run->count && i < run->count; i++)
        put(&places, on_place(run->places, run->times[i]));
    return places;
}

/* `places` as the measured tasks leave them. */
static double simulate(const struct bp_forecast_run *run, const struct population *population,
                       struct random *random, uint64_t tasks, struct places places) {
    uint64_t more = tasks > run->count ? tasks - run->count : tasks;
    uint64_t drawn = more < MOST_DRAWN ? more : MOST_DRAWN;
    double sum_s = 0;
    double slower = exp(hypot(RUN_TO_RUN, fmin(run->load / 2, MOST_LOAD)) * normal(random));
    for (uint64_t i = 0; i < drawn; i++) {
        double s = draw(population, random);
        sum_s += s;
        put(&places, on_place(run->places, s));
    }
    double rest_s = drawn ? (sum_s / (double)drawn + run->gap_s) * (double)(more - drawn) : 0;
    double times = (double)tasks / run->count;
    double waste_s =
        run->waste_s > 0 ? run->waste_s * (1 + uniform(random) * (times - 1)) : run->waste_s;
    return run->once_s +
           slower * (places.last_s + rest_s / run->places + waste_s + run->each_s * (double)tasks);
}

static double *sort_logarithms(const struct bp_forecast_run *run) {
    double *sorted = bp_alloc(run->count, sizeof(*sorted));
    for (uint32_t i = 0; i < run->count; i++)
        sorted[i] = log(fmax(run->times[i], SHORTEST));
    bp_sort_values(sorted, run->count);
    return sorted;
}

struct bp_forecast bp_forecast(const struct bp_forecast_run *run, uint64_t tasks) {
    double runs = MOST_DRAWS / fmax((double)(tasks < MOST_DRAWN ? tasks : MOST_DRAWN), 1);
    uint32_t count = (uint32_t)fmax(fmin(runs, MOST_RUNS), FEWEST_RUNS);
    double *walls = bp_alloc(count, sizeof(*walls));
    double *sorted = sort_logarithms(run);
    struct random random = {.state = SEED};
    struct places measured = lay_measured(run, tasks);
    struct population population;
    learn(&population, sorted, run->count);
    for (uint32_t i = 0; i < count; i++) {
        assume(&population, &random);
        walls[i] = simulate(run, &population, &random, tasks, measured);
    }
    bp_sort_values(walls, count);
    struct bp_forecast forecast = {bp_quantile(walls, count, BELOW), bp_quantile(walls, count, 0.5),
                                   bp_quantile(walls, count, 1 - ABOVE)};
    free(population.weights);
    free(population.guide);
    free(sorted);
    free(walls);
    return forecast;
}
