/* SPDX-License-Identifier: MIT
 *
 * Functions over all processes. Two functions are the same if library, name and, for Python,
 * module, file and line are: addresses differ from process to process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/model_internal.h"
#include "tools/text.h"

static const char *library_name(const struct bp_profile *profile, const struct bp_func *func) {
    if (func->kind == BP_FUNC_ROOT)
        return profile->header.executable[0] ? bp_base_name(profile->header.executable)
                                             : "the program";
    if (func->object == BP_NO_OBJECT)
        return "";
    const struct bp_object *object = &profile->objects[func->object];
    const char *path = bp_profile_string(profile, object->path);
    return bp_base_name(path[0] ? path : bp_profile_string(profile, object->soname));
}

static struct bp_function describe(const struct bp_profile *profile, const struct bp_func *func) {
    struct bp_function function = {
        .name = bp_profile_string(profile, func->name),
        .library = library_name(profile, func),
        .module = bp_profile_string(profile, func->module),
        .file = bp_profile_string(profile, func->file),
        .line = func->line,
        .kind = func->kind,
        .cuda = func->flags & BP_FUNC_CUDA,
        .counted = func->flags & BP_FUNC_COUNTED,
        .gil = func->flags & BP_FUNC_GIL,
        .by_pieces = func->flags & BP_FUNC_RESUMED,
    };
    if (func->kind == BP_FUNC_ROOT)
        function.name = "(own code)";
    if (func->kind == BP_FUNC_FOLDED)
        function.name = "(folded)";
    return function;
}

/* The fields that make a function, with their zero bytes between them, in the work's buffer. */
static size_t make_key(struct bp_model_work *work, const struct bp_function *function) {
    const char *texts[] = {function->library, function->name, function->module, function->file};
    size_t lengths[4];
    size_t size = 8;
    for (int i = 0; i < 4; i++)
        size += lengths[i] = strlen(texts[i]) + 1;
    if (size > work->key_size) {
        free(work->key);
        work->key_size = size * 2;
        work->key = bp_alloc(work->key_size, 1);
    }
    uint32_t numbers[2] = {function->kind, function->line};
    memcpy(work->key, numbers, 8);
    char *to = work->key + 8;
    for (int i = 0; i < 4; to += lengths[i++])
        memcpy(to, texts[i], lengths[i]);
    return size;
}

uint32_t bp_model_put_function(struct bp_model *model, const struct bp_function *described,
                               uint32_t flags) {
    struct bp_model_work *work = model->work;
    size_t size = make_key(work, described);
    uint32_t number = bp_table_put(&work->function_table, work->key, size);
    if (number < model->function_count)
        return number;
    struct bp_function function = *described;
    struct bp_rule_subject subject = {function.library, function.name, function.module,
                                      function.file,    function.kind, flags};
    function.category = bp_rules_apply(work->rules, &subject, &function.group);
    function.begins_work = bp_group_begins_work(&subject);
    *BP_PLACE(model->functions, number) = function;
    (void)BP_PLACE(work->functions, number);
    model->function_count++;
    return number;
}

static uint32_t put_coverage(struct bp_model *model, const struct bp_profile *profile,
                             const struct bp_object *object) {
    const char *path = bp_profile_string(profile, object->path);
    const char *library = bp_base_name(path[0] ? path : bp_profile_string(profile, object->soname));
    uint32_t number = bp_table_put(&model->work->coverage_table, library, strlen(library));
    if (number == model->coverage_count)
        *BP_APPEND(model->coverage, model->coverage_count) =
            (struct bp_coverage){.library = library, .reason = ""};
    struct bp_coverage *coverage = &model->coverage[number];
    if (object->exports > coverage->exports)
        coverage->exports = object->exports;
    if (object->patch_error)
        coverage->reason = strerror((int)object->patch_error);
    else if (profile->header.flags & BP_LOST_STUBS)
        coverage->reason = "more functions than stubs";
    return number + 1;
}

uint32_t *bp_model_map_functions(struct bp_model *model, const struct bp_model_process *process) {
    const struct bp_profile *profile = process->profile;
    uint32_t *map = bp_alloc(profile->func_count, sizeof(*map));
    uint32_t *coverage = bp_alloc(profile->object_count, sizeof(*coverage));
    for (uint32_t i = 0; i < profile->object_count; i++)
        if (profile->objects[i].flags & BP_OBJECT_HOOKED)
            coverage[i] = put_coverage(model, profile, &profile->objects[i]);
    for (uint32_t i = 0; i < profile->func_count; i++) {
        const struct bp_func *func = &profile->funcs[i];
        struct bp_function function = describe(profile, func);
        map[i] = bp_model_put_function(model, &function, func->flags);
        if (func->kind == BP_FUNC_CALL && func->object != BP_NO_OBJECT)
            model->work->functions[map[i]].coverage = coverage[func->object];
    }
    free(coverage);
    return map;
}

void bp_model_finish_functions(struct bp_model *model) {
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function_work *work = &model->work->functions[i];
        bp_model_finish_calls(model, i);
        if (work->coverage) {
            struct bp_coverage *coverage = &model->coverage[work->coverage - 1];
            coverage->hooked++;
            coverage->called += bp_function_used(&model->functions[i]);
            coverage->listed |= model->functions[i].cuda;
        }
    }
}

const char *bp_function_name(const struct bp_function *function, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", function->module, function->module[0] ? "." : "",
             function->name);
    return text;
}
