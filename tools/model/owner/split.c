/* SPDX-License-Identifier: MIT
 *
 * Every pool (tools/model/pool.h) is divided once more, as group.c divides it among functions: what
 * was blocked is waiting, the rest goes by its samples, or whole where they are too few. Importing
 * is what its group says, whoever's code it runs; waits and file I/O are what they are.
 */
#include "tools/model/owner/split.h"

#include <string.h>

#include "tools/model/pool.h"

/* Shares of the wall below which the rest of a sum, and any row, are not worth a line. */
#define LEAST_UNKNOWN 0.005
#define LEAST_ROW 0.0005

static const struct {
    const char *key;
    const char *name;
} rows[] = {
#define ROW(id, key, name) {key, name},
#include "tools/model/owner/split.def"
#undef ROW
};

const char *bp_split_key(enum bp_split_row row) {
    return rows[row].key;
}

const char *bp_split_name(enum bp_split_row row) {
    return rows[row].name;
}

bool bp_split_is_shown(const struct bp_model *model, enum bp_split_row row) {
    double least = row == BP_SPLIT_UNKNOWN ? LEAST_UNKNOWN : LEAST_ROW;
    double wall_s = model->split.rows[row].wall_s;
    return wall_s > 0 && wall_s >= least * model->wall.total_s;
}

enum bp_split_row bp_split_row_of(const struct bp_function *function) {
    static const enum bp_split_row by_owner[] = {
        [BP_OWNER_UNKNOWN] = BP_SPLIT_UNKNOWN,
        [BP_OWNER_USER] = BP_SPLIT_YOURS,
        [BP_OWNER_LIBRARY] = BP_SPLIT_LIBRARIES,
        [BP_OWNER_STANDARD] = BP_SPLIT_STANDARD,
    };
    if (function->cuda)
        return BP_SPLIT_CUDA;
    if (function->category == BP_TRANSFER)
        return BP_SPLIT_TRANSFER;
    if (function->kind == BP_FUNC_WAIT)
        return BP_SPLIT_WAITING;
    return function->kind == BP_FUNC_IO ? BP_SPLIT_IO : by_owner[function->owner];
}

/* A file that an import reads is a part of it. */
static enum bp_split_row row_of(const struct bp_function *node, const struct bp_function *owner,
                                const char *group) {
    enum bp_split_row row = bp_split_row_of(node);
    bool plain = node->kind != BP_FUNC_WAIT && row != BP_SPLIT_CUDA && row != BP_SPLIT_TRANSFER;
    if (plain && strcmp(group, BP_GROUP_IMPORT) == 0)
        return BP_SPLIT_IMPORT;
    return plain && node->kind != BP_FUNC_IO ? bp_split_row_of(owner) : row;
}

static void add(struct bp_model *model, enum bp_split_row row, double wall_s, double thread_s) {
    model->split.rows[row].wall_s += wall_s;
    model->split.rows[row].thread_s += thread_s;
}

/* What samples cannot speak for, and the whole of pools that they do not divide. */
static void add_pool(struct bp_model *model, const struct bp_pool *pool) {
    const struct bp_function *node = &model->functions[pool->function];
    double blocked = pool->self_s > 0 ? pool->blocked_s / pool->self_s : 0;
    add(model, BP_SPLIT_WAITING, pool->wall_s * blocked, pool->self_s * blocked);
    if (!bp_pool_is_divided(pool))
        add(model, row_of(node, node, pool->group), pool->wall_s * (1 - blocked),
            pool->self_s * (1 - blocked));
}

static void add_sample(struct bp_model *model, const struct bp_pool *pool,
                       const struct bp_pool_sample *sample) {
    const struct bp_function *node = &model->functions[pool->function];
    double part = sample->weight / pool->weight;
    double running = pool->self_s > 0 ? 1 - pool->blocked_s / pool->self_s : 1;
    add(model, row_of(node, &model->functions[sample->view.owner], sample->view.group),
        pool->wall_s * running * part, pool->self_s * running * part);
}

/* CUDA's calls have all that they did so far: what was transfer and what kernels is known. */
static void divide_cuda(struct bp_model *model) {
    struct bp_split_time *split = model->split.rows;
    double kernels_s = model->wall.kernel_wait_s + model->wall.dsl_kernel_wait_s;
    double thread_s = model->thread_time.kernel_wait_s + model->thread_time.dsl_kernel_wait_s;
    double moved_s = model->wall.category_s[BP_TRANSFER] - split[BP_SPLIT_TRANSFER].wall_s;
    double moved_thread_s =
        model->thread_time.category_s[BP_TRANSFER] - split[BP_SPLIT_TRANSFER].thread_s;
    add(model, BP_SPLIT_TRANSFER, moved_s, moved_thread_s);
    add(model, BP_SPLIT_KERNELS, kernels_s, thread_s);
    add(model, BP_SPLIT_CUDA, -moved_s - kernels_s, -moved_thread_s - thread_s);
}

/* Was anything said to be the DSL, or looked like one? */
static bool has_dsl(const struct bp_model *model) {
    const char *python = bp_model_variable(model, "BATTPROF_PYTHON");
    if (bp_rules_name_dsl(model->rules) || model->wall.category_s[BP_DSL] > 0 ||
        (python[0] && strcmp(python, "none") != 0))
        return true;
    for (uint32_t i = 0; i < model->function_count; i++)
        if (model->functions[i].category == BP_DSL)
            return true;
    return false;
}

void bp_model_split_by_owner(struct bp_model *model, const struct bp_pools *pools) {
    for (uint32_t i = 0; i < pools->count; i++)
        add_pool(model, &pools->pools[i]);
    for (uint32_t i = 0; i < pools->sample_count; i++) {
        const struct bp_pool *pool = &pools->pools[pools->samples[i].pool];
        if (bp_pool_is_divided(pool))
            add_sample(model, pool, &pools->samples[i]);
    }
    divide_cuda(model);
    add(model, BP_SPLIT_WAITING, model->wall.idle_s, 0);
    add(model, BP_SPLIT_START, model->wall.start_s, 0);
    add(model, BP_SPLIT_PROFILER, model->wall.overhead_s, model->thread_time.overhead_s);
    add(model, BP_SPLIT_PAUSED, model->wall.paused_s, model->thread_time.paused_s);
    add(model, BP_SPLIT_UNKNOWN, model->wall.unsplit_s, 0);
    model->split.leads = !has_dsl(model);
}
