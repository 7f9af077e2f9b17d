/* SPDX-License-Identifier: MIT
 *
 * The user's time is summed by what a pattern of `run --dsl` can name: the script, a package with
 * its submodules, a library, the program itself. Calls within a program cannot be intercepted, so
 * no option names it. Where libraries have far more of the time, what takes it there is proposed,
 * too.
 */
#include "tools/analyze/choice.h"

#include <stdlib.h>
#include <string.h>

#include "profile/pattern.h"
#include "tools/analyze/again.h"
#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

#define MOST_NAMES 3
/* Share of the user's time below which a thing is not worth another run. */
#define SMALLEST_PART 0.1
/* Share of the libraries' time below which the user's code is not what takes it. */
#define LITTLE 0.1
/* Share of the wall below which a library is not worth another run. */
#define SMALLEST_LIBRARY 0.05

/* Characters that mean themselves, in a pattern and to a shell. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-+"

struct thing {
    char *pattern;    /* that names it */
    const char *text; /* as people know it: borrowed, or the pattern */
    double s;
    double sampled_s; /* not timed call by call */
    bool exact;       /* its calls can be intercepted */
    bool native;
    bool program; /* native code outside of a library */
};

struct things {
    struct thing *list;
    uint32_t count;
    struct bp_keys table;
};

static char *library_pattern(const char *library) {
    const char *end = strstr(library, ".so");
    return bp_make_text("%.*s", (int)(end ? (size_t)(end - library) : strlen(library)), library);
}

/* A package's extension modules are named as it is, by their place. */
static char *pattern_of(const struct bp_function *function) {
    if (function->script)
        return bp_copy_text("__main__");
    if (function->module[0])
        return bp_make_text("%.*s", (int)strcspn(function->module, "."), function->module);
    return library_pattern(function->library);
}

static bool is_cell(const struct bp_function *function) {
    return strncmp(function->module, "In[", 3) == 0;
}

static const char *text_of(const struct bp_function *function, const char *pattern) {
    if (is_cell(function))
        return "the notebook";
    return function->script && function->file[0] == '/' ? bp_base_name(function->file)
           : function->script                           ? "the script"
                                                        : pattern;
}

/* Does a function of the library that has a name stand on a stack? What a program finds in a
 * plug-in by pointers alone has none where it is stripped, and no slot is bound to it. */
static bool is_entered(const struct bp_model *model, const struct bp_function *function) {
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *other = &model->functions[i];
        if (strcmp(other->path, function->path) == 0 && other->kind == BP_FUNC_CALL &&
            (other->on_stacks || other->calls) && !strstr(other->name, "+0x"))
            return true;
    }
    return false;
}

static void add_part(struct things *things, const struct bp_model *model,
                     const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    char *pattern = pattern_of(function);
    uint32_t before = things->count;
    uint32_t number = bp_keys_put(&things->table, pattern, strlen(pattern));
    if (number == before) {
        struct thing *fresh = BP_APPEND(things->list, things->count);
        fresh->pattern = pattern;
        fresh->text = text_of(function, pattern);
    } else {
        free(pattern);
    }
    struct thing *thing = &things->list[number];
    thing->s += part->self_s;
    thing->sampled_s += part->kind == BP_PART_SAMPLED && !function->calls ? part->self_s : 0;
    thing->native |= !function->module[0];
    thing->program |= !function->module[0] && !strstr(function->library, ".so");
    if (strspn(thing->pattern, PLAIN) < strlen(thing->pattern))
        return; /* it could not be pasted */
    if (strstr(function->library, ".cpython-") || strstr(function->library, ".abi3."))
        return; /* the interpreter calls it by pointers: no slot to intercept */
    thing->exact |= (function->module[0] && strcmp(function->name, "<module>") != 0) ||
                    (!function->module[0] && !thing->exact && strstr(function->library, ".so") &&
                     is_entered(model, function));
}

static int compare_things(const void *a, const void *b) {
    const struct thing *x = a;
    const struct thing *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return strcmp(x->pattern, y->pattern);
}

/* The user's Python functions had no time of their own, but were on stacks: what they call took it.
 */
static void add_callers(struct things *things, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        const struct bp_part none = {.function = i};
        if (function->owner == BP_OWNER_USER && function->kind == BP_FUNC_CALL &&
            function->module[0] && function->name[0] != '<')
            add_part(things, model, &none);
    }
}

/* What samples or calls found of an owner's code, the largest first. */
static struct things find_things(const struct bp_model *model, enum bp_owner owner) {
    struct things things = {0};
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_function *function = &model->functions[model->parts[i].function];
        if (function->owner == owner && function->kind == BP_FUNC_CALL && !function->cuda &&
            (function->module[0] || function->path[0]))
            add_part(&things, model, &model->parts[i]);
    }
    if (!things.count && owner == BP_OWNER_USER)
        add_callers(&things, model);
    if (things.count)
        qsort(things.list, things.count, sizeof(*things.list), compare_things);
    bp_keys_fini(&things.table);
    return things;
}

static void things_fini(struct things *things) {
    for (uint32_t i = 0; i < things->count; i++)
        free(things->list[i].pattern);
    free(things->list);
}

static char *name_things(const struct things *things) {
    struct bp_text text = {0};
    for (uint32_t i = 0; i < things->count && i < MOST_NAMES; i++)
        bp_text_add(&text, "%s%s",
                    i == 0                                                  ? ""
                    : i + 1 == things->count && things->count <= MOST_NAMES ? " and "
                                                                            : ", ",
                    things->list[i].text);
    if (things->count > MOST_NAMES)
        bp_text_add(&text, " and %u more", things->count - MOST_NAMES);
    return bp_text_take(&text);
}

/* Is the file that of the program's script? */
static bool is_script(const struct bp_model *model, const char *file) {
    for (uint32_t i = 0; i < model->function_count; i++)
        if (model->functions[i].script && strcmp(model->functions[i].file, file) == 0)
            return true;
    return false;
}

/* Functions of the modules that the pattern names, each file once. */
static uint32_t count_functions(const struct bp_model *model, const char *list) {
    struct bp_keys files = {0};
    struct bp_pattern pattern;
    uint32_t count = 0;
    bp_pattern_next(&list, &pattern);
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_profile *profile = model->processes[i].profile;
        for (uint32_t k = 0; k < profile->module_count; k++) {
            const struct bp_module *module = &profile->modules[k];
            const char *file = bp_profile_string(profile, module->file);
            struct bp_pattern_python python = {bp_profile_string(profile, module->name), file, NULL,
                                               is_script(model, file)};
            uint32_t before = files.count;
            if (module->functions != BP_MODULE_UNKNOWN && bp_pattern_is_python(&pattern, &python) &&
                bp_keys_put(&files, file, strlen(file)) == before)
                count += module->functions;
        }
    }
    bp_keys_fini(&files);
    return count;
}

/* The list, which this frees, with one more at its end. */
static void append(char **list, const char *between, const char *before, const char *text) {
    char *longer = bp_make_text("%s%s%s%s", *list, (*list)[0] ? between : "", before, text);
    free(*list);
    *list = longer;
}

/* Options for all that is worth it; functions of a library are not counted before it is hooked. */
static void choose(struct bp_choice *choice, const struct bp_model *model,
                   const struct things *things, double least_s) {
    double sum_s = 0;
    for (uint32_t i = 0; i < things->count; i++)
        sum_s += things->list[i].s;
    for (uint32_t i = 0; i < things->count && i < MOST_NAMES; i++) {
        const struct thing *thing = &things->list[i];
        if (!thing->exact || !(thing->sampled_s >= SMALLEST_PART * sum_s) ||
            !(thing->sampled_s >= least_s))
            continue;
        uint32_t functions = count_functions(model, thing->pattern);
        choice->native |= thing->native;
        choice->unknown |= functions == 0;
        choice->functions += functions;
        append(&choice->options, " ", "--dsl ", thing->pattern);
        append(&choice->named, " and ", "", thing->text);
    }
}

static double sampled_s(const struct things *things) {
    double sum_s = 0;
    for (uint32_t i = 0; i < things->count; i++)
        sum_s += things->list[i].sampled_s;
    return sum_s;
}

void bp_choice_init(struct bp_choice *choice, const struct bp_model *model) {
    *choice = (struct bp_choice){.options = bp_copy_text(""), .named = bp_copy_text("")};
    struct things things = find_things(model, BP_OWNER_USER);
    struct things others = find_things(model, BP_OWNER_LIBRARY);
    choice->yours = name_things(&things);
    choice->program = things.count > 0 && things.list[0].program;
    choose(choice, model, &things, 0);
    if (sampled_s(&things) < LITTLE * sampled_s(&others))
        choose(choice, model, &others, SMALLEST_LIBRARY * model->wall.total_s);
    if (choice->unknown)
        choice->functions = 0;
    things_fini(&others);
    things_fini(&things);
}

void bp_choice_fini(struct bp_choice *choice) {
    free(choice->yours);
    free(choice->options);
    free(choice->named);
}

char *bp_choice_command(const struct bp_choice *choice, const struct bp_model *model) {
    char *command = choice->options[0] ? bp_again_run(model, choice->options) : NULL;
    return command ? command : bp_copy_text("");
}
