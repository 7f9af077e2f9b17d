/* SPDX-License-Identifier: MIT */
#include "interpose/python/choose.h"

#include <fnmatch.h>
#include <string.h>

#define GLOBS 32
#define GLOB_SIZE 128
#define DEEPEST_PACKAGE 8

struct counted {
    char module[GLOB_SIZE];
    char qualname[GLOB_SIZE];
    uint16_t flags;
};

static struct {
    char globs[GLOBS][GLOB_SIZE];
    unsigned count;
    int by_default;
    struct counted counted[GLOBS];
    unsigned counted_count;
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

enum bp_py_mode bp_py_choose_init(const char *globs, const char *all) {
    if (globs && strcmp(globs, "none") == 0)
        return state.counted_count ? BP_PY_CHOSEN : BP_PY_NONE;
    state.by_default = !globs;
    add_globs(globs ? globs : "dsl,dsl.*");
    return all ? BP_PY_ALL : BP_PY_CHOSEN;
}

static int matches(const char *module) {
    for (unsigned i = 0; i < state.count; i++)
        if (fnmatch(state.globs[i], module, 0) == 0)
            return 1;
    return 0;
}

void bp_py_choose_count(const char *pattern, uint16_t flags) {
    size_t module = strcspn(pattern, ":");
    const char *qualname = pattern[module] ? pattern + module + 1 : "*";
    if (state.counted_count == GLOBS || module >= GLOB_SIZE || strlen(qualname) >= GLOB_SIZE)
        return;
    struct counted *counted = &state.counted[state.counted_count++];
    memcpy(counted->module, pattern, module);
    strcpy(counted->qualname, *qualname ? qualname : "*");
    counted->flags = flags;
}

static uint16_t counts(const char *module, const char *qualname) {
    uint16_t flags = 0;
    for (unsigned i = 0; i < state.counted_count; i++)
        if (fnmatch(state.counted[i].module, module, 0) == 0 &&
            (!qualname || fnmatch(state.counted[i].qualname, qualname, 0) == 0))
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

static int is_script(const char *module) {
    return strcmp(module, "__main__") == 0 || strcmp(module, "__mp_main__") == 0;
}

uint16_t bp_py_choose_counted(const char *module, const char *file, const char *qualname) {
    char stem[GLOB_SIZE];
    if (!state.counted_count)
        return 0;
    uint16_t flags = counts(module, qualname);
    if (!is_script(module))
        return flags;
    bp_py_stem(file, stem, sizeof stem);
    return flags | counts(stem, qualname);
}

/* A program is its file: dsl.py is also chosen when it is run as a script. */
int bp_py_choose(const char *module, const char *file) {
    char stem[GLOB_SIZE];
    int script = is_script(module);
    if (!script && matches(module))
        return 1;
    bp_py_stem(file, stem, sizeof stem);
    return script ? matches(stem) : state.by_default && strcmp(stem, "dsl") == 0;
}

/* /a/b/c.py may be the module c, b.c or a.b.c, or __main__. */
int bp_py_choose_maybe(const char *file) {
    char path[512], *start;
    size_t end = stem_end(file);
    if (end >= sizeof path || counts("__main__", NULL))
        return 1;
    memcpy(path, file, end);
    path[end] = '\0';
    for (int depth = 0; depth < DEEPEST_PACKAGE; depth++) {
        start = strrchr(path, '/');
        const char *name = start ? start + 1 : path;
        if (matches(name) || counts(name, NULL))
            return 1;
        if (!start)
            return 0;
        *start = '.';
    }
    return 0;
}
