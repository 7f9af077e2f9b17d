/* SPDX-License-Identifier: MIT
 *
 * Which pool a context's own time goes to. Its group is that of the function itself, unless that
 * only says how the time was spent (a write, a lock) or nothing: then that of its nearest caller
 * that says what for, as far out as the DSL. So a write below the logger is logging, and a write of
 * the program's own is file I/O.
 */
#include "tools/model/pool.h"

#include "tools/base/text.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

static bool has_purpose(const struct bp_function *function) {
    return function->kind != BP_FUNC_ROOT && !bp_group_is_means(function->group);
}

/* Contexts come after their parents, so one pass is enough: a new array. */
static const char **context_groups(const struct bp_model *model) {
    const char **groups = bp_alloc(model->context_count, sizeof(*groups));
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        const struct bp_function *function = &model->functions[context->function];
        groups[i] = function->group;
        if (has_purpose(function) || context->parent == 0)
            continue;
        const struct bp_function *caller =
            &model->functions[model->contexts[context->parent].function];
        const char *outer = groups[context->parent];
        if (caller->category != BP_DSL && !caller->begins_work && !bp_group_is_means(outer))
            groups[i] = outer;
    }
    return groups;
}

/* CPU samples say nothing about waiting. Of I/O they can only say what it was for. */
static bool is_whole(const struct bp_function *function, const char *group) {
    return function->kind == BP_FUNC_WAIT || function->cuda ||
           (function->kind == BP_FUNC_IO && !bp_group_is_means(group));
}

void bp_pools_init(struct bp_pools *pools, struct bp_model *model) {
    struct bp_keys table = {0};
    *pools = (struct bp_pools){.groups = context_groups(model)};
    pools->of = bp_alloc(model->context_count, sizeof(*pools->of));
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        char *key = bp_make_text("%u %s", context->function, pools->groups[i]);
        uint32_t number = bp_keys_put(&table, key, strlen(key));
        free(key);
        if (number == pools->count) {
            struct bp_pool *fresh = BP_APPEND(pools->pools, pools->count);
            fresh->function = context->function;
            fresh->group = pools->groups[i];
            fresh->whole = is_whole(&model->functions[context->function], fresh->group);
        }
        pools->of[i] = number;
        pools->pools[number].calls += context->calls;
        pools->pools[number].self_s += context->self_s;
        pools->pools[number].wall_s += context->wall_s;
        pools->pools[number].idle_s += context->idle_s;
    }
    bp_keys_fini(&table);
}

void bp_pools_fini(struct bp_pools *pools) {
    free(pools->groups);
    free(pools->of);
    free(pools->pools);
    free(pools->samples);
}

static int compare_context_parts(const void *a, const void *b) {
    const struct bp_context_part *x = a;
    const struct bp_context_part *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->part != y->part)
        return x->part > y->part ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* A pool's time is divided by all of its samples, so a context has what its own samples have of
 * that: then all contexts together have what the pool's function has on the other pages. */
static double part_of_context(const struct bp_model *model, const struct bp_pools *pools,
                              const struct bp_context_part *part, double weight) {
    const struct bp_context *context = &model->contexts[part->context];
    const struct bp_pool *pool = &pools->pools[pools->of[part->context]];
    double pool_s = (pool->self_s - pool->blocked_s) * weight / pool->weight;
    double own_s = context->self_s - context->blocked_s;
    return own_s > pool_s ? pool_s / own_s : 1;
}

/* What samples found in each context's own time, of those that were sampled often enough. */
void bp_model_make_context_parts(struct bp_model *model, const struct bp_pools *pools) {
    struct bp_keys table = {0};
    for (uint32_t i = 0; i < pools->sample_count; i++) {
        const struct bp_pool_sample *sample = &pools->samples[i];
        if (!bp_pool_is_divided(&pools->pools[sample->pool]))
            continue; /* as the other pages */
        uint32_t key[2] = {sample->context, sample->view.owner};
        uint32_t number = bp_keys_put(&table, key, sizeof(key));
        if (number == model->context_part_count) {
            struct bp_context_part *fresh =
                BP_APPEND(model->context_parts, model->context_part_count);
            fresh->context = sample->context;
            fresh->function = sample->view.owner;
        }
        model->context_parts[number].samples += sample->count;
        model->context_parts[number].part += sample->weight;
    }
    for (uint32_t i = 0; i < model->context_part_count; i++)
        model->context_parts[i].part =
            part_of_context(model, pools, &model->context_parts[i], model->context_parts[i].part);
    if (model->context_part_count)
        qsort(model->context_parts, model->context_part_count, sizeof(*model->context_parts),
              compare_context_parts);
    bp_keys_fini(&table);
}
