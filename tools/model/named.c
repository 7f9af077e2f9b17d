/* SPDX-License-Identifier: MIT
 *
 * Functions that are the DSL by name and yet are not intercepted: hidden ones of a library, those
 * of an executable, the top-level code of a script. The ledger has their time as that of whoever
 * runs outside of intercepted calls; samples tell how much of it is theirs. Tasks keep what the
 * ledger says.
 */
#include <string.h>

#include "tools/model/pool.h"

bool bp_pool_is_named(const struct bp_model *model, const struct bp_pool *pool,
                      const struct bp_path_view *view) {
    const struct bp_function *node = &model->functions[pool->function];
    const struct bp_function *owner = &model->functions[view->owner];
    bool plain = node->kind == BP_FUNC_ROOT || node->kind == BP_FUNC_CALL;
    return plain && !node->cuda && node->category == BP_FRAMEWORK && owner->category == BP_DSL &&
           owner->kind == BP_FUNC_CALL && owner->calls == 0 &&
           strcmp(view->group, BP_GROUP_IMPORT) != 0;
}

/* The part of a pool's time that is moved. */
static double moved_part(const struct bp_pool *pool) {
    if (!bp_pool_is_divided(pool) || !(pool->named > 0) || !(pool->self_s > 0))
        return 0;
    return pool->named / pool->weight * (1 - pool->blocked_s / pool->self_s);
}

static void move(double *category_s, double s) {
    category_s[BP_FRAMEWORK] -= s;
    category_s[BP_DSL] += s;
}

static void move_thread(struct bp_model *model, struct bp_model_thread *thread,
                        const struct bp_pools *pools) {
    for (uint32_t i = 0; i < thread->source->node_count; i++) {
        struct bp_thread_context *context = &thread->contexts[i];
        double part = moved_part(&pools->pools[pools->of[context->context]]);
        double s = part * context->category_s[BP_FRAMEWORK];
        move(context->category_s, s);
        move(thread->category_s, s);
        move(model->processes[thread->process].category_s, s);
        move(model->thread_time.category_s, s);
        model->thread_time.running_s -= s;
    }
}

void bp_model_move_named(struct bp_model *model, const struct bp_pools *pools) {
    double wall_s = 0;
    for (uint32_t i = 0; i < pools->count; i++)
        wall_s += moved_part(&pools->pools[i]) * pools->pools[i].wall_s;
    move(model->wall.category_s, wall_s);
    for (uint32_t i = 0; wall_s > 0 && i < model->thread_count; i++)
        move_thread(model, &model->threads[i], pools);
}
