/* SPDX-License-Identifier: MIT
 *
 * What a call of a function took. Durations are recorded as they were, with the overhead
 * of the calls made meanwhile in them; totals are corrected. What is the call's own cost is known
 * and taken out of each; of the rest every call is taken to have its share in proportion to its
 * duration, so that mean and quantiles tell of the same calls.
 */
#include "tools/model/call.h"

#include "tools/model/internal.h"

/* Calls that were only counted are as long as the timed ones, but for long ones: after the first of
 * those all calls are timed. */
static void spread_untimed(struct bp_node *node, double tick_s) {
    unsigned end = bp_bucket((uint64_t)(BP_LONGEST_UNTIMED_S / tick_s));
    uint64_t timed = 0, seen = 0, given = 0;
    for (unsigned i = 0; i < end; i++)
        timed += node->histogram[i];
    for (unsigned i = 0; i < end && node->untimed; i++) {
        seen += node->histogram[i];
        double part = timed ? (double)seen / (double)timed : i + 1 == end;
        uint64_t until = seen == timed ? node->untimed : (uint64_t)(part * (double)node->untimed);
        node->histogram[i] += until - given;
        given = until;
    }
}

/* Adds durations that were sorted into buckets of another tick. */
static void add_histogram(struct bp_call_times *times, const struct bp_node *recorded, double ratio,
                          double tick_s) {
    bool same = ratio > 0.99 && ratio < 1.01;
    struct bp_node copy = *recorded, *node = &copy;
    spread_untimed(node, tick_s);
    for (unsigned i = 0; i < BP_BUCKETS; i++) {
        if (node->histogram[i] == 0)
            continue;
        double low = (double)bp_bucket_low(i) * ratio;
        unsigned to = same ? i : bp_bucket(low < 0x1p48 ? (uint64_t)low : UINT64_MAX);
        times->histogram[to] += node->histogram[i];
        times->returned += node->histogram[i];
    }
}

static double positive(double value) {
    return value > 0 ? value : 0;
}

/* The extremes of a node's calls that returned. */
static void add_extremes(struct bp_function *function, const struct bp_node *node, double inside,
                         double tick_s, bool is_first) {
    double shortest = positive(((double)node->min - inside) * tick_s);
    double longest = ((double)node->min + (double)node->span - inside) * tick_s;
    double first = ((double)node->first - inside) * tick_s;
    if (is_first || shortest < function->min_s)
        function->min_s = shortest;
    if (longest > function->max_s)
        function->max_s = longest;
    if (first > function->first_s)
        function->first_s = first;
}

/* Where a function calls itself, a duration has the cost of many calls in it, not that of one. */
void bp_model_count_calls(struct bp_model *model, uint32_t number, const struct bp_node *node,
                          const struct bp_node_times *times, double tick_s) {
    struct bp_function *function = &model->functions[number];
    struct bp_function_work *work = &model->work->functions[number];
    struct bp_call_times *sum = &model->call_times[number];
    double inside = node->inner ? 0 : times->inside;
    uint64_t before = sum->returned;
    add_histogram(sum, node, tick_s / model->run.tick_s, tick_s);
    uint64_t returned = sum->returned - before;
    double calls = (double)(returned + node->aborted - node->untimed); /* with overhead in them */
    function->calls += returned + node->aborted;
    function->aborted += node->aborted;
    work->recorded_s += (times->recorded - inside * calls) * tick_s;
    work->total_s += times->total * tick_s;
    function->total_overhead_s += (times->recorded - times->total) * tick_s;
    double durations = (double)node->total + (double)node->inner + times->moved;
    work->durations_s += (durations - inside * calls) * tick_s;
    if (returned == 0)
        return;
    sum->inside_s += inside * tick_s * (double)returned;
    function->firsts_s += positive(((double)node->first - inside) * tick_s);
    add_extremes(function, node, inside, tick_s, before == 0);
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/* The duration of the call of this rank, 1 for the shortest. The two ends are known; within a
 * bucket durations are taken as evenly spread. */
static double duration_at(const struct bp_function *function, const struct bp_call_times *times,
                          uint64_t rank, double tick_s) {
    double inside_s = times->inside_s / (double)times->returned;
    uint64_t seen = 0;
    if (rank <= 1 || rank >= times->returned)
        return rank <= 1 ? function->min_s : function->max_s;
    for (unsigned i = 0; i < BP_BUCKETS; seen += times->histogram[i++]) {
        if (seen + times->histogram[i] < rank)
            continue;
        double low = (double)bp_bucket_low(i) * tick_s - inside_s;
        double high = (i < 6 ? 8 : (double)bp_bucket_low(i + 1)) * tick_s - inside_s;
        low = clamp(low, function->min_s, function->max_s);
        high = clamp(high, function->min_s, function->max_s);
        double place = ((double)(rank - seen) - 0.5) / (double)times->histogram[i];
        return low + (high - low) * place;
    }
    return function->max_s;
}

/* The median is that of two where there are two in the middle; the 99th percentile is a call. */
static void find_quantiles(struct bp_function *function, const struct bp_call_times *times,
                           double tick_s) {
    uint64_t n = times->returned;
    function->median_s = (duration_at(function, times, (n + 1) / 2, tick_s) +
                          duration_at(function, times, n / 2 + 1, tick_s)) /
                         2;
    function->p99_s = duration_at(function, times, n - n / 100, tick_s);
}

/* A call of a generator or coroutine is recorded until it is made; what it does when it is resumed
 * is in its total alone. Older profiles do not say which functions these are. */
static bool is_by_pieces(const struct bp_function *function) {
    return function->module[0] && function->aborted == 0 &&
           bp_function_mean(function) > 1.001 * function->max_s + 1e-9;
}

void bp_model_finish_calls(struct bp_model *model, uint32_t number) {
    struct bp_function *function = &model->functions[number];
    const struct bp_function_work *work = &model->work->functions[number];
    double part = work->recorded_s > 0 ? clamp(work->total_s / work->recorded_s, 0, 1) : 1;
    function->calls_s = work->recorded_s > 0 ? positive(work->durations_s) * part : work->total_s;
    const struct bp_call_times *times = &model->call_times[number];
    if (times->returned > 0)
        find_quantiles(function, times, model->run.tick_s);
    function->min_s *= part;
    function->median_s *= part;
    function->p99_s *= part;
    function->max_s *= part;
    function->first_s *= part;
    function->by_pieces |= is_by_pieces(function);
    function->untold = function->by_pieces || (function->calls > 0 && times->returned == 0);
}

double bp_calls_shortest(const struct bp_model *model, uint32_t function, uint64_t count) {
    const struct bp_call_times *times = &model->call_times[function];
    double overhead_s = times->returned ? times->inside_s / (double)times->returned : 0;
    uint64_t left = count;
    double sum = 0;
    for (unsigned i = 0; i + 1 < BP_BUCKETS && left > 0; i++) {
        uint64_t taken = times->histogram[i] < left ? times->histogram[i] : left;
        sum += (double)taken * (double)(bp_bucket_low(i) + bp_bucket_low(i + 1)) / 2;
        left -= taken;
    }
    double mean_s = count > left ? sum / (double)(count - left) * model->run.tick_s : 0;
    return positive(mean_s - overhead_s);
}
