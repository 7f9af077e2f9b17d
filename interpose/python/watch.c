/* SPDX-License-Identifier: MIT
 *
 * Events cost time wherever they are switched on, so each is switched on for one code object at a
 * time, when that code is found to matter.
 */
#include "interpose/python/watch.h"

#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/module.h"
#include "interpose/python/monitor.h"
#include "interpose/python/spread.h"
#include "interpose/python/task.h"

#define EVAL_INPUT 258 /* Py_eval_input */
#define HEAP_TYPE 0x200
#define DEEPEST_NESTING 64
#define SEEN_BITS 12 /* pairs of caller and callee whose place in the caller is not fixed */

static struct {
    enum bp_py_mode mode;
    void *function, *method, *type; /* types */
    struct {
        const void *caller, *callee;
    } seen[1 << SEEN_BITS];
} state;

/* What Python code may reach without a call instruction of its own. */
static const char *const hidden[] = {
    "__init__",
    "__new__",
    "__call__",
    "__instancecheck__",
    "__subclasscheck__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__contains__",
    "__len__",
    "__iter__",
    "__next__",
    "__bool__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__add__",
    "__radd__",
    "__sub__",
    "__mul__",
    "__truediv__",
    "__floordiv__",
    "__mod__",
    "__and__",
    "__or__",
    "__xor__",
    "__neg__",
    "__getattr__",
    "__getattribute__",
    "__setattr__",
    "__enter__",
    "__exit__",
    "__repr__",
    "__str__",
    "__format__",
    "__index__",
    "__int__",
    "__float__",
    "__ror__",
    "__iadd__",
    "__class_getitem__",
};

static void *evaluate(const char *text) {
    void *globals = bp_py.PyDict_New();
    void *code = bp_py.Py_CompileString(text, "battprof", EVAL_INPUT);
    bp_py_unseen_begin();
    void *value = code && globals ? bp_py.PyEval_EvalCode(code, globals, globals) : NULL;
    bp_py_unseen_end();
    if (!value)
        bp_py.PyErr_Clear();
    bp_py_drop(globals);
    bp_py_drop(code);
    return value;
}

int bp_py_watch_init(enum bp_py_mode mode) {
    state.mode = mode;
    state.function = evaluate("type(lambda: 0)");
    state.method = evaluate("type((lambda: 0).__get__(0))");
    state.type = evaluate("type");
    return state.function && state.method && state.type ? 0 : -1;
}

static unsigned wanted(const struct bp_py_code *known) {
    unsigned calls = known->chosen && state.mode != BP_PY_ALL ? BP_PY_CALLS : 0;
    calls |= known->counted & BP_FUNC_LINES ? BP_PY_LINES : 0;
    switch (known->kind) {
    case BP_PY_OPEN:
        return BP_PY_START | BP_PY_RETURN | calls;
    case BP_PY_INNER:
        return calls;
    case BP_PY_OUTER:
        return BP_PY_START | BP_PY_RETURN;
    default:
        return 0;
    }
}

static void watch_code(void *code, void *globals) {
    struct bp_py_code *known = bp_py_code_see(code, globals);
    unsigned what = known ? wanted(known) : 0;
    if (what && known->events != what) {
        bp_py_monitor_set(known, what);
        if (known->chosen && what & BP_PY_CALLS)
            bp_py_spread_find(known);
    }
}

/* Code that counts wherever it is called from. */
static void watch_own(void *code, void *globals) {
    const struct bp_py_code *known = bp_py_code_see(code, globals);
    if (known && known->kind != BP_PY_OUTER)
        watch_code(code, globals);
}

static void watch_nested(void *code, void *globals, int depth) {
    void *constants = bp_py.PyObject_GetAttrString(code, "co_consts");
    long count = constants && depth < DEEPEST_NESTING ? bp_py.PyTuple_Size(constants) : 0;
    for (long i = 0; i < count; i++) {
        void *constant = bp_py.PyTuple_GetItem(constants, i);
        if (!constant || bp_py_type(constant) != bp_py_type(code))
            continue;
        watch_own(constant, globals);
        watch_nested(constant, globals, depth + 1);
    }
    bp_py_drop(constants);
}

int bp_py_watch_module(void *code, void *globals) {
    struct bp_py_error error;
    void *held;
    bp_py_error_save(&error);
    char module[BP_MODULE_NAME];
    struct bp_pattern_python any = {.module = module,
                                    .file = bp_py_text(code, "co_filename", &held)};
    any.script = bp_module_name(bp_py_module_name(globals), any.file, module);
    int chosen = bp_py_choose(&any) != 0;
    if (chosen || state.mode == BP_PY_ALL || bp_py_choose_counted(&any) || bp_py_task_in_code(code))
        watch_nested(code, globals, 0);
    bp_py_drop(held);
    bp_py.PyErr_Clear();
    bp_py_error_restore(&error);
    return chosen && state.mode != BP_PY_ALL;
}

/* The function of Python that `object` is, or stands for; NULL if there is none. */
static void *function_of(void *object) {
    if (bp_py_type(object) == state.method)
        object = bp_py.PyMethod_Function(object);
    return object && bp_py_type(object) == state.function ? object : NULL;
}

static void watch_function(void *function) {
    void *code = bp_py.PyFunction_GetCode(function);
    const struct bp_py_code *known = code ? bp_py_code_find(code) : NULL;
    if (!code || (known && known->events))
        return;
    void *globals = bp_py.PyObject_GetAttrString(function, "__globals__");
    if (globals)
        watch_code(code, globals);
    bp_py_drop(globals);
}

/* Known ones, which is nearly all, cost two comparisons and a lookup. */
void bp_py_watch_reachable(void *value) {
    void *function = function_of(value);
    void *code = function ? bp_py.PyFunction_GetCode(function) : NULL;
    const struct bp_py_code *known = code ? bp_py_code_find(code) : NULL;
    struct bp_py_error error;
    if (!code || (known && known->events))
        return;
    bp_py_error_save(&error);
    watch_function(function);
    bp_py_error_restore(&error);
}

static void watch_attribute(void *object, const char *name) {
    void *value = bp_py.PyObject_GetAttrString(object, name);
    void *function = value ? function_of(value) : NULL;
    if (function)
        watch_function(function);
    bp_py_drop(value);
    bp_py.PyErr_Clear();
}

/* Built-in types have no functions of Python. */
static int is_heap_type(void *type) {
    long flags = bp_py_number(type, "__flags__");
    return flags != -1 && flags & HEAP_TYPE;
}

static void watch_type(void *type) {
    if (!is_heap_type(type))
        return;
    for (unsigned i = 0; i < sizeof hidden / sizeof *hidden; i++)
        watch_attribute(type, hidden[i]);
}

static int is_type(void *object) {
    void *type = bp_py_type(object);
    if (type == state.type)
        return 1;
    void *bases = is_heap_type(type) ? bp_py.PyObject_GetAttrString(object, "__bases__") : NULL;
    bp_py.PyErr_Clear();
    bp_py_drop(bases);
    return bases != NULL;
}

static void watch_value(void *value) {
    void *function = function_of(value);
    if (function) {
        watch_function(function);
        return;
    }
    if (is_type(value))
        watch_type(value);
    watch_type(bp_py_type(value));
}

void bp_py_watch_globals(void *globals) {
    struct bp_py_error error;
    void *key, *value;
    long place = 0;
    bp_py_error_save(&error);
    while (bp_py.PyDict_Next(globals, &place, &key, &value)) {
        bp_py.Py_IncRef(value);
        watch_value(value);
        bp_py.Py_DecRef(value);
    }
    bp_py.PyErr_Clear();
    bp_py_error_restore(&error);
}

void bp_py_watch_existing(void *code, void *globals) {
    watch_own(code, globals);
    watch_nested(code, globals, 0);
}

/* Whether the caller's code mentions the name: then it is called by it, not through a variable. */
static int names(void *code, const char *wanted_name) {
    void *list = bp_py.PyObject_GetAttrString(code, "co_names");
    long count = list ? bp_py.PyTuple_Size(list) : 0;
    int found = 0;
    for (long i = 0; i < count && !found; i++) {
        const char *name = bp_py.PyUnicode_AsUTF8(bp_py.PyTuple_GetItem(list, i));
        found = name && strcmp(name, wanted_name) == 0;
    }
    bp_py_drop(list);
    return found;
}

/* What a generator expression or comprehension is made of is called where it is made. */
static int is_on_the_spot(const char *name) {
    return *name == '<' && strcmp(name, "<lambda>") != 0;
}

static int is_fixed(struct bp_py_code *caller, void *callable, int global) {
    void *held;
    const char *name = bp_py_text(callable, "__name__", &held);
    int spot = is_on_the_spot(name), fixed = spot || (*name && names(caller->code, name));
    if (fixed && global && !spot) {
        void *globals = bp_py.PyEval_GetGlobals();
        fixed = globals && bp_py.PyDict_GetItemString(globals, name) == callable;
    }
    bp_py_drop(held);
    bp_py.PyErr_Clear();
    return fixed;
}

static void watch_callable(void *callable) {
    if (is_type(callable)) {
        watch_attribute(callable, "__init__");
        watch_attribute(callable, "__new__");
        watch_attribute(bp_py_type(callable), "__call__");
        return;
    }
    watch_attribute(bp_py_type(callable), "__call__");
    void *inner = is_heap_type(bp_py_type(callable))
                      ? bp_py.PyObject_GetAttrString(callable, "func") /* functools.partial */
                      : NULL;
    bp_py.PyErr_Clear();
    if (inner && function_of(inner))
        watch_function(function_of(inner));
    bp_py_drop(inner);
}

static unsigned seen_slot(const void *caller, const void *callee) {
    uint64_t both = (uint64_t)caller + 31 * (uint64_t)callee;
    return (unsigned)(both * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_BITS));
}

int bp_py_watch_call(struct bp_py_code *caller, void *callable) {
    void *function = function_of(callable);
    void *callee = function ? bp_py.PyFunction_GetCode(function) : callable;
    const struct bp_py_code *known = function ? bp_py_code_find(callee) : NULL;
    unsigned slot = seen_slot(caller->code, callee);
    if (state.seen[slot].caller == caller->code && state.seen[slot].callee == callee &&
        (!function || (known && known->events)))
        return 0;
    struct bp_py_error error;
    bp_py_error_save(&error);
    if (function)
        watch_function(function);
    else
        watch_callable(callable);
    int fixed = is_fixed(caller, callable, function != NULL);
    if (!fixed) {
        state.seen[slot].caller = caller->code;
        state.seen[slot].callee = callee;
    }
    bp_py_error_restore(&error);
    return fixed;
}
