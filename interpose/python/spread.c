/* SPDX-License-Identifier: MIT */
#include "interpose/python/spread.h"

#include "interpose/python/api.h"
#include "interpose/python/watch.h"

#define CALL_FUNCTION_EX 142 /* opcode of 3.12 */
#define CO_VARARGS 0x4
#define CO_VARKEYWORDS 0x8
#define MOST_PLACES 255
#define MOST_ITEMS 4096 /* of containers that are looked at when a call starts */
#define DEEPEST 2       /* a list of (function, arguments) */

static struct {
    int on;
    void *cell, *dict, *list, *tuple; /* types */
    int left;                         /* items to look at */
} state;

void bp_py_spread_start(void) {
    void *cell = bp_py.PyCell_New ? bp_py.PyCell_New(NULL) : NULL;
    void *builtins = bp_py.PyEval_GetBuiltins();
    state.cell = cell ? bp_py_type(cell) : NULL;
    bp_py_drop(cell);
    state.dict = builtins ? bp_py.PyDict_GetItemString(builtins, "dict") : NULL;
    state.list = builtins ? bp_py.PyDict_GetItemString(builtins, "list") : NULL;
    state.tuple = builtins ? bp_py.PyDict_GetItemString(builtins, "tuple") : NULL;
    state.on = state.cell && bp_py.PyCell_Get && bp_py.PyBytes_AsString && bp_py.PyBytes_Size &&
               bp_py.PyList_Size && bp_py.PyList_GetItem;
}

static int has_spread_calls(void *code) {
    void *bytes = bp_py.PyObject_GetAttrString(code, "co_code");
    const char *units = bytes ? bp_py.PyBytes_AsString(bytes) : NULL;
    long size = units ? bp_py.PyBytes_Size(bytes) : 0;
    int found = 0;
    for (long i = 0; i + 1 < size && !found; i += 2)
        found = (unsigned char)units[i] == CALL_FUNCTION_EX;
    bp_py.PyErr_Clear();
    bp_py_drop(bytes);
    return found;
}

static long length(void *code, const char *attribute) {
    void *tuple = bp_py.PyObject_GetAttrString(code, attribute);
    long count = tuple ? bp_py.PyTuple_Size(tuple) : 0;
    bp_py_drop(tuple);
    return count;
}

/* Variables that are cells and arguments at once have one place: that of the argument. */
static long own_cells(void *code) {
    void *cells = bp_py.PyObject_GetAttrString(code, "co_cellvars");
    void *locals = bp_py.PyObject_GetAttrString(code, "co_varnames");
    long count = cells && locals ? bp_py.PyTuple_Size(cells) : 0, own = count;
    for (long i = 0; i < count; i++)
        for (long j = 0; j < bp_py.PyTuple_Size(locals); j++)
            own -= bp_py.PyTuple_GetItem(cells, i) == bp_py.PyTuple_GetItem(locals, j);
    bp_py_drop(locals);
    bp_py_drop(cells);
    return own;
}

void bp_py_spread_find(struct bp_py_code *known) {
    struct bp_py_error error;
    if (!state.on)
        return;
    bp_py_error_save(&error);
    void *code = known->code;
    long flags = bp_py_number(code, "co_flags");
    long arguments = bp_py_number(code, "co_argcount") + bp_py_number(code, "co_kwonlyargcount") +
                     !!(flags & CO_VARARGS) + !!(flags & CO_VARKEYWORDS);
    long enclosed = length(code, "co_freevars");
    long first = length(code, "co_varnames") + own_cells(code);
    if (first + enclosed <= MOST_PLACES && arguments <= first && has_spread_calls(code)) {
        known->arguments = (uint8_t)arguments;
        known->first_enclosed = (uint8_t)first;
        known->enclosed = (uint8_t)enclosed;
        known->spreads = 1;
    }
    bp_py.PyErr_Clear();
    bp_py_error_restore(&error);
}

static void look_into(void *value, int depth);

static void look_into_dict(void *dict, int depth) {
    void *key, *value;
    long place = 0;
    while (state.left > 0 && bp_py.PyDict_Next(dict, &place, &key, &value))
        look_into(value, depth);
}

static void look_into_items(void *sequence, int depth, long (*size)(void *),
                            void *(*item)(void *, long)) {
    for (long i = 0; state.left > 0 && i < size(sequence); i++)
        look_into(item(sequence, i), depth);
}

/* Giving a function events may collect garbage, and that run code of the program. */
static void look_into(void *value, int depth) {
    if (!value || depth > DEEPEST)
        return;
    state.left--;
    bp_py.Py_IncRef(value);
    if (bp_py_type(value) == state.dict)
        look_into_dict(value, depth + 1);
    else if (bp_py_type(value) == state.list)
        look_into_items(value, depth + 1, bp_py.PyList_Size, bp_py.PyList_GetItem);
    else if (bp_py_type(value) == state.tuple)
        look_into_items(value, depth + 1, bp_py.PyTuple_Size, bp_py.PyTuple_GetItem);
    else
        bp_py_watch_reachable(value);
    bp_py.Py_DecRef(value);
}

static void look_into_globals(void *code) {
    void *globals = bp_py.PyEval_GetGlobals();
    void *names = bp_py.PyObject_GetAttrString(code, "co_names");
    long count = globals && names ? bp_py.PyTuple_Size(names) : 0;
    for (long i = 0; i < count; i++) {
        const char *name = bp_py.PyUnicode_AsUTF8(bp_py.PyTuple_GetItem(names, i));
        look_into(name ? bp_py.PyDict_GetItemString(globals, name) : NULL, 0);
    }
    bp_py_drop(names);
}

/* An argument that is captured by an inner function is in a cell, too. */
static void look_at(void *value, int into) {
    int is_cell = value && bp_py_type(value) == state.cell;
    void *content = is_cell ? bp_py.PyCell_Get(value) : value;
    if (content && into)
        look_into(content, 0);
    else if (content)
        bp_py_watch_reachable(content);
    if (is_cell)
        bp_py_drop(content);
}

void bp_py_spread_look(struct bp_py_code *known, void *frame) {
    void *const *locals = (void *const *)((char *)frame + BP_PY_LOCALS_312);
    struct bp_py_error error;
    if (*(void **)frame != known->code)
        return;
    uint32_t starts = ++known->starts;
    int into = (starts & (starts - 1)) == 0;
    state.left = MOST_ITEMS;
    for (unsigned i = 0; i < known->arguments; i++)
        look_at(locals[i], into);
    for (unsigned i = 0; i < known->enclosed; i++)
        look_at(locals[known->first_enclosed + i], into);
    if (!into)
        return;
    bp_py_error_save(&error);
    look_into_globals(known->code);
    bp_py.PyErr_Clear();
    bp_py_error_restore(&error);
}
