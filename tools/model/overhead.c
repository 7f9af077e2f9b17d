/* SPDX-License-Identifier: MIT
 *
 * What one call cost the program. The target measured it at its start, in a loop whose code and
 * data were in the caches. In the program a Python call costs more, and the more the rarer it is:
 * the work between two calls takes the caches and branch predictions that the hook needs, and the
 * hook takes those of the work. So the factor follows from the share of the measured costs in the
 * CPU time of the run. Samples that found a thread within our own code correct it, as far as the
 * hook is our own code; from Python 3.12 on most of it is CPython's.
 *
 * A native call is too short for that: what it costs depends on how much of it the processor does
 * beside the program's own instructions. Next to chains of dependent ones it was a fifth of the
 * measured cost, in programs 0.8 to 1.3 times as much, by machine.
 */
#include <math.h>

#include "tools/model/internal.h"

/* A Python call costs 1 + COLD * (1 - exp(-1 / (WARM * share))) times what was measured: 1.5 at a
 * share of 8 %, 4 at 1 %. Found with two programs on 3.8 to 3.13 and checked on another machine
 * with one. From 3.12 on CPython's own way to us is longer. */
#define COLD 6.0
#define COLD_EVENTS 8.0
#define WARM 150.0
/* Number of samples that this weighs as much as. */
#define USUAL_SAMPLES 50.0
/* Python calls do not cost less than in the loop that measured them. */
#define LEAST_PYTHON 1.0
/* More is other work of ours than calls: files, new functions. */
#define MOST 7.0
/* Standard deviations that chance makes of the number of samples. */
#define CHANCE 3.0
/* What 3.12 and later pass on takes 1.2 to 1.7 times as long as measured even where there is
 * nothing else. Fitted to one program, copy.deepcopy of lists. */
#define EVENT 1.5
/* A sample's way through the kernel and the caches that it leaves behind are not measured: 32 us
 * instead of 14 in Python, next to nothing in small native loops. */
#define SAMPLE 1.5
#define SAMPLE_ERROR 0.5
/* Relative error of the factor, in 95 of 100 cases. */
#define MODEL_ERROR 0.3
/* Samples do not come independently of one another: after each the next is 1 to 2d - 1 calls away.
 * A program whose calls are long and short in waves of 1.65 d calls meets that worst. Then the
 * variance of their mean is so many times that of independent ones: 1.13 with d = 4, 1.25 with 64.
 * No other order of calls has more. */
#define WAVES(part) (1.26 - 0.51 * (part))
/* Fewer say nothing. */
#define LEAST_SAMPLES 4

static bool is_python(const struct bp_profile *profile, uint32_t func) {
    const struct bp_header *header = &profile->header;
    return profile->funcs[func].flags & BP_FUNC_PYTHON &&
           header->python_inside + header->python_outside > 0;
}

struct bp_call_overhead bp_model_measured_overhead(const struct bp_profile *profile,
                                                   uint32_t func) {
    const struct bp_header *header = &profile->header;
    uint32_t kind = profile->funcs[func].kind;
    if (is_python(profile, func))
        return (struct bp_call_overhead){header->python_inside / 256.0,
                                         header->python_outside / 256.0};
    if (kind == BP_FUNC_CALL)
        return (struct bp_call_overhead){header->inside / 256.0, header->outside / 256.0};
    if (kind == BP_FUNC_WAIT || kind == BP_FUNC_IO)
        return (struct bp_call_overhead){header->slow_inside / 256.0, header->slow_outside / 256.0};
    return (struct bp_call_overhead){0, 0};
}

struct bp_call_overhead bp_model_call_overhead(const struct bp_model_process *process,
                                               uint32_t func) {
    struct bp_call_overhead cost = bp_model_measured_overhead(process->profile, func);
    bool python = is_python(process->profile, func);
    double factor = python ? process->cold.python : process->cold.native;
    return (struct bp_call_overhead){cost.inside * factor, cost.outside * factor};
}

/* Up to 3.11 the unit is a step of a generator, which is cheap; later an event is. */
static bool passes_events(const struct bp_header *header) {
    return header->python_passed > header->inside + header->outside;
}

double bp_model_passed_overhead(const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    double factor = process->cold.python;
    if (passes_events(header))
        factor = fmax(factor, EVENT);
    return header->python_passed / 256.0 * factor;
}

/* What calls cost as measured, in ticks. */
struct warm {
    double native, python;
};

/* What it took to count so many calls. */
static double counting_ticks(const struct bp_header *header, double untimed, double jumped) {
    return ((untimed - jumped) * header->untimed + jumped * header->jumped) / 256.0;
}

static void add_warm(struct warm *warm, const struct bp_profile *profile,
                     const struct bp_profile_thread *thread) {
    for (uint32_t i = 0; i < thread->node_count; i++) {
        const struct bp_node *node = &thread->nodes[i];
        struct bp_call_overhead cost = bp_model_measured_overhead(profile, node->func);
        double timed = (double)(bp_node_calls(node) - node->untimed);
        double ticks = i > 0 ? timed * (cost.inside + cost.outside) : 0;
        ticks +=
            counting_ticks(&profile->header, (double)node->untimed, (double)bp_node_jumped(node));
        *(is_python(profile, node->func) ? &warm->python : &warm->native) += ticks;
        warm->python += (double)node->passed * (profile->header.python_passed / 256.0);
    }
}

static struct warm find_warm(const struct bp_profile *profile) {
    struct warm warm = {0, 0};
    for (uint32_t i = 0; i < profile->thread_count; i++)
        add_warm(&warm, profile, &profile->threads[i]);
    return warm;
}

/* Where a process was killed, samples know more than clocks that nobody read. */
static double cpu_seconds(const struct bp_model_process *process) {
    const struct bp_profile *profile = process->profile;
    double clocks_ns = 0, samples_ns = 0;
    for (uint32_t i = 0; i < profile->thread_count; i++)
        clocks_ns += (double)profile->threads[i].info.cpu_ns;
    if (profile->sampler)
        samples_ns = (double)profile->sampler->weight;
    double seconds = 1e-9 * fmax(clocks_ns, samples_ns);
    return seconds > 0 ? seconds : process->lifetime_s;
}

static double usual_python(const struct bp_model_process *process, double warm_s) {
    double most = passes_events(&process->profile->header) ? COLD_EVENTS : COLD;
    return warm_s > 0 ? 1 + most * (1 - exp(-cpu_seconds(process) / (WARM * warm_s))) : 1;
}

/* Seconds within the library that samples found, and that a sample stands for; 0 without any. */
struct within {
    double seconds, each;
};

static struct within find_within(const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    const struct bp_sampler *sampler = process->profile->sampler;
    if (!sampler || !sampler->weight || !sampler->taken)
        return (struct within){0, 0};
    double each = 1e-9 * (double)sampler->weight / (double)sampler->taken;
    double known_s = (double)(header->task_time + header->python_start) * process->tick_s;
    return (struct within){fmax((double)sampler->within_count * each - known_s, 0), each};
}

/* `warm_s` as measured, `usual` times as much, `seen_s` by samples. */
static double weigh(double warm_s, double usual, double seen_s, double each) {
    double most_s = USUAL_SAMPLES * each;
    return warm_s > 0 ? (most_s + seen_s) / (most_s / usual + warm_s) : usual;
}

void bp_model_find_cold(struct bp_model_process *process) {
    struct warm warm = find_warm(process->profile);
    struct within within = find_within(process);
    double native_s = warm.native * process->tick_s, python_s = warm.python * process->tick_s;
    double usual = usual_python(process, python_s);
    struct bp_cold *cold = &process->cold;
    *cold = (struct bp_cold){.native = 1, .python = usual, .sample = SAMPLE, .error = MODEL_ERROR};
    if (within.each <= 0)
        return;
    bool ours = !passes_events(&process->profile->header);
    if (python_s > native_s && ours)
        cold->python = weigh(python_s, usual, fmax(within.seconds - native_s, 0), within.each);
    else if (native_s > python_s)
        cold->native = weigh(native_s, 1, fmax(within.seconds - python_s, 0), within.each);
    cold->python = fmin(fmax(cold->python, LEAST_PYTHON), MOST);
    cold->native = fmin(cold->native, MOST);
    double calls_s = cold->native * native_s + cold->python * python_s;
    double chance_s = CHANCE * sqrt((within.seconds + calls_s) * within.each);
    cold->rest = fmax(within.seconds - calls_s - chance_s, 0);
}

/* Calls that were counted only took on average what the timed ones among them did.
 * docs/internals/adaptive.md has the statistics, tests/unit/test_estimates.c sees whether they are
 * true. */
static double mean_of(const struct bp_node *node) {
    if (node->sampled_weight)
        return (double)node->sampled_self / (double)node->sampled_weight;
    uint64_t timed = bp_node_calls(node) - node->untimed - node->aborted;
    return timed ? (double)node->self / (double)timed : 0;
}

/* Overhead in the mean, in ticks. */
static double inside_of(const struct bp_header *header, const struct bp_node *node) {
    if (!node->sampled_weight)
        return header->inside / 256.0;
    double other = (double)node->sampled_other / (double)node->sampled_weight;
    return (header->sampled_inside + header->sampled_other * other) / 256.0;
}

/* Without samples it is what all calls before took. */
double bp_model_untimed_mean(const struct bp_model_process *process, const struct bp_node *node) {
    double inside = inside_of(&process->profile->header, node);
    return node->untimed ? fmax(mean_of(node) - inside, 0) : 0;
}

/* What samples cost more than other timed calls is theirs. */
double bp_model_untimed_overhead(const struct bp_model_process *process, const struct bp_node *node,
                                 double untimed, double sampled) {
    const struct bp_header *header = &process->profile->header;
    double more = fmax((double)header->sampled_outside - (double)header->outside, 0);
    double part = node->untimed ? (double)bp_node_jumped(node) / (double)node->untimed : 0;
    double ticks = counting_ticks(header, untimed, untimed * part) + sampled * more / 256.0;
    return ticks * process->cold.native;
}

/* The square of by how much more than 1.96 standard errors a mean of so many independent samples
 * may be off in 95 of 100 cases: Student's distribution, to 1 % (Wallace). */
static double student(double count) {
    double freedom = count - 1;
    double scale = (freedom - 5 / 6.0) / (freedom - 2 / 3.0 + 0.1 / freedom);
    return freedom * expm1(1.96 * 1.96 * scale * scale / freedom) / (1.96 * 1.96);
}

/* By how much the mean of the calls that were only counted may be off, squared. What it is off from
 * the mean of all calls is theirs alone, for samples are off by nothing. */
static double variance_of(const struct bp_node *node) {
    double mean = mean_of(node), weight = (double)node->sampled_weight;
    double weights = (double)node->sampled_weight_squares;
    double count = fmax(weight * weight / weights, LEAST_SAMPLES);
    double squares = (double)node->sampled_squares - 2 * mean * (double)node->sampled_self_twice +
                     mean * mean * weights;
    double calls = (double)(node->untimed + node->sampled);
    double all = calls / (double)node->untimed;
    squares = fmax(squares, 0) * count / (count - 1);
    return student(count) * all * all * WAVES((double)node->sampled / calls) * squares / weight /
           weight;
}

/* How much one more of the longest samples would change the mean: samples that are longer than most
 * by far are few, and none at all may have been met of some. */
static double most_of(const struct bp_node *node) {
    double weight = (double)node->sampled_weight;
    double usual = mean_of(node) * (double)node->sampled_weight_squares / weight;
    return fmax((double)node->sampled_most - usual, 0) / weight;
}

/* The samples' error adds up by squares, that of the overhead in them as it is. */
void bp_model_add_untimed(struct bp_model *model, const struct bp_model_process *process,
                          uint32_t number, const struct bp_node *node) {
    struct bp_function *function = &model->functions[number];
    double untimed = (double)node->untimed * process->tick_s;
    if (!node->untimed)
        return;
    bool known = node->sampled >= LEAST_SAMPLES && node->sampled_most;
    double mean = mean_of(node), variance = known ? variance_of(node) : mean * mean;
    function->untimed += node->untimed;
    function->sampled += node->sampled;
    function->untimed_inside_s += untimed * inside_of(&process->profile->header, node);
    function->untimed_variance += untimed * untimed * variance;
    if (known)
        function->untimed_skew += untimed * untimed * variance * untimed * most_of(node);
}

double bp_model_overhead_error(const struct bp_model_process *process, double calls_s,
                               double samples_s) {
    double calls = process->cold.error * calls_s;
    double samples = SAMPLE_ERROR * samples_s;
    return sqrt(calls * calls + samples * samples);
}
