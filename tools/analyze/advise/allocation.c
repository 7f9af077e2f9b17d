/* SPDX-License-Identifier: MIT
 *
 * Advice on CUDA's allocation, of device memory and of pinned host memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* Fewer calls are set-up, not a habit. */
#define MANY 50
/* Part of the wall from which on even a few calls are worth a line. */
#define MUCH 0.1
/* Starting CUDA takes so long at most, and whichever call is the first one does it. */
#define START_S 1.0

static bool begins_with(const char *name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

bool bp_advise_is_pinning(const char *name) {
    static const char *const words[] = {"cudaHostAlloc",    "cudaMallocHost",   "cudaFreeHost",
                                        "cudaHostRegister", "cuMemHostAlloc",   "cuMemAllocHost",
                                        "cuMemFreeHost",    "cuMemHostRegister"};
    return begins_with(name, words, sizeof(words) / sizeof(words[0]));
}

static bool is_allocation(const char *name) {
    static const char *const words[] = {"cudaMalloc", "cudaFree", "cuMemAlloc", "cuMemFree"};
    return bp_advise_is_pinning(name) || begins_with(name, words, sizeof(words) / sizeof(words[0]));
}

/* How much of a few calls could be spared is unknown, and so is whether the first is long because
 * of its pages. */
static void few_calls(struct bp_analysis *analysis, uint32_t number, double own_s, double first_s) {
    const struct bp_model *model = analysis->model;
    const struct bp_function *function = &model->functions[number];
    if (!bp_advise_is_pinning(function->name) ||
        own_s - fmin(first_s, START_S) < MUCH * model->wall.total_s)
        return;
    char *caller = bp_advise_callers(model, number);
    bp_advise_remark(analysis,
                     bp_make_text("%s: %s takes %s of the wall, in %s call%s", caller,
                                  function->name, BP_SHARE(own_s, model->wall.total_s),
                                  BP_COUNT(function->calls), function->calls == 1 ? "" : "s"),
                     bp_make_text("every page is pinned or released: keep one smaller buffer and "
                                  "use it again"));
    free(caller);
}

/* Allocation synchronises and is slow: a program that allocates again and again need not. */
static void many_calls(struct bp_analysis *analysis, uint32_t number, double saves_s) {
    const struct bp_function *function = &analysis->model->functions[number];
    char *caller = bp_advise_callers(analysis->model, number);
    bp_advise(
        analysis, number, saves_s, 0,
        bp_make_text("%s: %s called %s times", caller, function->name, BP_COUNT(function->calls)),
        bp_make_text(bp_advise_is_pinning(function->name)
                         ? "keep the memory"
                         : "keep the memory, or take it from a pool (cudaMallocAsync)"));
    free(caller);
}

/* The first call of each context is made all the same, and with it what only the first one has to
 * do: a context takes some 20 ms or more. */
static void allocations(struct bp_analysis *analysis, uint32_t number) {
    const struct bp_model *model = analysis->model;
    const struct bp_function *function = &model->functions[number];
    if (!function->cuda || !is_allocation(function->name) || function->calls == 0)
        return;
    double rate = bp_function_wall_rate(function);
    double own_s = function->self_s - function->transfer_s - function->kernel_wait_s;
    /* Unknown in a trace of another tool, and in format 1.1: then it is the longest. */
    double first_s = function->firsts_s > 0 ? function->firsts_s : function->max_s;
    first_s = fmax(first_s, own_s / (double)function->calls);
    if (function->calls < MANY)
        few_calls(analysis, number, rate * own_s, rate * first_s);
    else
        many_calls(analysis, number, rate * (own_s - first_s));
}

void bp_advise_allocations(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    for (uint32_t i = 0; i < model->function_count; i++)
        allocations(analysis, i);
}
