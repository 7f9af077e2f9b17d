/* SPDX-License-Identifier: MIT
 *
 * From pools to groups and functions. The time that a pool's thread was blocked stands apart; the
 * rest is divided by the pool's samples, in proportion to their CPU time, or stays whole where they
 * are too few. Every part of every pool is added once to the list of functions and once to a group,
 * so both sum to the ledger.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/line/internal.h"
#include "tools/model/part.h"

/* Part of the CPU time by the threads' clocks that samples must hold to tell functions' CPU times.
 */
#define LEAST_SAMPLED 0.8

/* What one function has of a pool for one purpose, while the pool is divided. */
struct share {
    struct bp_part_key key;
    const char *group;
    uint64_t count;
    double weight;
};

struct division {
    const struct bp_pool *pool;
    double self_s; /* to be divided */
    double wall_s;
    struct bp_keys table;
    struct share *shares;
};

struct grouping {
    struct bp_model *model;
    struct bp_pools pools;
    struct bp_part_lists lists;
};

static struct bp_part part_of(const struct division *division, const struct bp_part_key *key,
                              double weight, uint64_t count) {
    double part = weight / division->pool->weight;
    return (struct bp_part){
        .function = key->function,
        .category = key->category,
        .kind = key->kind,
        .samples = count,
        .cpu_s = weight,
        .self_s = division->self_s * part,
        .error_s = bp_pool_variance(division->pool->samples, count, division->self_s),
        .wall_s = division->wall_s * part,
    };
}

static void add_share(struct division *division, const struct bp_part_key *key, const char *group,
                      const struct bp_pool_sample *sample) {
    struct {
        struct bp_part_key key;
        const char *group;
    } full;
    memset(&full, 0, sizeof(full));
    full.key = *key;
    full.group = group;
    uint32_t before = division->table.count;
    uint32_t number = bp_keys_put(&division->table, &full, sizeof(full));
    if (number == before)
        *BP_PLACE(division->shares, number) = (struct share){.key = *key, .group = group};
    division->shares[number].count += sample->count;
    division->shares[number].weight += sample->weight;
}

/* Whose code a library, or what belongs to Python, worked for. */
static void add_user(struct grouping *grouping, const struct bp_part_key *key, uint32_t user,
                     double s) {
    const struct bp_function *functions = grouping->model->functions;
    enum bp_owner owner = functions[key->function].owner;
    if (user != BP_NO_FUNCTION && functions[user].owner == BP_OWNER_USER &&
        (owner == BP_OWNER_LIBRARY || owner == BP_OWNER_STANDARD))
        bp_part_lists_use(&grouping->lists, key, user, s);
}

/* A key without a function is that of a group's total. */
static const struct bp_part_key total_key = {.function = BP_NO_FUNCTION};

static void add_samples(struct grouping *grouping, struct division *division,
                        const struct bp_pool_sample *samples, uint32_t count) {
    const struct bp_function *function = &grouping->model->functions[division->pool->function];
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_path_view *view = &samples[i].view;
        bool named = bp_pool_is_named(grouping->model, division->pool, view);
        struct bp_part_key key = {view->owner, named ? BP_DSL : function->category,
                                  BP_PART_SAMPLED};
        grouping->pools.pools[samples[i].pool].named += named ? samples[i].weight : 0;
        add_share(division, &key, NULL, &samples[i]);
        add_share(division, &key, view->group, &samples[i]);
        add_share(division, &total_key, view->group, &samples[i]);
        double s = division->self_s * samples[i].weight / division->pool->weight;
        bp_part_lists_call(&grouping->lists, NULL, &key, view->caller, s);
        bp_part_lists_call(&grouping->lists, view->group, &key, view->caller, s);
        add_user(grouping, &key, view->user, s);
        if (strcmp(view->group, division->pool->group) == 0)
            grouping->pools.pools[samples[i].pool].kept += samples[i].weight;
        else
            bp_part_lists_call(&grouping->lists, view->group, &total_key, view->group_caller, s);
    }
}

static void divide_pool(struct grouping *grouping, struct division *division,
                        const struct bp_pool_sample *samples, uint32_t count) {
    add_samples(grouping, division, samples, count);
    for (uint32_t i = 0; i < division->table.count; i++) {
        const struct share *share = &division->shares[i];
        struct bp_part part = part_of(division, &share->key, share->weight, share->count);
        bp_part_lists_add(&grouping->lists, share->group, &part);
    }
    bp_keys_fini(&division->table);
    free(division->shares);
}

/* Exact time: of the function that the pool is named after. */
static void add_whole(struct grouping *grouping, const struct bp_pool *pool, const char *group,
                      struct bp_part part) {
    part.function = pool->function;
    part.category = grouping->model->functions[pool->function].category;
    bp_part_lists_add(&grouping->lists, NULL, &part);
    bp_part_lists_add(&grouping->lists, group, &part);
    part.function = BP_NO_FUNCTION;
    part.calls = 0; /* not all of them come from outside */
    bp_part_lists_add(&grouping->lists, group, &part);
}

/* Calls are counted of the function itself, however its time divides. */
static void add_pool(struct grouping *grouping, uint32_t number,
                     const struct bp_pool_sample *samples, uint32_t count) {
    const struct bp_pool *pool = &grouping->pools.pools[number];
    struct division division = {.pool = pool};
    double blocked = pool->self_s > 0 ? pool->blocked_s / pool->self_s : 0;
    const char *blocked_group = bp_group_is_means(pool->group) ? "waiting" : pool->group;
    division.self_s = pool->self_s * (1 - blocked);
    division.wall_s = pool->wall_s * (1 - blocked);
    if (blocked > 0)
        add_whole(grouping, pool, blocked_group,
                  (struct bp_part){.kind = BP_PART_BLOCKED,
                                   .self_s = pool->self_s * blocked,
                                   .wall_s = pool->wall_s * blocked});
    if (!bp_pool_is_divided(pool)) {
        add_whole(grouping, pool, pool->group,
                  (struct bp_part){.calls = pool->calls,
                                   .calls_s = pool->self_s,
                                   .idle_s = pool->idle_s,
                                   .samples = pool->samples,
                                   .cpu_s = pool->weight,
                                   .self_s = division.self_s,
                                   .wall_s = division.wall_s});
        return;
    }
    divide_pool(grouping, &division, samples, count);
    struct bp_part calls = {.function = pool->function,
                            .category = grouping->model->functions[pool->function].category,
                            .kind = BP_PART_SAMPLED,
                            .calls = pool->calls,
                            .calls_s = pool->self_s};
    if (pool->calls) {
        bp_part_lists_add(&grouping->lists, NULL, &calls);
        bp_part_lists_add(&grouping->lists, pool->group, &calls);
    }
}

static int compare_samples(const void *a, const void *b) {
    const struct bp_pool_sample *x = a;
    const struct bp_pool_sample *y = b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* Samples that were all taken in an intercepted function itself leave its time as exact as it was.
 */
static bool is_its_own(const struct grouping *grouping, const struct bp_pool *pool,
                       const struct bp_pool_sample *samples, uint32_t count) {
    bool own = grouping->model->functions[pool->function].kind == BP_FUNC_CALL;
    for (uint32_t i = 0; own && i < count; i++)
        own = samples[i].view.owner == pool->function &&
              strcmp(samples[i].view.group, pool->group) == 0;
    return own;
}

static void add_pools(struct grouping *grouping) {
    struct bp_pools *pools = &grouping->pools;
    uint32_t at = 0;
    if (pools->sample_count)
        qsort(pools->samples, pools->sample_count, sizeof(*pools->samples), compare_samples);
    for (uint32_t i = 0; i < pools->count; i++) {
        struct bp_pool *pool = &pools->pools[i];
        uint32_t first = at;
        while (at < pools->sample_count && pools->samples[at].pool == i)
            at++;
        const struct bp_pool_sample *samples = at > first ? &pools->samples[first] : NULL;
        pool->whole |= is_its_own(grouping, pool, samples, at - first);
        if (pool->calls > 0 || pool->self_s > 0)
            add_pool(grouping, i, samples, at - first);
    }
}

/* The nearest caller outside the group; BP_NO_FUNCTION above the root. */
static uint32_t outer_caller(const struct grouping *grouping, uint32_t context) {
    const struct bp_context *contexts = grouping->model->contexts;
    const char **groups = grouping->pools.groups;
    uint32_t parent = contexts[context].parent;
    while (parent != 0 && strcmp(groups[parent], groups[context]) == 0)
        parent = contexts[parent].parent;
    return parent == 0 ? BP_NO_FUNCTION : contexts[parent].function;
}

/* Callers of a function that is not divided. */
static void add_exact_caller(struct grouping *grouping, const struct bp_context *context,
                             const struct bp_pool *pool) {
    struct bp_model *model = grouping->model;
    struct bp_part_key key = {context->function, model->functions[context->function].category,
                              BP_PART_EXACT};
    if (context->parent == 0 || bp_pool_is_divided(pool) || !(context->self_s > 0))
        return;
    uint32_t caller = model->contexts[context->parent].function;
    if (caller == context->function)
        return;
    double s = context->self_s - context->blocked_s;
    bp_part_lists_call(&grouping->lists, NULL, &key, caller, s);
    bp_part_lists_call(&grouping->lists, pool->group, &key, caller, s);
}

/* What the ledger knows exactly: calls into a group, and from where. */
static void add_contexts(struct grouping *grouping) {
    struct bp_model *model = grouping->model;
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        const char *group = grouping->pools.groups[i];
        uint32_t caller = outer_caller(grouping, i);
        bool enters =
            context->parent == 0 || strcmp(grouping->pools.groups[context->parent], group) != 0;
        struct bp_part calls = {.function = BP_NO_FUNCTION, .calls = enters ? context->calls : 0};
        if (calls.calls)
            bp_part_lists_add(&grouping->lists, group, &calls);
        const struct bp_pool *pool = &grouping->pools.pools[grouping->pools.of[i]];
        add_exact_caller(grouping, context, pool);
        double kept = bp_pool_is_divided(pool) ? pool->kept / pool->weight : 1;
        double s = kept * (context->self_s - context->blocked_s);
        if (!bp_group_is_means(group))
            s += context->blocked_s; /* see add_pool() */
        if (s > 0)
            bp_part_lists_call(&grouping->lists, group, &total_key, caller, s);
    }
}

/* A thread that ends before its next sample takes CPU time that no sample has: many short processes
 * have little else, and then samples say nothing about CPU time. */
static bool tell_cpu(const struct bp_model *model, const struct bp_pools *pools) {
    double clocks_s = 0;
    double sampled_s = 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        clocks_s += model->threads[i].has_clocks ? model->threads[i].cpu_s : 0;
    for (uint32_t i = 0; i < pools->count; i++)
        sampled_s += pools->pools[i].weight;
    return sampled_s >= LEAST_SAMPLED * clocks_s;
}

/* A function without a sample may have had a CPU or not. */
static void set_cpu_times(struct bp_model *model, const struct bp_pools *pools) {
    model->samples.tell_cpu = tell_cpu(model, pools);
    for (uint32_t i = 0; i < model->function_count; i++)
        model->functions[i].cpu_s = -1;
    for (uint32_t i = 0; i < pools->count; i++) {
        struct bp_function *function = &model->functions[pools->pools[i].function];
        if (pools->pools[i].samples && model->samples.tell_cpu)
            function->cpu_s = (function->cpu_s < 0 ? 0 : function->cpu_s) + pools->pools[i].weight;
    }
}

void bp_model_make_groups(struct bp_model *model) {
    struct grouping grouping = {.model = model, .lists = {.model = model}};
    struct bp_line_reading lines = {.model = model};
    bp_pools_init(&grouping.pools, model);
    bp_pools_read_samples(&grouping.pools, model, &lines);
    bp_line_finish(&lines, &grouping.pools);
    bp_model_find_owners(model);
    set_cpu_times(model, &grouping.pools);
    add_pools(&grouping);
    bp_model_split_by_owner(model, &grouping.pools);
    bp_model_move_named(model, &grouping.pools);
    add_contexts(&grouping);
    bp_part_lists_finish(&grouping.lists);
    bp_model_make_context_parts(model, &grouping.pools);
    bp_model_find_spots(model, &grouping.pools);
    bp_pools_fini(&grouping.pools);
}
