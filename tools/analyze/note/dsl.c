/* SPDX-License-Identifier: MIT
 *
 * What became of the patterns of `run --dsl`: one that matched nothing names the nearest thing that
 * was loaded, and functions that could not be intercepted are said to be sampled only.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "profile/pattern.h"
#include "tools/analyze/note/note.h"
#include "tools/base/memory.h"
#include "tools/base/nearest.h"
#include "tools/base/text.h"

/* How much of what a pattern says was there. */
enum found {
    NOTHING,
    LOADED,  /* a module or library, but none of its functions was seen */
    SAMPLED, /* functions, but no call of them could be intercepted */
    EXACT
};

struct search {
    const struct bp_model *model;
    const struct bp_pattern *pattern;
    enum found found;
    const char *where; /* what was loaded; NULL */
    struct bp_nearest nearest;
    char **texts; /* that candidates are made of */
    uint32_t text_count;
};

static void see(struct search *search, enum found found, const char *where) {
    if (found > search->found)
        search->found = found;
    if (!search->where)
        search->where = where;
}

static bool matches(const struct search *search, const struct bp_function *function,
                    const char *name) {
    if (function->module[0]) {
        struct bp_pattern_python python = {function->module, function->file, name,
                                           function->script};
        return bp_pattern_is_python(search->pattern, &python);
    }
    struct bp_pattern_native native = {function->path, "", name};
    return function->path[0] && bp_pattern_is_native(search->pattern, &native);
}

static void look_at_functions(struct search *search) {
    for (uint32_t i = 0; i < search->model->function_count; i++) {
        const struct bp_function *function = &search->model->functions[i];
        const char *name = function->module[0] ? function->name : function->full_name;
        if (function->kind != BP_FUNC_CALL || !matches(search, function, NULL))
            continue;
        const char *where = function->module[0] ? function->module : function->library;
        see(search, LOADED, where);
        if (matches(search, function, name))
            see(search,
                function->calls || function->in_flight ? EXACT
                : function->on_stacks                  ? SAMPLED
                                                       : LOADED,
                where);
        else if (function->on_stacks || function->calls)
            bp_nearest_offer(&search->nearest, name);
    }
}

static void offer(struct search *search, char *text) {
    *BP_APPEND(search->texts, search->text_count) = text;
    if (!search->where)
        bp_nearest_offer(&search->nearest, text);
}

/* mypkg.a.b is in mypkg and in mypkg.a. */
static void offer_module(struct search *search, const char *name) {
    offer(search, bp_copy_text(name));
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        offer(search, bp_make_text("%.*s", (int)(dot - name), name));
}

/* The names that a library may be given by, without its version. */
static void offer_library(struct search *search, const char *path) {
    const char *name = bp_base_name(path), *end = strstr(name, ".so");
    size_t length = end ? (size_t)(end - name) : strlen(name);
    bool prefixed = length > 3 && strncmp(name, "lib", 3) == 0;
    if (!name[0] || strncmp(name, "libbattprof", 11) == 0)
        return;
    offer(search, bp_make_text("%.*s", (int)length, name));
    if (end)
        offer(search, bp_make_text("%.*s.so", (int)length, name));
    if (prefixed)
        offer(search, bp_make_text("%.*s", (int)length - 3, name + 3));
}

static void look_at_modules(struct search *search, const struct bp_profile *profile) {
    struct bp_pattern any = *search->pattern;
    any.what[0] = 0;
    for (uint32_t i = 0; i < profile->module_count; i++) {
        const char *file = bp_profile_string(profile, profile->modules[i].file);
        const char *name = bp_profile_string(profile, profile->modules[i].name);
        struct bp_pattern_python python = {name, file, NULL, 0};
        if (bp_pattern_is_python(&any, &python))
            see(search, LOADED, name);
        offer_module(search, name);
        offer(search, bp_copy_text(bp_base_name(file)));
    }
}

static void look_at_objects(struct search *search, const struct bp_profile *profile) {
    struct bp_pattern any = *search->pattern;
    any.what[0] = 0;
    for (uint32_t i = 0; i < profile->object_count; i++) {
        const char *path = bp_profile_string(profile, profile->objects[i].path);
        struct bp_pattern_native native = {
            path, bp_profile_string(profile, profile->objects[i].soname), NULL};
        if (path[0] && bp_pattern_is_native(&any, &native))
            see(search, LOADED, bp_base_name(path));
        offer_library(search, path);
    }
}

/* Is the word a function's name, or its last part? Functions of a pattern may stand under it. */
static bool is_name_of(const char *word, const char *name) {
    const char *dot = strrchr(name, '.');
    return strcmp(word, name) == 0 || (dot && strcmp(word, dot + 1) == 0) ||
           (strpbrk(name, "*?[") && fnmatch(name, word, 0) == 0);
}

/* Who names a function without its module or library finds it behind a colon: a new text, NULL. */
static char *find_function(const struct search *search) {
    const char *word = search->pattern->where;
    for (uint32_t i = 0; i < search->model->function_count; i++) {
        const struct bp_function *function = &search->model->functions[i];
        const char *where = function->script      ? "__main__"
                            : function->module[0] ? function->module
                                                  : function->library;
        if (function->kind == BP_FUNC_CALL && where[0] && !search->pattern->what[0] &&
            (function->calls || function->on_stacks) && is_name_of(word, function->name))
            return bp_make_text("%s:%s", where,
                                strchr(function->name, '*') ? word : function->name);
    }
    return NULL;
}

static void search_fini(struct search *search) {
    for (uint32_t i = 0; i < search->text_count; i++)
        free(search->texts[i]);
    free(search->texts);
}

static void explain(struct bp_analysis *analysis, const struct search *search) {
    const struct bp_pattern *pattern = search->pattern;
    const char *colon = pattern->what[0] ? ":" : "";
    const char *best = search->nearest.best;
    const char *mean = best ? "; did you mean " : "", *mark = best ? "?" : "";
    if (search->found == NOTHING)
        bp_analysis_note(analysis,
                         "--dsl '%s%s%s': no module, file or library of that name was loaded%s%s%s",
                         pattern->where, colon, pattern->what, mean, best ? best : "", mark);
    else if (search->found == LOADED && pattern->what[0])
        bp_analysis_note(analysis, "--dsl '%s%s%s': no such function of %s was called%s%s%s",
                         pattern->where, colon, pattern->what, search->where, mean,
                         best ? best : "", mark);
    else if (search->found == LOADED)
        bp_analysis_note(analysis,
                         "--dsl '%s': %s was loaded, but none of its functions was called",
                         pattern->where, search->where);
    else if (search->found == SAMPLED)
        bp_analysis_note(analysis,
                         "--dsl '%s%s%s': calls within %s cannot be intercepted (static, hidden or "
                         "-Bsymbolic functions): their time is sampled and still counts as DSL",
                         pattern->where, colon, pattern->what, search->where);
}

/* Who names a function means it by its name within the module; who names a module, by its own. */
static void check(struct bp_analysis *analysis, const struct bp_pattern *pattern) {
    struct search search = {.model = analysis->model, .pattern = pattern};
    search.nearest.word = pattern->what[0] ? pattern->what : pattern->where;
    look_at_functions(&search);
    if (search.found < SAMPLED) {
        if (search.found == NOTHING)
            search.nearest = (struct bp_nearest){.word = bp_base_name(pattern->where)};
        char *function = search.found == NOTHING ? find_function(&search) : NULL;
        for (uint32_t i = 0; i < analysis->model->process_count; i++) {
            look_at_modules(&search, analysis->model->processes[i].profile);
            look_at_objects(&search, analysis->model->processes[i].profile);
        }
        if (function && search.found == NOTHING)
            search.nearest.best = *BP_APPEND(search.texts, search.text_count) = function;
        else
            free(function);
    }
    explain(analysis, &search);
    if (search.found < SAMPLED && !analysis->unmatched)
        analysis->unmatched = analysis->notes[analysis->note_count - 1];
    search_fini(&search);
}

bool bp_notes_dsl(struct bp_analysis *analysis) {
    const char *list = bp_model_variable(analysis->model, "BATTPROF_DSL");
    struct bp_pattern pattern;
    bool any = false;
    if (analysis->model->run.imported || analysis->model->process_count == 0)
        return false;
    for (; bp_pattern_next(&list, &pattern); any = true)
        check(analysis, &pattern);
    return any;
}
