/* SPDX-License-Identifier: MIT */
#include "interpose/python/loaded.h"

#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/nested.h"
#include "interpose/python/watch.h"

#define TYPE_SUBCLASS (INT64_C(1) << 31) /* of type.__flags__: what has this type is a type */
#define DEEPEST 8                        /* classes in classes, decorators of decorators */

struct visit {
    const char *module;
    int minor;
};

static int has_type(void *object, const char *name) {
    void *held;
    int same = strcmp(bp_py_text(bp_py_type(object), "__name__", &held), name) == 0;
    bp_py_drop(held);
    return same;
}

static int is_type(void *object) {
    long flags = bp_py_number(bp_py_type(object), "__flags__");
    return flags != -1 && flags & TYPE_SUBCLASS;
}

/* Whether its __module__ is the one we look at; others are imported there. */
static int is_of(const struct visit *visit, void *object) {
    void *held;
    int same = strcmp(bp_py_text(object, "__module__", &held), visit->module) == 0;
    bp_py_drop(held);
    return same;
}

static void visit_function(const struct visit *visit, void *function) {
    void *held, *code = bp_py.PyFunction_GetCode(function);
    void *globals = code ? bp_py.PyObject_GetAttrString(function, "__globals__") : NULL;
    if (globals && visit->minor >= 12)
        bp_py_watch_existing(code, globals);
    else if (globals && visit->minor < 11) {
        bp_py_nested_name(code, bp_py_text(function, "__qualname__", &held));
        bp_py_drop(held);
    }
    bp_py_drop(globals);
    bp_py.PyErr_Clear();
}

static void visit_value(const struct visit *visit, void *value, int depth);

static void visit_attribute(const struct visit *visit, void *value, const char *name, int depth) {
    void *inner = bp_py.PyObject_GetAttrString(value, name);
    bp_py.PyErr_Clear();
    if (inner && has_type(inner, "function"))
        visit_value(visit, inner, depth + 1);
    bp_py_drop(inner);
}

static void visit_dictionary(const struct visit *visit, void *dictionary, int depth) {
    void *key, *value;
    long place = 0;
    while (bp_py.PyDict_Next(dictionary, &place, &key, &value)) {
        bp_py.Py_IncRef(value);
        visit_value(visit, value, depth);
        bp_py.Py_DecRef(value);
    }
}

/* A class shows its dictionary through a proxy, which only a copy can be read through. */
static void visit_class(const struct visit *visit, void *type, int depth) {
    void *proxy = bp_py.PyObject_GetAttrString(type, "__dict__");
    void *copy = proxy ? bp_py.PyDict_New() : NULL;
    if (copy && bp_py.PyDict_Update(copy, proxy) == 0)
        visit_dictionary(visit, copy, depth + 1);
    bp_py.PyErr_Clear();
    bp_py_drop(copy);
    bp_py_drop(proxy);
}

static void visit_value(const struct visit *visit, void *value, int depth) {
    if (has_type(value, "function")) {
        if (is_of(visit, value))
            visit_function(visit, value);
        if (depth < DEEPEST)
            visit_attribute(visit, value, "__wrapped__", depth);
    } else if (has_type(value, "_lru_cache_wrapper")) {
        visit_attribute(visit, value, "__wrapped__", depth);
    } else if (has_type(value, "staticmethod") || has_type(value, "classmethod")) {
        visit_attribute(visit, value, "__func__", depth);
    } else if (has_type(value, "property")) {
        visit_attribute(visit, value, "fget", depth);
        visit_attribute(visit, value, "fset", depth);
        visit_attribute(visit, value, "fdel", depth);
    } else if (depth < DEEPEST && is_type(value) && is_of(visit, value)) {
        visit_class(visit, value, depth);
    }
}

void bp_py_loaded_visit(void *globals, const char *name, int minor) {
    struct visit visit = {name, minor};
    visit_dictionary(&visit, globals, 0);
    bp_py.PyErr_Clear();
}
