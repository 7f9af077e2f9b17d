/* SPDX-License-Identifier: MIT
 *
 * What was asked for by a pattern and not found: a slip in its spelling looks like a program that
 * does not do such a thing. Each pattern is named once, over all processes.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/note/note.h"
#include "tools/base/text.h"

/* A library may also have been chosen by its soname, which is the head of its file name. */
static bool is_library(const char *glob, const char *name) {
    char *longer = bp_make_text("%s*", glob);
    bool is = fnmatch(glob, name, 0) == 0 || fnmatch(longer, name, 0) == 0;
    free(longer);
    return is;
}

static const char *find_library(const struct bp_model *model, const char *glob) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_profile *profile = model->processes[i].profile;
        for (uint32_t k = 0; k < profile->object_count; k++) {
            const char *name = bp_base_name(bp_profile_string(profile, profile->objects[k].path));
            if (is_library(glob, name))
                return name;
        }
    }
    return NULL;
}

/* Functions that a glob found may stand under the glob. */
static bool is_named(const char *glob, const char *name) {
    return !*glob || strcmp(glob, name) == 0 || fnmatch(glob, name, 0) == 0;
}

static bool has_native(const struct bp_model *model, const char *library, const char *symbol) {
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (!function->module[0] && is_library(library, function->library) &&
            is_named(symbol, function->name))
            return true;
    }
    return false;
}

/* The script is `__main__` or its file, which need not be told apart here. */
static bool has_python(const struct bp_model *model, const char *option, const char *module,
                       const char *name) {
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        bool script = strcmp(function->module, "__main__") == 0;
        bool asked = strcmp(option, "--lines") == 0 ? function->lines : function->counted;
        if (function->module[0] && asked && (script || fnmatch(module, function->module, 0) == 0) &&
            is_named(name, function->name))
            return true;
    }
    return false;
}

/* [LIBRARY or MODULE][:FUNCTION], as --hook and --count have it. */
static void check_function(struct bp_analysis *analysis, const char *option, const char *pattern,
                           const char *where) {
    const struct bp_model *model = analysis->model;
    const char *colon = strchr(pattern, ':');
    const char *function = colon ? colon + 1 : "";
    bool native = strcmp(option, "--hook") == 0 || strncmp(where, "lib", 3) == 0 ||
                  strstr(where, ".so") != NULL;
    if (!native) {
        if (!has_python(model, option, where, function))
            bp_analysis_note(analysis, "%s '%s': no such function of a Python module was called",
                             option, pattern);
        return;
    }
    const char *library = find_library(model, where);
    if (!library)
        bp_analysis_note(analysis, "%s '%s': no such library was loaded", option, pattern);
    else if (*function && !has_native(model, where, function))
        bp_analysis_note(analysis, "%s '%s': %s has no such function that others call", option,
                         pattern, library);
}

static bool has_role(const struct bp_model *model, uint16_t flag, const char *glob) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_profile *profile = model->processes[i].profile;
        for (uint32_t k = 0; k < profile->func_count; k++)
            if (profile->funcs[k].flags & flag &&
                is_named(glob, bp_profile_string(profile, profile->funcs[k].name)))
                return true;
    }
    return false;
}

/* KIND=[WHERE:]FUNCTION[(ARGUMENT)] or phase=NAME=…; of tasks see note_tasks(). */
static void check_rule(struct bp_analysis *analysis, const char *rule) {
    const struct bp_model *model = analysis->model;
    static const struct {
        const char *word;
        uint16_t flag;
    } kinds[] = {
        {"phase", BP_FUNC_PHASE}, {"sample", BP_FUNC_SAMPLE}, {"generator", BP_FUNC_INPUT}};
    size_t length = strcspn(rule, "=");
    const char *value = rule + length + (rule[length] == '=');
    const char *inner = strchr(value, '=');
    const char *function = inner ? inner + 1 : value;
    const char *colon = strchr(function, ':');
    if (strcmp(function, "none") == 0 || strncmp(function, "nvtx:", 5) == 0)
        return;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strncmp(rule, kinds[i].word, length) == 0 && !kinds[i].word[length] &&
            !has_role(model, kinds[i].flag, colon ? colon + 1 : function))
            bp_analysis_note(analysis, "--%s '%s': no such function was called", kinds[i].word,
                             value);
}

static void check_each(struct bp_analysis *analysis, const char *list, const char *separators,
                       const char *option) {
    while (*list) {
        size_t length = strcspn(list, separators);
        char *pattern = bp_make_text("%.*s", (int)length, list);
        char *where = bp_make_text("%.*s", (int)strcspn(pattern, ":"), pattern);
        if (length > 0 && option && strcmp(pattern, "libdsl*") != 0)
            check_function(analysis, option, pattern, where);
        else if (length > 0 && !option)
            check_rule(analysis, pattern);
        free(where);
        free(pattern);
        list += length;
        list += strspn(list, separators);
    }
}

/* The simulated device is reached through a libcudart of its own; or by its driver alone, and then
 * it was at work. */
static void check_device(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const char *device = bp_model_variable(model, "BATTPROF_SIM");
    if (!*device || model->cuda.device_count > 0 || find_library(model, "libcudart.so*"))
        return;
    if (find_library(model, "libcuda.so*"))
        bp_analysis_note(analysis,
                         "--device sim:%s was not used: the program's CUDA runtime is linked "
                         "statically; build it with nvcc -cudart shared",
                         device);
    else
        bp_analysis_note(analysis, "--device sim:%s was not used: no process loaded libcudart.so",
                         device);
}

/* Its functions are hooked as soon as it is loaded, unless nobody wants to know. */
static void check_cuda(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const char *library = find_library(model, "libcudart.so*");
    library = library ? library : find_library(model, "libcuda.so*");
    for (uint32_t i = 0; library && i < model->function_count; i++)
        if (model->functions[i].cuda)
            return;
    if (library)
        bp_analysis_note(analysis,
                         "%s was loaded, but CUDA is not recorded (--cuda=off): its copies are "
                         "unknown, and the time of its calls counts for their callers",
                         library);
}

void bp_notes_patterns(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    if (model->run.imported || model->process_count == 0)
        return;
    check_each(analysis, model->processes[0].profile->header.hooks, ", \t\n", "--hook");
    check_each(analysis, bp_model_variable(model, "BATTPROF_COUNT"), ", \t\n", "--count");
    check_each(analysis, bp_model_variable(model, "BATTPROF_LINES"), ", \t\n", "--lines");
    check_each(analysis, bp_model_variable(model, "BATTPROF_TASKS"), ";", NULL);
    check_device(analysis);
    check_cuda(analysis);
}
