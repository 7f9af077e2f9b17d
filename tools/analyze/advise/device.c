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
/* A first call that takes so many times what the others take has started something. */
#define LONGER 10

static bool has_dsl(const struct bp_model *model) {
    return model->wall.category_s[BP_DSL] > 0;
}

/* Whichever call is the first one starts CUDA. One that copies, waits for kernels or pins memory is
 * long for reasons of its own. */
static double start_in(const struct bp_function *function) {
    double own_s = function->self_s - function->transfer_s - function->kernel_wait_s;
    double others_s = own_s - function->first_s;
    if (!function->cuda || function->calls == 0 || bp_advise_is_pinning(function->name) ||
        own_s < function->self_s / 2)
        return 0;
    bool longer = function->calls == 1 ||
                  function->first_s > LONGER * others_s / (double)(function->calls - 1);
    return longer ? bp_function_wall_rate(function) * function->first_s : 0;
}

/* Seconds of the wall that starting CUDA took; 0 if nothing was that long. */
static double find_start(const struct bp_model *model, uint32_t *function) {
    double longest_s = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        double s = start_in(&model->functions[i]);
        if (s > longest_s) {
            longest_s = s;
            *function = i;
        }
    }
    return longest_s > DOMINATES * model->wall.total_s ? longest_s : 0;
}

static void advise_start(struct bp_analysis *analysis, double start_s, uint32_t function) {
    const struct bp_model *model = analysis->model;
    bp_advise_remark(
        analysis,
        bp_make_text("starting CUDA took %s, %s of the wall, in %s", BP_SENTENCE_TIME(start_s),
                     BP_SHARE(start_s, model->wall.total_s), model->functions[function].name),
        bp_make_text(
            "it is paid once per process, however long the run; batches do not change it"));
}

/* What it would save depends on what could be given to it: see the candidates. */
static void advise_idle(struct bp_analysis *analysis, const struct bp_model_device *device,
                        double start_s) {
    const struct bp_model *model = analysis->model;
    double wall_s = model->cuda.wall_s - start_s;
    char number[24] = "";
    if (!(device->busy_s > 0) || device->busy_s > IDLE_PART * wall_s || device->kernels_unknown)
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
    uint32_t function = 0;
    double start_s = find_start(model, &function);
    if (start_s > 0)
        advise_start(analysis, start_s, function);
    for (uint32_t i = 0; i < model->cuda.device_count; i++)
        advise_idle(analysis, &model->cuda.devices[i], start_s);
}
