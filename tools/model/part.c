/* SPDX-License-Identifier: MIT
 *
 * Lists of parts and callers, found again by key.
 */
#include "tools/model/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/pool.h"

#define MODEL_LIST UINT32_MAX

static uint32_t put_group(struct bp_part_lists *lists, const char *name) {
    struct bp_model *model = lists->model;
    if (!name)
        return MODEL_LIST;
    uint32_t number = bp_keys_put(&lists->groups, name, strlen(name));
    if (number == model->group_count) {
        struct bp_group *fresh = BP_APPEND(model->groups, model->group_count);
        fresh->name = name;
    }
    return number;
}

/* Where an item is in its list: `next` if it is new. */
static uint32_t put_place(struct bp_keys *table, uint32_t **places, const void *key, size_t size,
                          uint32_t next) {
    uint32_t before = table->count;
    uint32_t number = bp_keys_put(table, key, size);
    if (number == before)
        *BP_PLACE(*places, number) = next;
    return (*places)[number];
}

static struct bp_part *put_part(struct bp_part_lists *lists, uint32_t group,
                                const struct bp_part_key *key) {
    struct bp_model *model = lists->model;
    struct bp_part **parts = group == MODEL_LIST ? &model->parts : &model->groups[group].parts;
    uint32_t *count = group == MODEL_LIST ? &model->part_count : &model->groups[group].part_count;
    uint32_t full[4] = {group, key->function, key->category, key->kind};
    uint32_t place = put_place(&lists->parts, &lists->part_place, full, sizeof(full), *count);
    if (place == *count)
        *BP_APPEND(*parts, *count) = (struct bp_part){.function = key->function,
                                                      .category = (enum bp_category)key->category,
                                                      .kind = (enum bp_part_kind)key->kind};
    return &(*parts)[place];
}

void bp_part_lists_add(struct bp_part_lists *lists, const char *group, const struct bp_part *part) {
    struct bp_part_key key = {part->function, part->category, part->kind};
    uint32_t number = put_group(lists, group);
    if (part->function == BP_NO_FUNCTION) {
        struct bp_group *total = &lists->model->groups[number];
        total->calls += part->calls;
        total->self_s += part->self_s;
        total->error_s += part->error_s;
        total->wall_s += part->wall_s;
        total->idle_s += part->idle_s;
        return;
    }
    struct bp_part *to = put_part(lists, number, &key);
    to->calls += part->calls;
    to->calls_s += part->calls_s;
    to->samples += part->samples;
    to->cpu_s += part->cpu_s;
    to->self_s += part->self_s;
    to->error_s += part->error_s;
    to->wall_s += part->wall_s;
    to->idle_s += part->idle_s;
}

void bp_part_lists_call(struct bp_part_lists *lists, const char *group,
                        const struct bp_part_key *key, uint32_t caller, double s) {
    struct bp_model *model = lists->model;
    if (caller == BP_NO_FUNCTION || model->functions[caller].kind == BP_FUNC_ROOT)
        return;
    uint32_t number = put_group(lists, group);
    bool total = key->function == BP_NO_FUNCTION;
    struct bp_part *part = total ? NULL : put_part(lists, number, key);
    struct bp_caller **callers = total ? &model->groups[number].callers : &part->callers;
    uint32_t *count = total ? &model->groups[number].caller_count : &part->caller_count;
    uint32_t full[5] = {number, key->function, key->category, key->kind, caller};
    uint32_t place = put_place(&lists->callers, &lists->caller_place, full, sizeof(full), *count);
    if (place == *count)
        *BP_APPEND(*callers, *count) = (struct bp_caller){.function = caller};
    (*callers)[place].s += s;
}

void bp_part_lists_use(struct bp_part_lists *lists, const struct bp_part_key *key, uint32_t user,
                       double s) {
    struct bp_part *part = put_part(lists, MODEL_LIST, key);
    uint32_t full[4] = {key->function, key->category, key->kind, user};
    uint32_t place =
        put_place(&lists->users, &lists->user_place, full, sizeof(full), part->user_count);
    if (place == part->user_count)
        *BP_APPEND(part->users, part->user_count) = (struct bp_caller){.function = user};
    part->users[place].s += s;
}

static int compare_parts(const void *a, const void *b) {
    const struct bp_part *x = a;
    const struct bp_part *y = b;
    if (x->self_s != y->self_s)
        return x->self_s > y->self_s ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
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

static void sort(void *list, uint32_t count, size_t size,
                 int (*compare)(const void *, const void *)) {
    if (count)
        qsort(list, count, size, compare);
}

static void finish_parts(struct bp_part *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        parts[i].error_s = BP_DEVIATIONS * sqrt(parts[i].error_s);
        sort(parts[i].callers, parts[i].caller_count, sizeof(struct bp_caller), compare_callers);
        sort(parts[i].users, parts[i].user_count, sizeof(struct bp_caller), compare_callers);
    }
    sort(parts, count, sizeof(*parts), compare_parts);
}

void bp_part_lists_finish(struct bp_part_lists *lists) {
    struct bp_model *model = lists->model;
    finish_parts(model->parts, model->part_count);
    for (uint32_t i = 0; i < model->group_count; i++) {
        struct bp_group *group = &model->groups[i];
        group->error_s = BP_DEVIATIONS * sqrt(group->error_s);
        finish_parts(group->parts, group->part_count);
        sort(group->callers, group->caller_count, sizeof(*group->callers), compare_callers);
    }
    sort(model->groups, model->group_count, sizeof(*model->groups), compare_groups);
    bp_keys_fini(&lists->groups);
    bp_keys_fini(&lists->parts);
    bp_keys_fini(&lists->callers);
    bp_keys_fini(&lists->users);
    free(lists->part_place);
    free(lists->caller_place);
    free(lists->user_place);
}

static void parts_free(struct bp_part *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free(parts[i].callers);
        free(parts[i].users);
    }
    free(parts);
}

void bp_model_free_groups(struct bp_model *model) {
    parts_free(model->parts, model->part_count);
    for (uint32_t i = 0; i < model->group_count; i++) {
        parts_free(model->groups[i].parts, model->groups[i].part_count);
        free(model->groups[i].callers);
    }
    free(model->groups);
    free(model->context_parts);
}
