/* SPDX-License-Identifier: MIT
 *
 * What each part of the framework costs the run: a group of the rules, or failing that a function;
 * CUDA's own work, waiting, and the start stand for themselves. The parts sum to the framework's
 * share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/priority_internal.h"
#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"

struct parts {
    struct bp_priorities *priorities;
    struct bp_keys labels;
};

static void add(struct parts *parts, const char *label, double wall_s) {
    struct bp_priorities *priorities = parts->priorities;
    if (!(wall_s > 0))
        return;
    uint32_t number = bp_keys_put(&parts->labels, label, strlen(label));
    if (number == priorities->part_count) {
        struct bp_framework_part *fresh = BP_APPEND(priorities->parts, priorities->part_count);
        fresh->label = bp_copy_text(label);
    }
    priorities->parts[number].wall_s += wall_s;
}

static void add_part(struct parts *parts, const struct bp_model *model, const char *group,
                     const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    if (part->category != BP_FRAMEWORK || function->cuda || function->kind == BP_FUNC_WAIT)
        return;
    add(parts,
        part->kind == BP_PART_BLOCKED        ? "off the CPU, out of sight"
        : strcmp(group, BP_GROUP_OTHER) != 0 ? group
                                             : bp_function_label(function),
        part->wall_s);
}

static int compare_parts(const void *a, const void *b) {
    const struct bp_framework_part *x = a;
    const struct bp_framework_part *y = b;
    if (x->wall_s != y->wall_s)
        return x->wall_s > y->wall_s ? -1 : 1;
    return strcmp(x->label, y->label);
}

void bp_priority_framework(struct bp_priorities *priorities, const struct bp_model *model,
                           const struct bp_levels *levels) {
    struct parts parts = {.priorities = priorities};
    for (uint32_t i = 0; i < model->group_count; i++)
        for (uint32_t k = 0; k < model->groups[i].part_count; k++)
            add_part(&parts, model, model->groups[i].name, &model->groups[i].parts[k]);
    add(&parts, "CUDA calls: launch, allocation, context, JIT", model->wall.cuda_api_s);
    add(&parts, "waiting for kernels launched outside the DSL", model->wall.kernel_wait_s);
    add(&parts, "waiting, while no thread was busy", model->wall.idle_s);
    bp_keys_fini(&parts.labels);
    for (uint32_t i = 0; i < priorities->part_count; i++) {
        struct bp_framework_part *part = &priorities->parts[i];
        double share = model->wall.total_s > 0 ? part->wall_s / model->wall.total_s : 0;
        part->priority = bp_priority_of(levels, 100 * share);
        part->half_s = model->wall.total_s * bp_amdahl(share, 2);
        part->without_s = model->wall.total_s - part->wall_s;
    }
    if (priorities->part_count)
        qsort(priorities->parts, priorities->part_count, sizeof(*priorities->parts), compare_parts);
}
