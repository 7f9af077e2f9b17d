/* SPDX-License-Identifier: MIT
 *
 * A stack is read from its innermost frame outward as far as the intercepted call that it refines;
 * from there on the ledger knows better. Time is charged to the innermost function of the program:
 * what libc or the interpreter do, they do for their caller.
 */
#include "tools/model/path.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

/* The list is never given back while samples are read: `count` may have shrunk, so it grows by its
 * high-water mark. */
static void add_step(struct bp_path *path, uint32_t function, enum bp_code code) {
    if (path->count == path->room)
        (void)BP_APPEND(path->steps, path->room);
    path->steps[path->count++] = (struct bp_path_step){function, code};
}

/* Returns true if the node's own function is the last step. */
static bool read_inner(struct bp_path *path, const struct bp_profile_thread *thread,
                       const struct bp_stack_frame *frames, uint32_t leaf) {
    for (uint32_t i = leaf; i != BP_NO_FRAME; i = thread->frames[i].parent) {
        if (frames[i].code == BP_CODE_UNKNOWN)
            return false;
        if (frames[i].code == BP_CODE_LEDGER) {
            if (path->count > 0) /* what the stub called is the function, whatever its alias */
                path->steps[path->count - 1].function = path->function;
            return path->count > 0;
        }
        add_step(path, frames[i].function, frames[i].code);
        if (frames[i].code == BP_CODE_PYTHON && frames[i].function == path->function)
            return true;
    }
    return false;
}

void bp_path_read(struct bp_path *path, const struct bp_model *model,
                  const struct bp_profile_thread *thread, const struct bp_stack_frame *frames,
                  const struct bp_sample *sample, uint32_t context) {
    const struct bp_context *contexts = model->contexts;
    path->count = 0;
    path->function = contexts[context].function;
    bool complete = read_inner(path, thread, frames, sample->frame);
    if (!complete && model->functions[path->function].kind != BP_FUNC_ROOT)
        add_step(path, path->function,
                 model->functions[path->function].module[0] ? BP_CODE_PYTHON : BP_CODE_PROGRAM);
    path->inner = path->count;
    for (uint32_t i = contexts[context].parent; i != 0; i = contexts[i].parent) {
        const struct bp_function *function = &model->functions[contexts[i].function];
        if (function->kind == BP_FUNC_CALL)
            add_step(path, contexts[i].function,
                     function->module[0] ? BP_CODE_PYTHON : BP_CODE_PROGRAM);
    }
}

void bp_path_fini(struct bp_path *path) {
    free(path->steps);
}

/* Steps that are functions of the program. */
static bool counts(const struct bp_path *path, uint32_t step, bool python) {
    enum bp_code code = path->steps[step].code;
    return code == BP_CODE_PROGRAM || code == BP_CODE_PYTHON ||
           (code == BP_CODE_INTERPRETER && !python);
}

static bool has_python(const struct bp_path *path) {
    for (uint32_t i = 0; i < path->count; i++)
        if (path->steps[i].code == BP_CODE_PYTHON)
            return true;
    return false;
}

/* The interpreter does something of its own, whoever it interrupts for it: garbage collection. */
static bool has_own_purpose(const struct bp_path *path, const struct bp_model *model,
                            uint32_t step) {
    return path->steps[step].code == BP_CODE_INTERPRETER &&
           !bp_group_is_means(model->functions[path->steps[step].function].group);
}

/* The outermost function of such a duty stands for all that it calls. */
static uint32_t find_duty(const struct bp_path *path, const struct bp_model *model) {
    uint32_t found = path->inner;
    for (uint32_t i = 0; i < path->inner; i++) {
        if (path->steps[i].code == BP_CODE_PROGRAM || path->steps[i].code == BP_CODE_PYTHON)
            break;
        if (has_own_purpose(path, model, i))
            found = i;
    }
    return found;
}

static uint32_t find_owner(const struct bp_path *path, const struct bp_model *model, bool python) {
    uint32_t duty = find_duty(path, model);
    if (duty < path->inner)
        return duty;
    for (uint32_t i = 0; i < path->inner; i++)
        if (counts(path, i, python))
            return i;
    return 0;
}

static bool is_module_code(const struct bp_function *function) {
    return function->module[0] && strcmp(function->name, "<module>") == 0;
}

/* The step that imports the module which the step's function is part of: what a module does on its
 * own behalf while its top-level code runs (its class bodies, its tables) is import, not use of the
 * module. The step itself if there is none. */
static uint32_t find_import(const struct bp_path *path, const struct bp_model *model,
                            uint32_t step) {
    const struct bp_function *of = &model->functions[path->steps[step].function];
    uint32_t i = step;
    while (i < path->count && !is_module_code(&model->functions[path->steps[i].function]))
        i++;
    if (i == path->count ||
        strcmp(model->functions[path->steps[i].function].module, of->module) != 0)
        return step;
    for (i++; i < path->count && path->steps[i].code != BP_CODE_PYTHON; i++)
        ;
    bool imported = i < path->count &&
                    strcmp(model->functions[path->steps[i].function].group, BP_GROUP_IMPORT) == 0;
    return imported ? i : step;
}

/* The first step that says what the time was for; the DSL ends the search. `count` if none. Within
 * a node that is not DSL, such as a logger that lives in the DSL's library, nothing is. */
static uint32_t find_purpose(const struct bp_path *path, const struct bp_model *model) {
    bool dsl = model->functions[path->function].category == BP_DSL;
    uint32_t duty = find_duty(path, model);
    for (uint32_t i = duty < path->inner ? duty : 0; i < path->count; i++) {
        const struct bp_function *function = &model->functions[path->steps[i].function];
        if (function->begins_work || (function->category == BP_DSL && (dsl || i >= path->inner)))
            break;
        if (function->category != BP_DSL && !bp_group_is_means(function->group))
            return find_import(path, model, i);
    }
    return path->count;
}

/* The nearest caller of a step that is another function and, if a group is given, outside of it. */
static uint32_t find_caller(const struct bp_path *path, const struct bp_model *model, uint32_t step,
                            const char *group, bool python) {
    uint32_t from = path->steps[step].function;
    for (uint32_t i = step + 1; i < path->count; i++) {
        uint32_t function = path->steps[i].function;
        if (counts(path, i, python) && function != from &&
            !(group && strcmp(model->functions[function].group, group) == 0))
            return function;
    }
    return BP_NO_FUNCTION;
}

/* A library calls itself many times before the code that a user can change is reached. */
static uint32_t find_user(const struct bp_path *path, const struct bp_model *model, uint32_t step,
                          bool python) {
    uint32_t from = path->steps[step].function;
    if (bp_owner_may_be_user(&model->functions[from]) && counts(path, step, true))
        return BP_NO_FUNCTION;
    for (uint32_t i = step + 1; i < path->count; i++) {
        uint32_t function = path->steps[i].function;
        if (counts(path, i, python) && bp_owner_may_be_user(&model->functions[function]))
            return function;
    }
    return BP_NO_FUNCTION;
}

/* Runtime calls and CUDA calls are what the time was spent in, by name. Within the DSL its helpers
 * are part of the function that is measured. */
static bool is_whole(const struct bp_model *model, uint32_t node_function, uint32_t owner) {
    const struct bp_function *function = &model->functions[node_function];
    return function->kind == BP_FUNC_WAIT || function->kind == BP_FUNC_IO || function->cuda ||
           (function->category == BP_DSL && model->functions[owner].category == BP_DSL);
}

struct bp_path_view bp_path_view(const struct bp_path *path, const struct bp_model *model) {
    bool python = has_python(path);
    struct bp_path_view view = {path->function, BP_NO_FUNCTION, BP_NO_FUNCTION,
                                model->functions[path->function].group, BP_NO_FUNCTION};
    if (path->inner == 0)
        return view;
    uint32_t step = find_owner(path, model, python);
    if (is_whole(model, path->function, path->steps[step].function))
        step = path->inner - 1;
    uint32_t purpose = find_purpose(path, model);
    view.owner = path->steps[step].function;
    view.caller = find_caller(path, model, step, NULL, python);
    view.user = find_user(path, model, step, python);
    view.group = model->functions[view.owner].group;
    view.group_caller = view.caller;
    if (purpose < path->count) {
        view.group = model->functions[path->steps[purpose].function].group;
        view.group_caller = find_caller(path, model, purpose, view.group, python);
    }
    return view;
}
