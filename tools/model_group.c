/* SPDX-License-Identifier: MIT
 *
 * Which group a stretch of time belongs to. That of the function itself, unless it only says how
 * the time was spent (a write, a lock) or nothing: then that of its nearest caller that says what
 * for, as far out as the DSL. So a write below the logger is logging, and a write of the program's
 * own is file I/O.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/model_internal.h"

struct group_work {
    struct bp_table groups;
    struct bp_table parts;   /* by group, function, category */
    struct bp_table callers; /* by group, function */
    uint32_t *part_place;    /* index within the group */
    uint32_t *caller_place;
};

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
        if (caller->category != BP_DSL && !bp_group_is_means(outer))
            groups[i] = outer;
    }
    return groups;
}

/* The nearest caller outside the group; BP_NO_FUNCTION above the root. */
static uint32_t outer_caller(const struct bp_model *model, const char *const *groups, uint32_t i) {
    uint32_t parent = model->contexts[i].parent;
    while (parent != 0 && strcmp(groups[parent], groups[i]) == 0)
        parent = model->contexts[parent].parent;
    return parent == 0 ? BP_NO_FUNCTION : model->contexts[parent].function;
}

static struct bp_group *put_group(struct bp_model *model, struct group_work *work,
                                  const char *name) {
    uint32_t number = bp_table_put(&work->groups, name, strlen(name));
    if (number == model->group_count) {
        void *list = model->groups;
        struct bp_group *fresh = bp_append(&list, model->group_count++, sizeof(*fresh));
        model->groups = list;
        fresh->name = name;
    }
    return &model->groups[number];
}

/* Where an item is in its group's list: the next free place for a new one. */
static uint32_t put_place(struct bp_table *table, uint32_t **places, const void *key, size_t size,
                          uint32_t next) {
    uint32_t before = table->count;
    uint32_t number = bp_table_put(table, key, size);
    if (number == before) {
        void *list = *places;
        *(uint32_t *)bp_append(&list, number, sizeof(**places)) = next;
        *places = list;
    }
    return (*places)[number];
}

static void add_part(struct bp_model *model, struct group_work *work, struct bp_group *group,
                     const struct bp_group_part *part) {
    uint32_t key[3] = {(uint32_t)(group - model->groups), part->function, part->category};
    uint32_t place =
        put_place(&work->parts, &work->part_place, key, sizeof(key), group->part_count);
    if (place == group->part_count) {
        void *list = group->parts;
        *(struct bp_group_part *)bp_append(&list, group->part_count++, sizeof(*part)) =
            (struct bp_group_part){.function = part->function, .category = part->category};
        group->parts = list;
    }
    group->parts[place].calls += part->calls;
    group->parts[place].self_s += part->self_s;
    group->parts[place].wall_s += part->wall_s;
    group->self_s += part->self_s;
    group->wall_s += part->wall_s;
}

static void add_caller(struct bp_model *model, struct group_work *work, struct bp_group *group,
                       uint32_t caller, double s) {
    uint32_t key[2] = {(uint32_t)(group - model->groups), caller};
    if (caller == BP_NO_FUNCTION || model->functions[caller].kind == BP_FUNC_ROOT)
        return;
    uint32_t place =
        put_place(&work->callers, &work->caller_place, key, sizeof(key), group->caller_count);
    if (place == group->caller_count) {
        void *list = group->callers;
        ((struct bp_caller *)bp_append(&list, group->caller_count++, sizeof(struct bp_caller)))
            ->function = caller;
        group->callers = list;
    }
    group->callers[place].s += s;
}

static int compare_parts(const void *a, const void *b) {
    const struct bp_group_part *x = a;
    const struct bp_group_part *y = b;
    if (x->self_s != y->self_s)
        return x->self_s > y->self_s ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int compare_callers(const void *a, const void *b) {
    const struct bp_caller *x = a;
    const struct bp_caller *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int compare_groups(const void *a, const void *b) {
    const struct bp_group *x = a;
    const struct bp_group *y = b;
    if (x->self_s != y->self_s)
        return x->self_s > y->self_s ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sort_groups(struct bp_model *model) {
    for (uint32_t i = 0; i < model->group_count; i++) {
        struct bp_group *group = &model->groups[i];
        qsort(group->parts, group->part_count, sizeof(*group->parts), compare_parts);
        if (group->caller_count)
            qsort(group->callers, group->caller_count, sizeof(*group->callers), compare_callers);
    }
    if (model->group_count)
        qsort(model->groups, model->group_count, sizeof(*model->groups), compare_groups);
}

void bp_model_make_groups(struct bp_model *model) {
    struct group_work work = {0};
    const char **groups = context_groups(model);
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        const struct bp_function *function = &model->functions[context->function];
        struct bp_group_part part = {.function = context->function,
                                     .category = function->category,
                                     .calls = context->calls,
                                     .self_s = context->self_s,
                                     .wall_s = context->wall_s};
        if (part.calls == 0 && !(part.self_s > 0) && context->in_flight == 0)
            continue;
        struct bp_group *group = put_group(model, &work, groups[i]);
        add_part(model, &work, group, &part);
        if (context->parent == 0 || strcmp(groups[context->parent], groups[i]) != 0)
            group->calls += part.calls;
        add_caller(model, &work, group, outer_caller(model, groups, i), part.self_s);
    }
    sort_groups(model);
    bp_table_fini(&work.groups);
    bp_table_fini(&work.parts);
    bp_table_fini(&work.callers);
    free(work.part_place);
    free(work.caller_place);
    free(groups);
}

void bp_model_free_groups(struct bp_model *model) {
    for (uint32_t i = 0; i < model->group_count; i++) {
        free(model->groups[i].parts);
        free(model->groups[i].callers);
    }
    free(model->groups);
}
