/* SPDX-License-Identifier: MIT
 *
 * Reads the samples of all threads into pools, and finds the time that no sample can speak for: a
 * thread that was blocked out of our sight was on no CPU, so nobody sampled it. Such time is taken
 * out of the nodes that have more self time than their samples explain.
 */
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/line/internal.h"

/* Less is noise: of the CPU clock, or of few samples. */
#define BLOCKED_S 0.01
#define BLOCKED_PART 0.05

struct reading {
    struct bp_model *model;
    struct bp_pools *pools;
    struct bp_line_reading *lines;
    struct bp_path path;
    struct bp_keys stacks;
};

/* CPU samples of one thread by node, in seconds: a new array. */
static double *weigh_nodes(const struct bp_profile_thread *thread) {
    double *weight = bp_alloc(thread->node_count, sizeof(*weight));
    for (uint32_t i = 0; i < thread->sample_count; i++)
        if (thread->samples[i].kind == BP_SAMPLE_CPU)
            weight[thread->samples[i].node] += 1e-9 * (double)thread->samples[i].weight;
    return weight;
}

/* Nodes whose time samples divide; the others are what their name says. */
static bool is_divided(const struct bp_model *model, uint32_t function) {
    uint32_t kind = model->functions[function].kind;
    return kind != BP_FUNC_WAIT && kind != BP_FUNC_IO && !model->functions[function].cuda;
}

/* An ended thread's clocks have told how long it was blocked. Of one that lives, or was killed, the
 * samples themselves are the clock; then time without a CPU counts as well. */
static double blocked_time(const struct bp_model_thread *thread, double self_s, double sampled_s) {
    if (!(sampled_s > 0))
        return 0; /* not sampled: nothing is known */
    double blocked_s = thread->has_clocks ? thread->blocked_s : self_s - sampled_s;
    if (blocked_s > self_s)
        blocked_s = self_s;
    return blocked_s >= BLOCKED_S && blocked_s >= BLOCKED_PART * self_s ? blocked_s : 0;
}

static void find_blocked(struct reading *reading, uint32_t number, const double *weight) {
    const struct bp_model_thread *thread = &reading->model->threads[number];
    const struct bp_thread_work *work = &reading->model->work->threads[number];
    uint32_t count = thread->source->node_count;
    double self_s = 0;
    double sampled_s = 0;
    double excess_s = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_divided(reading->model, work->function[i])) {
            self_s += work->self_s[i];
            sampled_s += weight[i];
        }
    double blocked_s = blocked_time(thread, self_s, sampled_s);
    double rate = sampled_s > 0 ? (self_s - blocked_s) / sampled_s : 0;
    double *excess = bp_alloc(count, sizeof(*excess));
    for (uint32_t i = 0; blocked_s > 0 && i < count; i++)
        if (is_divided(reading->model, work->function[i]) && work->self_s[i] > rate * weight[i])
            excess_s += excess[i] = work->self_s[i] - rate * weight[i];
    for (uint32_t i = 0; excess_s > 0 && i < count; i++) {
        double s = blocked_s * excess[i] / excess_s;
        reading->pools->pools[reading->pools->of[work->context[i]]].blocked_s += s;
        reading->model->contexts[work->context[i]].blocked_s += s;
    }
    free(excess);
}

static void add_sample(struct reading *reading, const struct bp_profile_thread *thread,
                       const struct bp_stack_frame *frames, const struct bp_sample *sample,
                       uint32_t context) {
    struct bp_pools *pools = reading->pools;
    struct bp_pool_sample *item = BP_APPEND(pools->samples, pools->sample_count);
    bp_path_read(&reading->path, reading->model, thread, frames, sample, context);
    for (uint32_t i = 0; i < reading->path.count; i++)
        reading->model->functions[reading->path.steps[i].function].on_stacks = true;
    item->view = bp_path_view(&reading->path, reading->model);
    item->pool = pools->of[context];
    item->context = context;
    item->count = sample->count;
    item->weight = 1e-9 * (double)sample->weight;
    pools->pools[item->pool].samples += item->count;
    reading->model->samples.count += item->count;
    pools->pools[item->pool].weight += item->weight;
}

static void read_thread(struct reading *reading, struct bp_stack_reader *reader, uint32_t number) {
    const struct bp_profile_thread *thread = reading->model->threads[number].source;
    const struct bp_thread_work *work = &reading->model->work->threads[number];
    struct bp_stack_frame *frames = bp_stack_frames(reader, thread);
    double *weight = weigh_nodes(thread);
    for (uint32_t i = 0; i < thread->sample_count; i++)
        if (thread->samples[i].kind == BP_SAMPLE_CPU)
            add_sample(reading, thread, frames, &thread->samples[i],
                       work->context[thread->samples[i].node]);
    find_blocked(reading, number, weight);
    bp_line_read_thread(reading->lines, reader, thread, work, frames, reading->pools);
    bp_stack_fold(reading->model, &reading->stacks, number, frames);
    free(weight);
    free(frames);
}

static bool was_sampled(const struct bp_profile *profile) {
    return profile->sampler && profile->sampler->state != BP_SAMPLER_OFF;
}

void bp_pools_read_samples(struct bp_pools *pools, struct bp_model *model,
                           struct bp_line_reading *lines) {
    struct reading reading = {.model = model, .pools = pools, .lines = lines};
    for (uint32_t process = 0; process < model->process_count; process++) {
        struct bp_stack_reader reader;
        if (!was_sampled(model->processes[process].profile))
            continue;
        model->samples.on = true;
        bp_stack_reader_init(&reader, model, process);
        for (uint32_t i = 0; i < model->thread_count; i++)
            if (model->threads[i].process == process)
                read_thread(&reading, &reader, i);
        bp_stack_reader_fini(&reader);
    }
    bp_path_fini(&reading.path);
    bp_keys_fini(&reading.stacks);
}
