/* SPDX-License-Identifier: MIT
 *
 * Functions over all processes. Two functions are the same if library, name and, for Python,
 * module, file and line are: addresses differ from process to process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/internal.h"
#include "tools/model/pool.h"
#include "tools/symbols/symbols.h"

/* Keeps a text for as long as the model lives: the one that was made of `raw` before, or `fresh`.
 */
static const char *keep(struct bp_model *model, const char *raw, char *fresh) {
    struct bp_model_work *work = model->work;
    uint32_t before = work->name_table.count;
    uint32_t number = bp_keys_put(&work->name_table, raw, strlen(raw));
    if (number == before) {
        *BP_APPEND(model->texts, model->text_count) = fresh;
        *BP_PLACE(work->names, number) = fresh;
    } else {
        free(fresh);
    }
    return work->names[number];
}

static const char *kept(const struct bp_model *model, const char *raw) {
    uint32_t number = bp_keys_get(&model->work->name_table, raw, strlen(raw));
    return number == BP_KEYS_NONE ? NULL : model->work->names[number];
}

/* Hooked functions have the names of the symbol table. */
static const char *native_name(struct bp_model *model, const char *raw) {
    if (strncmp(raw, "_Z", 2) != 0)
        return raw;
    const char *known = kept(model, raw);
    return known ? known : keep(model, raw, bp_symbol_name(raw));
}

/* 3.8 names a script as it was started, and everything else by the whole path. */
static const char *whole_path(struct bp_model *model, const struct bp_header *header,
                              const char *file) {
    if (!file[0] || file[0] == '/' || file[0] == '<' || !header->directory[0])
        return file;
    char *path = bp_plain_path(header->directory, file);
    return keep(model, path, path);
}

static const char *library_path(const struct bp_profile *profile, const struct bp_func *func) {
    if (func->kind == BP_FUNC_ROOT)
        return profile->header.executable;
    if (func->object == BP_NO_OBJECT)
        return "";
    const struct bp_object *object = &profile->objects[func->object];
    const char *path = bp_profile_string(profile, object->path);
    return path[0] ? path : bp_profile_string(profile, object->soname);
}

static struct bp_function describe(struct bp_model *model, const struct bp_profile *profile,
                                   const struct bp_func *func) {
    struct bp_function function = {
        .name = bp_profile_string(profile, func->name),
        .path = library_path(profile, func),
        .module = bp_profile_string(profile, func->module),
        .file = whole_path(model, &profile->header, bp_profile_string(profile, func->file)),
        .line = func->line,
        .kind = func->kind,
        .cuda = func->flags & BP_FUNC_CUDA,
        .counted = func->flags & BP_FUNC_COUNTED,
        .lines = func->flags & BP_FUNC_LINES,
        .gil = func->flags & BP_FUNC_GIL,
        .by_pieces = func->flags & BP_FUNC_RESUMED,
        .script = func->flags & BP_FUNC_SCRIPT,
    };
    function.library = bp_base_name(function.path);
    if (func->kind == BP_FUNC_ROOT && !function.library[0])
        function.library = "the program";
    if (!function.module[0])
        function.name = native_name(model, function.name);
    if (func->kind == BP_FUNC_ROOT)
        function.name = "(own code)";
    if (func->kind == BP_FUNC_FOLDED)
        function.name = "(folded)";
    return function;
}

/* The fields that make a function, with their zero bytes between them, in the work's buffer. A file
 * that is imported by two names is one module. */
static size_t make_key(struct bp_model_work *work, const struct bp_function *function) {
    const char *module = function->file[0] == '/' ? "" : function->module;
    const char *texts[] = {function->library, function->name, module, function->file};
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

/* Texts of its own where they are not the name; bp_model_free_functions() frees them. */
static void name_function(struct bp_function *function) {
    bool nameless = strchr(function->name, '<') && function->file[0];
    bool cell = strncmp(function->module, "In[", 3) == 0;
    function->full_name = function->label = function->name;
    if (function->kind == BP_FUNC_ROOT)
        function->label = bp_make_text("own code of %s", function->library);
    else if (function->module[0])
        function->full_name = function->label =
            bp_make_text("%s%s%s", function->module, cell ? " " : ".", function->name);
    else if (strchr(function->name, '(') && function->name[0] != '(')
        function->full_name = function->label = bp_symbol_short(function->name);
    if (function->module[0] && nameless)
        function->label = bp_make_text("%s %s:%u", function->full_name,
                                       bp_base_name(function->file), function->line);
}

void bp_model_free_functions(struct bp_model *model) {
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (function->label != function->full_name)
            free((char *)function->label);
        if (function->full_name != function->name)
            free((char *)function->full_name);
    }
    free(model->functions);
}

static bool is_sampled(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_sampler *sampler = model->processes[i].profile->sampler;
        if (sampler && sampler->taken >= BP_POOL_LEAST)
            return true;
    }
    return false;
}

static void classify(const struct bp_model *model, struct bp_function *function, uint32_t flags) {
    struct bp_rule_subject subject = {
        .library = function->library,
        .symbol = function->module[0] ? function->name : function->full_name,
        .module = function->module,
        .file = function->file,
        .kind = function->kind,
        .flags = flags,
        .path = function->path,
        .divided = function->kind == BP_FUNC_ROOT && is_sampled(model),
    };
    function->category = bp_rules_apply(model->rules, &subject, &function->group);
    function->begins_work = bp_group_begins_work(&subject);
}

uint32_t bp_model_put_function(struct bp_model *model, const struct bp_function *described,
                               uint32_t flags) {
    struct bp_model_work *work = model->work;
    size_t size = make_key(work, described);
    uint32_t number = bp_keys_put(&work->function_table, work->key, size);
    if (number < model->function_count) {
        model->functions[number].by_pieces |= described->by_pieces;
        if (flags & BP_FUNC_CHOSEN) /* a sample had met it before */
            classify(model, &model->functions[number], flags);
        return number;
    }
    struct bp_function function = *described;
    name_function(&function);
    classify(model, &function, flags);
    *BP_PLACE(model->functions, number) = function;
    (void)BP_PLACE(work->functions, number);
    (void)BP_PLACE(model->call_times, number);
    model->function_count++;
    return number;
}

static uint32_t put_coverage(struct bp_model *model, const struct bp_profile *profile,
                             const struct bp_object *object) {
    const char *path = bp_profile_string(profile, object->path);
    const char *library = bp_base_name(path[0] ? path : bp_profile_string(profile, object->soname));
    uint32_t number = bp_keys_put(&model->work->coverage_table, library, strlen(library));
    if (number == model->coverage_count)
        *BP_APPEND(model->coverage, model->coverage_count) =
            (struct bp_coverage){.library = library, .reason = ""};
    struct bp_coverage *coverage = &model->coverage[number];
    if (object->exports > coverage->exports)
        coverage->exports = object->exports;
    if (object->patch_error)
        coverage->reason = strerror((int)object->patch_error);
    else if (object->flags & BP_OBJECT_NOT_C)
        coverage->reason = "Haskell's functions are not called as C's are";
    else if (profile->header.flags & BP_LOST_STUBS)
        coverage->reason = "battprof ran out of stubs";
    return number + 1;
}

static uint32_t *map_process(struct bp_model *model, const struct bp_profile *profile) {
    uint32_t *map = bp_alloc(profile->func_count, sizeof(*map));
    uint32_t *coverage = bp_alloc(profile->object_count, sizeof(*coverage));
    for (uint32_t i = 0; i < profile->object_count; i++)
        if (profile->objects[i].flags & BP_OBJECT_HOOKED)
            coverage[i] = put_coverage(model, profile, &profile->objects[i]);
    for (uint32_t i = 0; i < profile->func_count; i++) {
        const struct bp_func *func = &profile->funcs[i];
        struct bp_function function = describe(model, profile, func);
        map[i] = bp_model_put_function(model, &function, func->flags);
        if (func->kind == BP_FUNC_CALL && func->object != BP_NO_OBJECT)
            model->work->functions[map[i]].coverage = coverage[func->object];
    }
    free(coverage);
    return map;
}

/* All of them before the first time is added: what one process chose is chosen in all. */
void bp_model_map_functions(struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++)
        model->processes[i].functions = map_process(model, model->processes[i].profile);
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
