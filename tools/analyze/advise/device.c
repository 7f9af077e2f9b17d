/* SPDX-License-Identifier: MIT
 *
 * A device that had little to do, and the start of CUDA, which is paid once whatever comes after.
 */
#include <stdio.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* A device that is used less than this waits for the host. */
#define IDLE_PART 0.2
/* Part of the wall from which on the start of CUDA is what a run consists of. */
#define DOMINATES 0.3
/* Part of the wall below which a first call is no part of it. */
#define PART_OF_START 0.05
/* Part of the wall from which on the start leaves too little of it to speak of. */
#define MOST 0.8
/* A first call that takes so many times what the others take has started something. */
#define LONGER 10

static bool has_dsl(const struct bp_model *model) {
    return model->wall.category_s[BP_DSL] > 0;
}

/* What starts CUDA: the calls that were first and long. */
struct start {
    double s; /* of the wall; 0 if they were not most of it */
    double longest_s;
    uint32_t function; /* with the longest of them */
};

/* The first call, where that is unknown the longest: a trace of another tool has no contexts. */
static double first_call(const struct bp_function *function) {
    return function->first_s > 0 ? function->first_s : function->max_s;
}

/* Whichever call is the first one starts CUDA. One that copies, waits for kernels or pins memory is
 * long for reasons of its own. */
static double start_in(const struct bp_function *function) {
    double own_s = function->self_s - function->transfer_s - function->kernel_wait_s;
    double first_s = first_call(function);
    double others_s = own_s - first_s;
    if (!function->cuda || function->calls == 0 || bp_advise_is_pinning(function->name) ||
        own_s < function->self_s / 2)
        return 0;
    bool longer =
        function->calls == 1 || first_s > LONGER * others_s / (double)(function->calls - 1);
    return longer ? bp_function_wall_rate(function) * first_s : 0;
}

/* Libraries start with the first call that needs them: cuDNN, the modules with the kernels. */
static struct start find_start(const struct bp_model *model) {
    struct start start = {0};
    for (uint32_t i = 0; i < model->function_count; i++) {
        double s = start_in(&model->functions[i]);
        if (s < PART_OF_START * model->wall.total_s)
            continue;
        start.s += s;
        if (s > start.longest_s) {
            start.longest_s = s;
            start.function = i;
        }
    }
    if (!(start.s > DOMINATES * model->wall.total_s))
        start.s = 0;
    return start;
}

static void advise_start(struct bp_analysis *analysis, const struct start *start) {
    const struct bp_model *model = analysis->model;
    bool one = start->longest_s >= start->s;
    bp_advise_remark(
        analysis,
        bp_make_text("starting CUDA took %s, %s of the wall, %s %s", BP_SENTENCE_TIME(start->s),
                     BP_SHARE(start->s, model->wall.total_s), one ? "in" : "most of it in",
                     model->functions[start->function].name),
        bp_make_text(
            "it is paid once per process, however long the run; batches do not change it"));
}

/* What it would save depends on what could be given to it: see the candidates. */
static void advise_idle(struct bp_analysis *analysis, const struct bp_model_device *device,
                        double start_s) {
    const struct bp_model *model = analysis->model;
    double wall_s = model->cuda.wall_s - start_s;
    char number[24] = "";
    if (!(device->busy_s > 0) || device->busy_s > IDLE_PART * wall_s || device->kernels_unknown ||
        start_s > MOST * model->cuda.wall_s)
        return;
    if (model->cuda.device_count > 1)
        snprintf(number, sizeof(number), "device %u, ", device->index);
    bp_advise_remark(analysis,
                     bp_make_text("%s%s%s was idle for %s of the wall%s", number,
                                  device->simulated ? "the simulated " : "", device->name,
                                  BP_SHARE(wall_s - device->busy_s, wall_s),
                                  start_s > 0 ? " after the start of CUDA" : ""),
                     bp_make_text("larger batches or more streams would use it%s",
                                  has_dsl(model) ? " (--by candidate)" : ""));
}

void bp_advise_idle_device(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    struct start start = find_start(model);
    if (start.s > 0)
        advise_start(analysis, &start);
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        advise_idle(analysis, &model->cuda.devices[i], start.s);
}
