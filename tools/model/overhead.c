/* SPDX-License-Identifier: MIT
 *
 * What one call cost the program. The target measured it at its start, in a loop whose code and
 * data were in the caches. In the program they often are not: what Python calls cost within our
 * library was 1.7 to 2.6 times as much as measured in most programs tried. How much it is in this
 * run the samples tell: those that found a thread within our own code, beside those that the
 * measured costs lead one to expect. With few samples what is usual weighs more.
 */
#include <math.h>

#include "tools/model/internal.h"

/* What is usual of native and of Python calls, and the number of samples that it weighs as much
 * as. */
#define USUAL 1.0
#define USUAL_PYTHON 2.3
#define USUAL_SAMPLES 12.0
/* Python calls do not cost less than in the loop that measured them. */
#define LEAST_PYTHON 1.0
/* More is other work of ours than calls: files, new functions. */
#define MOST 4.0
/* A native call makes the program's own code slower, too. Fitted to one program, run_batt, where 33
 * of 44 ns are spent within the library; the cause (branches predicted wrongly?) is unknown. */
#define AROUND 1.33
/* What 3.12 and later pass on costs more than a native call, most of it in the interpreter: a
 * quarter of a native call is ours. It takes 1.2 to 1.7 times as long as measured. Fitted to one
 * program, copy.deepcopy of lists. */
#define EVENT 1.5
#define EVENT_WITHIN 0.25
/* A sample's way through the kernel and the caches that it leaves behind are not measured: 32 us
 * instead of 14 in Python, next to nothing in small native loops. */
#define SAMPLE 1.5
#define SAMPLE_ERROR 0.5
/* Relative error of AROUND and its like, in 95 of 100 cases. */
#define MODEL_ERROR 0.15

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
    double factor = process->cold.factor;
    if (!is_python(process->profile, func))
        factor *= process->cold.around;
    return (struct bp_call_overhead){cost.inside * factor, cost.outside * factor};
}

/* Up to 3.11 the unit is a step of a generator, which is cheap; later an event is. */
static bool passes_events(const struct bp_header *header) {
    return header->python_passed > header->inside + header->outside;
}

double bp_model_passed_overhead(const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    double factor = passes_events(header) ? process->cold.event : process->cold.factor;
    return header->python_passed / 256.0 * factor;
}

/* Ticks within the library if calls cost what was measured. Of a Python call the interpreter has a
 * part; ours is that of a native call. */
static double expect_node(const struct bp_profile *profile, const struct bp_node *node) {
    const struct bp_header *header = &profile->header;
    struct bp_call_overhead cost = bp_model_measured_overhead(profile, node->func);
    double ticks = cost.inside + cost.outside;
    if (is_python(profile, node->func))
        ticks = fmin(ticks, (header->inside + header->outside) / 256.0);
    return (double)bp_node_calls(node) * ticks;
}

static double expect(const struct bp_profile *profile) {
    const struct bp_header *header = &profile->header;
    double passed = header->python_passed / 256.0;
    if (passes_events(header))
        passed = EVENT_WITHIN * (header->inside + header->outside) / 256.0;
    double ticks = 0;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct bp_profile_thread *thread = &profile->threads[i];
        for (uint32_t k = 0; k < thread->node_count; k++) {
            ticks += k > 0 ? expect_node(profile, &thread->nodes[k]) : 0;
            ticks += (double)thread->nodes[k].passed * passed;
        }
    }
    return ticks;
}

/* Without samples costs are as measured, and may be twice that. */
void bp_model_find_cold(struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    const struct bp_sampler *sampler = process->profile->sampler;
    process->cold = (struct bp_cold){1, 1, 1, 1, 1, 0};
    if (!sampler || !sampler->weight || !sampler->taken)
        return;
    double each = 1e-9 * (double)sampler->weight / (double)sampler->taken;
    double known_s = (double)(header->task_time + header->python_start) * process->tick_s;
    double seen = fmax((double)sampler->within_count - known_s / each, 0);
    double expected = expect(process->profile) * process->tick_s / each;
    int python = header->python_inside + header->python_outside > 0;
    double usual = python ? USUAL_PYTHON : USUAL;
    double factor = (USUAL_SAMPLES + seen) / (USUAL_SAMPLES / usual + expected);
    double chance = 2 / sqrt(USUAL_SAMPLES + seen);
    process->cold.factor = fmin(python ? fmax(factor, LEAST_PYTHON) : factor, MOST);
    process->cold.around = AROUND;
    process->cold.sample = SAMPLE;
    process->cold.event = EVENT;
    process->cold.error = sqrt(chance * chance + MODEL_ERROR * MODEL_ERROR);
    process->cold.rest = fmax(seen - process->cold.factor * (expected + USUAL_SAMPLES), 0) * each;
}

double bp_model_overhead_error(const struct bp_model_process *process, double calls_s,
                               double samples_s) {
    double calls = process->cold.error * calls_s;
    double samples = SAMPLE_ERROR * samples_s;
    return sqrt(calls * calls + samples * samples);
}
