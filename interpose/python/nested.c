/* SPDX-License-Identifier: MIT */
#include "interpose/python/nested.h"

#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/layout.h"
#include "interpose/python/stack/qualnames.h"

#define CO_OPTIMIZED 0x1 /* a function, not a class body */
#define DEEPEST 64

static struct {
    const struct bp_layout *layout;
    int checked;
    void *code_type, *tuple_type;
} state;

static void *at(const void *object, unsigned offset) {
    return *(void *const *)((const char *)object + offset);
}

static uint32_t number_at(const void *object, unsigned offset) {
    return *(const uint32_t *)((const char *)object + offset);
}

/* Things are where we think they are, or nobody looks. */
static int is_right(const struct bp_layout *layout, void *code) {
    void *constants = bp_py.PyObject_GetAttrString(code, "co_consts");
    void *name = bp_py.PyObject_GetAttrString(code, "co_name");
    int right = constants && at(code, layout->constants) == constants && name &&
                at(code, layout->name) == name &&
                number_at(code, layout->flags) == (uint32_t)bp_py_number(code, "co_flags") &&
                number_at(code, layout->line) == (uint32_t)bp_py_number(code, "co_firstlineno");
    if (right) {
        state.code_type = bp_py_type(code);
        state.tuple_type = bp_py_type(constants);
    }
    bp_py_drop(constants);
    bp_py_drop(name);
    bp_py.PyErr_Clear();
    return right;
}

static int is_known(void *code) {
    if (!state.checked) {
        const struct bp_layout *layout =
            bp_py_odd_build() ? NULL : bp_layout_find(bp_py.Py_GetVersion());
        state.layout = layout && is_right(layout, code) ? layout : NULL;
        state.checked = 1;
    }
    return state.layout && bp_py_type(code) == state.code_type;
}

struct walk {
    uint64_t file;
    uint32_t functions;
    int names; /* are to be noted */
};

/* Comprehensions and the like are no functions to a reader of the program. */
static int is_function(uint32_t flags, const char *name) {
    return flags & CO_OPTIMIZED && (*name != '<' || strcmp(name, "<lambda>") == 0);
}

/* The prefix of what is in it: a kept text; NULL: it is not needed, or there is no memory. */
static const char *inner_prefix(const struct walk *walk, const char *prefix, const char *name,
                                uint32_t flags) {
    const char *own = walk->names ? bp_py_qualnames_keep(prefix, name) : NULL;
    return own ? bp_py_qualnames_keep(own, flags & CO_OPTIMIZED ? ".<locals>." : ".") : NULL;
}

static void *item_of(const void *tuple, long i) {
    return at(tuple, state.layout->tuple + 8 * (unsigned)i);
}

static int has_code(const void *constants, long count) {
    for (long i = 0; i < count; i++)
        if (bp_py_type(item_of(constants, i)) == state.code_type)
            return 1;
    return 0;
}

static void walk_constants(struct walk *walk, void *code, const char *prefix, int depth);

static void walk_one(struct walk *walk, void *code, const char *prefix, int depth) {
    const struct bp_layout *layout = state.layout;
    const char *name = bp_py.PyUnicode_AsUTF8(at(code, layout->name));
    uint32_t flags = number_at(code, layout->flags);
    void *constants = at(code, layout->constants);
    if (!name)
        return;
    walk->functions += (uint32_t)is_function(flags, name);
    if (walk->names && prefix && *prefix)
        bp_py_qualnames_note(bp_py_qualnames_key(walk->file, number_at(code, layout->line), name),
                             prefix);
    if (has_code(constants, *(const long *)((const char *)constants + BP_LAYOUT_SIZE)))
        walk_constants(walk, code, inner_prefix(walk, prefix ? prefix : "", name, flags),
                       depth + 1);
}

static void walk_constants(struct walk *walk, void *code, const char *prefix, int depth) {
    void *constants = at(code, state.layout->constants);
    if (depth > DEEPEST || bp_py_type(constants) != state.tuple_type)
        return;
    long count = *(const long *)((const char *)constants + BP_LAYOUT_SIZE);
    for (long i = 0; i < count; i++) {
        void *constant = item_of(constants, i);
        if (bp_py_type(constant) == state.code_type)
            walk_one(walk, constant, prefix, depth);
    }
}

static struct walk begin(void *code) {
    const char *file = bp_py.PyUnicode_AsUTF8(at(code, state.layout->filename));
    struct walk walk = {.names = !state.layout->qualname && file};
    if (walk.names)
        walk.file = bp_py_qualnames_file(file);
    return walk;
}

uint32_t bp_py_nested_note(void *code) {
    if (!is_known(code))
        return BP_NESTED_UNKNOWN;
    struct walk walk = begin(code);
    walk_constants(&walk, code, "", 0);
    bp_py.PyErr_Clear();
    return walk.functions;
}

/* "Grid." of "Grid.paint" and paint. */
void bp_py_nested_name(void *code, const char *qualname) {
    char prefix[512];
    if (!is_known(code) || state.layout->qualname)
        return;
    struct walk walk = begin(code);
    const char *name = bp_py.PyUnicode_AsUTF8(at(code, state.layout->name));
    size_t length = strlen(qualname), plain = name ? strlen(name) : length + 1;
    if (plain > length || length - plain >= sizeof prefix ||
        strcmp(qualname + length - plain, name) != 0)
        return;
    memcpy(prefix, qualname, length - plain);
    prefix[length - plain] = '\0';
    walk_one(&walk, code, *prefix ? bp_py_qualnames_keep(prefix, "") : "", 0);
    bp_py.PyErr_Clear();
}
