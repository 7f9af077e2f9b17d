/* SPDX-License-Identifier: MIT */
#include "interpose/python/choose.h"

#include <fnmatch.h>
#include <string.h>

#include "profile/format.h"

#define GLOBS 32
#define GLOB_SIZE 128
#define DEEPEST_PACKAGE 8

struct counted {
    char module[GLOB_SIZE];
    char qualname[GLOB_SIZE];
    uint16_t flags;
    int nested;
};

static struct {
    unsigned pattern_count;
    unsigned count;
    unsigned counted_count;
    int by_default;
    char globs[GLOBS][GLOB_SIZE];
    struct bp_pattern patterns[GLOBS];
    struct counted counted[GLOBS];
} state;

static void add_globs(const char *text) {
    while (*text && state.count < GLOBS) {
        size_t length = strcspn(text, ", \t\n");
        if (length > 0 && length < GLOB_SIZE)
            memcpy(state.globs[state.count++], text, length);
        text += length;
        text += strspn(text, ", \t\n");
    }
}

enum bp_py_mode bp_py_choose_init(const char *dsl, const char *globs, const char *all) {
    while (dsl && state.pattern_count < GLOBS &&
           bp_pattern_next(&dsl, &state.patterns[state.pattern_count]))
        state.pattern_count++;
    if (globs && strcmp(globs, "none") == 0)
        return state.counted_count || state.pattern_count ? BP_PY_CHOSEN : BP_PY_NONE;
    state.by_default = !globs && !state.pattern_count;
    add_globs(globs ? globs : state.by_default ? "dsl,dsl.*" : "");
    return all ? BP_PY_ALL : BP_PY_CHOSEN;
}

static int matches(const char *module) {
    for (unsigned i = 0; i < state.count; i++)
        if (fnmatch(state.globs[i], module, 0) == 0)
            return 1;
    return 0;
}

void bp_py_choose_count(const char *pattern, uint16_t flags, int nested) {
    size_t module = strcspn(pattern, ":");
    const char *qualname = pattern[module] ? pattern + module + 1 : "*";
    if (state.counted_count == GLOBS || module >= GLOB_SIZE || strlen(qualname) >= GLOB_SIZE)
        return;
    struct counted *counted = &state.counted[state.counted_count++];
    memcpy(counted->module, pattern, module);
    strcpy(counted->qualname, *qualname ? qualname : "*");
    counted->flags = flags;
    counted->nested = nested;
}

/* "f.<locals>.g.<locals>.<lambda>" is in f and in g. */
static int is_nested_in(const char *glob, const char *qualname) {
    static const char mark[] = ".<locals>.";
    char outer[GLOB_SIZE];
    for (const char *at = qualname; (at = strstr(at, mark)) != NULL; at += sizeof mark - 1) {
        size_t length = (size_t)(at - qualname);
        if (length >= sizeof outer)
            return 0;
        memcpy(outer, qualname, length);
        outer[length] = '\0';
        if (fnmatch(glob, outer, 0) == 0)
            return 1;
    }
    return 0;
}

static int names(const struct counted *counted, const char *qualname) {
    return !qualname || fnmatch(counted->qualname, qualname, 0) == 0 ||
           (counted->nested && is_nested_in(counted->qualname, qualname));
}

int bp_py_choose_has_lines(void) {
    int any = 0;
    for (unsigned i = 0; i < state.counted_count; i++)
        any |= state.counted[i].flags & BP_FUNC_LINES;
    return any != 0;
}

static uint16_t counts(const char *module, const char *qualname) {
    uint16_t flags = 0;
    for (unsigned i = 0; i < state.counted_count; i++)
        if (fnmatch(state.counted[i].module, module, 0) == 0 && names(&state.counted[i], qualname))
            flags |= state.counted[i].flags;
    return flags;
}

/* The path without ".py" and "/__init__.py"; the length of what is left. */
static size_t stem_end(const char *file) {
    size_t length = strlen(file);
    if (length > 3 && strcmp(file + length - 3, ".py") == 0)
        length -= 3;
    if (length > 9 && strncmp(file + length - 9, "/__init__", 9) == 0)
        length -= 9;
    return length;
}

void bp_py_stem(const char *file, char *stem, unsigned size) {
    size_t end = stem_end(file), start = end;
    while (start > 0 && file[start - 1] != '/')
        start--;
    size_t length = end - start < size ? end - start : size - 1;
    memcpy(stem, file + start, length);
    stem[length] = '\0';
}

/* A program is its file, and it is __main__. */
uint16_t bp_py_choose_counted(const struct bp_pattern_python *function) {
    char stem[GLOB_SIZE];
    if (!state.counted_count)
        return 0;
    uint16_t flags = counts(function->module, function->name);
    if (!function->script)
        return flags;
    bp_py_stem(function->file, stem, sizeof stem);
    return flags | counts(stem, function->name) | counts("__main__", function->name);
}

int bp_py_choose(const struct bp_pattern_python *function) {
    char stem[GLOB_SIZE];
    for (unsigned i = 0; i < state.pattern_count; i++)
        if (bp_pattern_is_python(&state.patterns[i], function))
            return 1;
    if (matches(function->module))
        return 1;
    bp_py_stem(function->file, stem, sizeof stem);
    return (function->script && (matches(stem) || matches("__main__"))) ||
           (state.by_default && strcmp(stem, "dsl") == 0);
}

/* /a/b/c.py may be the module c, b.c or a.b.c, or __main__. */
int bp_py_choose_maybe(const char *file) {
    char path[512], *start;
    size_t end = stem_end(file);
    struct bp_pattern_python any = {.file = file, .module = "__main__", .script = 1};
    if (end >= sizeof path || bp_py_choose_counted(&any) || bp_py_choose(&any))
        return 1;
    memcpy(path, file, end);
    path[end] = '\0';
    for (int depth = 0; depth < DEEPEST_PACKAGE; depth++) {
        start = strrchr(path, '/');
        any.module = start ? start + 1 : path;
        if (bp_py_choose_counted(&any) || bp_py_choose(&any))
            return 1;
        if (!start)
            return 0;
        *start = '.';
    }
    return 0;
}
