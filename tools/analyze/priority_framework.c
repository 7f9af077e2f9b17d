/* SPDX-License-Identifier: MIT
 *
 * What each part of the framework costs the run: a group of the rules, or failing that a function;
 * CUDA's own work, waiting, and the start stand for themselves. The parts sum to the framework's
 * share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/priority_internal.h"
#include "tools/statistics.h"
#include "tools/table.h"

struct parts {
    struct bp_priorities *priorities;
    struct bp_table labels;
};

static void add(struct parts *parts, const char *label, double wall_s) {
    struct bp_priorities *priorities = parts->priorities;
    if (!(wall_s > 0))
        return;
    uint32_t number = bp_table_put(&parts->labels, label, strlen(label));
    if (number == priorities->part_count) {
        struct bp_framework_part *fresh = BP_APPEND(priorities->parts, priorities->part_count);
        fresh->label = bp_copy_text(label);
    }
    priorities->parts[number].wall_s += wall_s;
}

static void add_part(struct parts *parts, const struct bp_model *model, const char *group,
                     const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    char label[400];
    if (part->category != BP_FRAMEWORK || function->cuda || function->kind == BP_FUNC_WAIT)
        return;
    if (part->kind == BP_PART_BLOCKED)
        snprintf(label, sizeof(label), "off the CPU, out of sight");
    else if (strcmp(group, BP_GROUP_OTHER) != 0)
        snprintf(label, sizeof(label), "%.200s", group);
    else if (function->kind == BP_FUNC_ROOT)
        snprintf(label, sizeof(label), "own code of %.200s", function->library);
    else
        snprintf(label, sizeof(label), "%.120s%s%.200s", function->module,
                 function->module[0] ? "." : "", function->name);
    add(parts, label, part->wall_s);
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
    add(&parts, "CUDA calls: launch, allocation, context, JIT", model->cuda_api_wall_s);
    add(&parts, "waiting for kernels launched outside the DSL", model->kernel_wait_wall_s);
    add(&parts, "waiting, while no thread was busy", model->idle_s);
    bp_table_fini(&parts.labels);
    for (uint32_t i = 0; i < priorities->part_count; i++) {
        struct bp_framework_part *part = &priorities->parts[i];
        double share = model->wall_s > 0 ? part->wall_s / model->wall_s : 0;
        part->priority = bp_priority_of(levels, 100 * share);
        part->half_s = model->wall_s * bp_amdahl(share, 2);
        part->without_s = model->wall_s - part->wall_s;
    }
    if (priorities->part_count)
        qsort(priorities->parts, priorities->part_count, sizeof(*priorities->parts), compare_parts);
}
