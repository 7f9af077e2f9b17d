/* SPDX-License-Identifier: MIT */
#include "tools/export/share.h"

#include <stdlib.h>

#include "tools/base/memory.h"

/* No phase, and in no other task. */
static bool is_outermost(const struct bp_profile *profile, const struct bp_task *item) {
    if (item->flags & BP_TASK_PHASE)
        return false;
    for (uint32_t i = item->parent; i != BP_NO_TASK && i < profile->task_count;
         i = profile->tasks[i].parent)
        if (!(profile->tasks[i].flags & BP_TASK_PHASE))
            return false;
    return true;
}

static const char *name_of(const struct bp_profile *profile, const struct bp_task *item) {
    const char *id = bp_profile_string(profile, item->id);
    if (id[0])
        return id;
    if (item->func == BP_NO_FUNC)
        return bp_profile_string(profile, item->name);
    return bp_profile_string(profile, profile->funcs[item->func].name);
}

static void add_task(struct bp_task_shares *shares, const struct bp_profile *profile,
                     const struct bp_model_thread *thread, const struct bp_task *item) {
    for (uint32_t i = 0; i < item->detail_count; i++) {
        const struct bp_task_node *detail = &profile->task_nodes[item->first_detail + i];
        uint64_t self = thread->source->nodes[detail->node].self;
        if (!detail->self || !self)
            continue;
        *BP_APPEND(shares->list, shares->count) =
            (struct bp_task_share){thread->contexts[detail->node].context, name_of(profile, item),
                                   detail->self < self ? (double)detail->self / (double)self : 1};
    }
}

static int compare(const void *a, const void *b) {
    const struct bp_task_share *x = a;
    const struct bp_task_share *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->part > y->part ? -1 : x->part < y->part;
}

void bp_task_shares_init(struct bp_task_shares *shares, const struct bp_model *model,
                         uint32_t thread) {
    const struct bp_model_thread *from = &model->threads[thread];
    const struct bp_profile *profile = model->processes[from->process].profile;
    *shares = (struct bp_task_shares){0};
    for (uint32_t i = 0; i < profile->task_count; i++)
        if (profile->tasks[i].thread == from->source->slot &&
            is_outermost(profile, &profile->tasks[i]))
            add_task(shares, profile, from, &profile->tasks[i]);
    if (shares->count)
        qsort(shares->list, shares->count, sizeof(*shares->list), compare);
    *BP_PLACE(shares->list, shares->count) = (struct bp_task_share){.context = BP_NO_NODE};
}

void bp_task_shares_fini(struct bp_task_shares *shares) {
    free(shares->list);
    *shares = (struct bp_task_shares){0};
}

const struct bp_task_share *bp_task_shares_find(const struct bp_task_shares *shares,
                                                uint32_t context) {
    uint32_t low = 0;
    uint32_t high = shares->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (shares->list[middle].context < context)
            low = middle + 1;
        else
            high = middle;
    }
    return low < shares->count && shares->list[low].context == context ? &shares->list[low] : NULL;
}
