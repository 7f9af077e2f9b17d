/* SPDX-License-Identifier: MIT
 *
 * Runs that recorded CUDA in different ways (`run --cuda`, or no device records came): what one of
 * them cannot see must not look new, gone, faster or slower. Only device records show kernels,
 * and what of a call was copying or waiting for them; without calls their time is their callers'.
 */
#include <stdio.h>
#include <string.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/text.h"

const char *bp_diff_mode_name(int mode) {
    static const char *const names[] = {"off", "wrappers", "transfers", "full"};
    return mode >= BP_CUDA_OFF && mode <= BP_CUDA_FULL ? names[mode] : NULL;
}

/* A process that asked for records and got none has what its calls tell. */
static int mode_of_process(const struct bp_profile *profile) {
    const struct bp_collector *collector = profile->collector;
    if (!collector)
        return profile->header.flags & BP_NO_CUDA ? BP_CUDA_OFF : BP_DIFF_NO_CUDA;
    if (collector->state >= BP_COLLECTOR_ACTIVE)
        return (int)collector->mode;
    bool used = profile->transfer_count || strcmp(collector->reason, "no CUDA driver") != 0;
    return used ? BP_CUDA_WRAPPERS : BP_DIFF_NO_CUDA;
}

/* The mode of the process that tells most: children of fork are without records everywhere. */
static int mode_of(const struct bp_diff_run *runs, uint32_t count) {
    int most = BP_DIFF_NO_CUDA;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < runs[i].model->process_count; k++) {
            int mode = mode_of_process(runs[i].model->processes[k].profile);
            most = mode > most ? mode : most;
        }
    return most;
}

/* What both sides tell; BP_CUDA_FULL if they tell the same or one has no CUDA. */
static int common_mode(const struct bp_diff *diff) {
    int a = diff->old_side.cuda;
    int b = diff->new_side.cuda;
    if (a == b || a == BP_DIFF_NO_CUDA || b == BP_DIFF_NO_CUDA)
        return BP_CUDA_FULL;
    return a < b ? a : b;
}

static struct bp_diff_row *find_row(struct bp_diff *diff, const struct bp_function *function) {
    for (uint32_t i = 0; i < diff->row_count; i++) {
        struct bp_diff_row *row = &diff->rows[i];
        if (row->function && row->function->kind == function->kind &&
            strcmp(row->name, function->name) == 0 &&
            strcmp(row->function->module, function->module) == 0 &&
            strcmp(row->function->library, function->library) == 0)
            return row;
    }
    return NULL;
}

static void mark_callers(struct bp_diff *diff, const struct bp_model *model) {
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        const struct bp_context *parent = &model->contexts[context->parent];
        if (!context->parent || !model->functions[context->function].cuda)
            continue;
        struct bp_diff_row *row = find_row(diff, &model->functions[parent->function]);
        if (row)
            row->other = true;
    }
}

static void mark(struct bp_diff_row *row, int mode) {
    bool of_cuda = row->cuda || row->kind == BP_DIFF_TRANSFER || row->kind == BP_DIFF_KERNEL;
    bool memset = row->kind == BP_DIFF_TRANSFER && strcmp(row->name, "memset") == 0;
    bool sum = row->kind == BP_DIFF_CATEGORY || row->kind == BP_DIFF_SPLIT;
    bool group = row->kind == BP_DIFF_GROUP || sum;
    if (row->kind == BP_DIFF_KERNEL || (memset && mode < BP_CUDA_TRANSFERS))
        row->other = row->unseen = true;
    else if (mode == BP_CUDA_OFF && (of_cuda || group))
        row->other = row->unseen = true;
    else if (row->kind != BP_DIFF_TRANSFER || mode < BP_CUDA_TRANSFERS)
        row->other = of_cuda || sum;
}

void bp_diff_mark_modes(struct bp_diff *diff) {
    uint32_t old_count = diff->old_side.count;
    diff->old_side.cuda = mode_of(diff->runs, old_count);
    diff->new_side.cuda = mode_of(diff->runs + old_count, diff->new_side.count);
    int mode = common_mode(diff);
    for (uint32_t i = 0; mode < BP_CUDA_FULL && i < diff->row_count; i++)
        mark(&diff->rows[i], mode);
    for (uint32_t i = 0; mode == BP_CUDA_OFF && i < diff->run_count; i++)
        mark_callers(diff, diff->runs[i].model);
}

char *bp_diff_describe_modes(const struct bp_diff *diff) {
    static const char *const left_out[] = {
        "CUDA is not compared, nor is the time of functions that call it",
        "kernels and the times of copies and CUDA calls are not compared",
        "kernels and the times of CUDA calls are not compared"};
    int mode = common_mode(diff);
    if (mode == BP_CUDA_FULL)
        return NULL;
    return bp_make_text("OLD was recorded with --cuda=%s, NEW with --cuda=%s: %s.",
                        bp_diff_mode_name(diff->old_side.cuda),
                        bp_diff_mode_name(diff->new_side.cuda), left_out[mode]);
}
