/* SPDX-License-Identifier: MIT
 *
 * GPU candidates: see priority.h.
 */
#include "tools/analyze/priority.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/priority_internal.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"

/* Without a device in the run: a launch and a small pageable copy on a T4 of a cloud machine, and
 * the rate of its pageable copies (cuda/sim/presets.def has the sources). */
#define ASSUMED_LAUNCH_S 4e-6
#define ASSUMED_COPY_S 10e-6
#define ASSUMED_RATE 6e9
/* Share of a call: a smaller gain is rounding, not a batch of billions. */
#define LEAST_GAIN 1e-6

/* Speed-ups of a function that authors of ports have reported, by priority: what is large is
 * usually better suited. */
static const double factors[][2] = {
    [BP_MINIMAL] = {1, 1}, [BP_LOW] = {2, 4}, [BP_MEDIUM] = {2, 4}, [BP_HIGH] = {3, 6}};

enum bp_priority bp_priority_of(const struct bp_levels *levels, double percent) {
    if (percent > levels->high)
        return BP_HIGH;
    if (percent > levels->medium)
        return BP_MEDIUM;
    return percent > levels->low ? BP_LOW : BP_MINIMAL;
}

const char *bp_priority_name(enum bp_priority priority) {
    static const char *const names[] = {"-", "LOW", "MEDIUM", "HIGH"};
    return names[priority];
}

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* What a CUDA call of this sort takes on the host by itself, transfer and waiting aside; 0 if there
 * was none. */
static double call_overhead(const struct bp_model *model, const char *runtime, const char *driver) {
    uint64_t calls = 0;
    double time_s = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (!function->cuda ||
            (!begins(function->name, runtime) && !begins(function->name, driver)))
            continue;
        calls += function->calls;
        time_s += function->self_s - function->transfer_s - function->kernel_wait_s;
    }
    return calls && time_s > 0 ? time_s / (double)calls : 0;
}

static struct bp_device_cost device_cost(const struct bp_model *model) {
    struct bp_device_cost cost = {.launch_s = call_overhead(model, "cudaLaunch", "cuLaunch")};
    const struct bp_model_device *device = NULL;
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        if (!device || model->cuda.devices[i].busy_s > device->busy_s)
            device = &model->cuda.devices[i];
    cost.launch_known = cost.launch_s > 0;
    if (!cost.launch_known)
        cost.launch_s = ASSUMED_LAUNCH_S;
    for (int i = 0; i < 2; i++) {
        if (device && device->latency_s[i] > 0)
            cost.copy_s[i] = device->latency_s[i] + call_overhead(model, "cudaMemcpy", "cuMemcpy");
        cost.rate[i] = device ? device->best[i] : 0;
    }
    for (int i = 0; i < 2; i++) {
        cost.copy_known[i] = cost.copy_s[i] > 0;
        if (!cost.copy_known[i])
            cost.copy_s[i] = ASSUMED_COPY_S;
        if (!(cost.rate[i] > 0))
            cost.rate[i] = ASSUMED_RATE;
    }
    return cost;
}

/* Bytes that the function copies itself; -1 where it copies none, so what it would have to copy is
 * not known. */
static void set_bytes(const struct bp_model *model, struct bp_candidate *candidate) {
    double calls = (double)model->functions[candidate->function].calls;
    double sums[2] = {0, 0};
    bool known = false;
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++) {
        const struct bp_model_transfer *transfer = &model->cuda.transfers[i];
        if (transfer->caller != candidate->function || transfer->direction > BP_D2H)
            continue;
        sums[transfer->direction] += (double)transfer->bytes;
        known = true;
    }
    for (int i = 0; i < 2; i++)
        candidate->bytes[i] = known && calls > 0 ? sums[i] / calls : -1;
}

/* With the smaller of the two speed-ups: who ports a function should not be disappointed. */
static void judge(const struct bp_device_cost *device, struct bp_candidate *candidate) {
    double bytes_s = 0;
    for (int i = 0; i < 2; i++)
        if (candidate->bytes[i] > 0)
            bytes_s += candidate->bytes[i] / device->rate[i];
    double latency_s = bp_device_latency(device);
    double work_s = candidate->call_s / candidate->factor[0];
    double gain_s = candidate->call_s - work_s - bytes_s;
    candidate->device_s = latency_s + bytes_s + work_s;
    bool gains = gain_s > LEAST_GAIN * candidate->call_s;
    candidate->break_even = gains ? ceil(latency_s / gain_s) : INFINITY;
    candidate->verdict = candidate->break_even <= 1                     ? BP_MOVE
                         : candidate->break_even <= candidate->together ? BP_BATCH
                                                                        : BP_KEEP;
    if (candidate->line.spot)
        candidate->verdict = BP_LINE; /* what is left without it is another function */
}

static bool has_device(const struct bp_candidate *candidate) {
    return candidate->verdict == BP_BATCH || candidate->verdict == BP_MOVE;
}

/* At best launches and copies are nothing beside a large batch; at worst each call has its own, or
 * as many as can be made at once share them. What stays on the CPU might become faster there. */
static void set_run(const struct bp_device_cost *device, struct bp_candidate *candidate,
                    double wall_s) {
    double each_s = candidate->device_s;
    if (candidate->verdict == BP_BATCH)
        each_s -= bp_device_latency(device) * (1 - 1 / candidate->together);
    double least =
        !has_device(candidate) || !(each_s > 0) ? candidate->factor[0] : candidate->call_s / each_s;
    candidate->after_s[0] = wall_s * bp_amdahl(candidate->share, candidate->factor[1]);
    candidate->after_s[1] = wall_s * bp_amdahl(candidate->share, least);
}

double bp_device_latency(const struct bp_device_cost *device) {
    return device->launch_s + device->copy_s[0] + device->copy_s[1];
}

static void add_candidate(struct bp_priorities *priorities, const struct bp_model *model,
                          const struct bp_levels *levels, uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    double share = function->wall_s / model->wall.total_s;
    enum bp_priority priority = bp_priority_of(levels, 100 * share);
    if (priority == BP_MINIMAL)
        return;
    struct bp_candidate *candidate = BP_APPEND(priorities->candidates, priorities->candidate_count);
    candidate->function = number;
    candidate->priority = priority;
    candidate->share = share;
    candidate->call_s = function->calls ? function->self_s / (double)function->calls : 0;
    for (int i = 0; i < 2; i++)
        candidate->factor[i] = factors[priority][i];
    candidate->together = (double)function->calls / (function->tasks ? function->tasks : 1);
    candidate->line = bp_model_main_line(model, number);
    set_bytes(model, candidate);
    judge(&priorities->device, candidate);
    set_run(&priorities->device, candidate, model->wall.total_s);
}

static int compare_candidates(const void *a, const void *b) {
    const struct bp_candidate *x = a;
    const struct bp_candidate *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->function < y->function ? -1 : 1;
}

bool bp_candidate_counts(const struct bp_candidate *candidate) {
    return candidate->priority >= BP_MEDIUM && has_device(candidate);
}

/* All of HIGH and MEDIUM together: shares of different functions do not overlap. */
static void sum_up(struct bp_priorities *priorities, double wall_s) {
    for (int i = 0; i < 2; i++) {
        priorities->after_s[i] = wall_s;
        for (uint32_t k = 0; k < priorities->candidate_count; k++)
            if (bp_candidate_counts(&priorities->candidates[k]))
                priorities->after_s[i] -= wall_s - priorities->candidates[k].after_s[i];
    }
}

struct bp_priorities *bp_priorities_new(const struct bp_model *model,
                                        const struct bp_levels *levels) {
    struct bp_priorities *priorities = bp_alloc(1, sizeof(*priorities));
    priorities->device = device_cost(model);
    for (uint32_t i = 0; model->wall.total_s > 0 && i < model->function_count; i++)
        if (model->functions[i].category == BP_DSL && bp_function_used(&model->functions[i]))
            add_candidate(priorities, model, levels, i);
    if (priorities->candidate_count)
        qsort(priorities->candidates, priorities->candidate_count, sizeof(*priorities->candidates),
              compare_candidates);
    sum_up(priorities, model->wall.total_s);
    bp_priority_framework(priorities, model, levels);
    return priorities;
}

void bp_priorities_free(struct bp_priorities *priorities) {
    if (!priorities)
        return;
    for (uint32_t i = 0; i < priorities->part_count; i++)
        free(priorities->parts[i].label);
    free(priorities->parts);
    free(priorities->candidates);
    free(priorities);
}
