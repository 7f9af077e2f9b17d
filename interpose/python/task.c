/* SPDX-License-Identifier: MIT
 *
 * From a code object to its role, from a call's arguments to the id of its task, then the task's
 * beginning.
 */
#include "interpose/python/task.h"

#include <limits.h>
#include <string.h>

#include "interpose/ledger/task.h"
#include "interpose/ledger/task_call.h"
#include "interpose/python/api.h"
#include "interpose/python/input.h"
#include "interpose/task/native.h"
#include "interpose/task/rules.h"

#define CLASSES 2 /* in classes: how far down methods are looked for */
#define NAME_SIZE 256

/* The types that an id may have, found by example: types are not among a library's functions. */
static struct {
    void *str;
    void *number;
    void *bytes;
    void *cell;
    void *dict;
} types;

/* By role: the one function that stands for all that a glob found in a module. */
static struct {
    struct alike {
        struct bp_stub *stub;
        char module[64];
    } alike[BP_TASK_ROLES];
} state;

static void *type_of_attribute(void *object, const char *attribute) {
    void *value = bp_py.PyObject_GetAttrString(object, attribute);
    void *type = value ? bp_py_type(value) : NULL;
    bp_py_drop(value);
    return type;
}

static void find_types(void *code) {
    types.str = type_of_attribute(code, "co_name");
    types.number = type_of_attribute(code, "co_argcount");
    types.bytes = type_of_attribute(code, "co_code");
    void *cell = bp_py.PyCell_New ? bp_py.PyCell_New(NULL) : NULL;
    types.cell = cell ? bp_py_type(cell) : NULL;
    bp_py_drop(cell);
    void *dict = bp_py.PyDict_New();
    types.dict = dict ? bp_py_type(dict) : NULL;
    bp_py_drop(dict);
}

static void join(char *to, const char *prefix, const char *name) {
    to[0] = '\0';
    strncat(to, prefix, NAME_SIZE - 2);
    strncat(to, name, NAME_SIZE - 2 - strlen(to));
}

static int in_constants(void *code, const char *prefix, int at_home, int depth) {
    char inner[NAME_SIZE];
    int found = 0;
    void *constants = bp_py.PyObject_GetAttrString(code, "co_consts");
    long count = constants ? bp_py.PyTuple_Size(constants) : 0;
    for (long i = 0; i < count && !found; i++) {
        void *held, *constant = bp_py.PyTuple_GetItem(constants, i);
        if (!constant || bp_py_type(constant) != bp_py_type(code))
            continue;
        const char *name = bp_py_text(constant, "co_name", &held);
        join(inner, prefix, name);
        found = bp_task_may_name(inner, at_home);
        strcat(inner, ".");
        if (!found && depth < CLASSES)
            found = in_constants(constant, inner, at_home, depth + 1);
        bp_py_drop(held);
    }
    bp_py_drop(constants);
    return found;
}

int bp_py_task_in_code(void *code) {
    void *held;
    int own = bp_task_is_own_file(bp_py_text(code, "co_filename", &held));
    bp_py_drop(held);
    return (own || bp_task_rules_given()) && in_constants(code, "", own, 0);
}

int bp_py_task_in_globals(void *globals) {
    void *key, *value, *file = bp_py.PyDict_GetItemString(globals, "__file__");
    const char *path = file ? bp_py.PyUnicode_AsUTF8(file) : NULL;
    long place = 0;
    int own = path && bp_task_is_own_file(path);
    bp_py.PyErr_Clear();
    while ((own || bp_task_rules_given()) && bp_py.PyDict_Next(globals, &place, &key, &value)) {
        const char *name = bp_py.PyUnicode_AsUTF8(key);
        if (name && bp_task_may_name(name, own))
            return 1;
        bp_py.PyErr_Clear();
    }
    return 0;
}

int bp_py_task_role(const struct bp_pattern_python *function) {
    char stem[NAME_SIZE];
    int own = bp_task_is_own_file(function->file);
    bp_py_stem(function->file, stem, sizeof stem);
    int role = bp_task_role_of(BP_TASK_PYTHON, function->module, stem, function->name, own);
    return role < 0 && function->script
               ? bp_task_role_of(BP_TASK_PYTHON, "__main__", stem, function->name, own)
               : role;
}

/* The place of a name among the first `most` of a tuple that is an attribute of the code, -1: it is
 * not there. 3.11 makes the tuple anew each time, of all local variables. */
static long find_name(void *code, const char *attribute, const char *name, long most) {
    void *names = bp_py.PyObject_GetAttrString(code, attribute);
    long count = names ? bp_py.PyTuple_Size(names) : 0, found = -1;
    for (long i = 0; i < count && i < most && found < 0; i++) {
        const char *text = bp_py.PyUnicode_AsUTF8(bp_py.PyTuple_GetItem(names, i));
        if (text && strcmp(text, name) == 0)
            found = i;
    }
    bp_py_drop(names);
    return found;
}

/* The name of an argument, which lives as long as the code. */
static const char *name_of_argument(void *code, long index) {
    void *names = bp_py.PyObject_GetAttrString(code, "co_varnames");
    void *item =
        names && index < bp_py.PyTuple_Size(names) ? bp_py.PyTuple_GetItem(names, index) : NULL;
    const char *name = item ? bp_py.PyUnicode_AsUTF8(item) : NULL;
    bp_py_drop(names);
    return name;
}

/* Before 3.11 an argument that inner functions use is in a cell behind the local variables. */
static void *captured_at(const struct bp_py_call *call, void **locals, long index) {
    const char *name = name_of_argument(call->code, index);
    long cell = name ? find_name(call->code, "co_cellvars", name, LONG_MAX) : -1;
    return cell < 0 ? NULL : locals[bp_py_number(call->code, "co_nlocals") + cell];
}

/* A new reference. Where the argument is in a cell, its content; 3.11 has the cell in its place. */
static void *local_at(const struct bp_py_call *call, long index) {
    void **locals = (void **)((char *)call->frame + call->locals);
    void *value = locals[index] ? locals[index] : captured_at(call, locals, index);
    if (value && bp_py.PyCell_Get && bp_py_type(value) == types.cell)
        return bp_py.PyCell_Get(value);
    if (value)
        bp_py.Py_IncRef(value);
    return value;
}

/* Names are asked for only where they are needed: with 1,400 local variables that took 20 us. */
void *bp_py_argument(const struct bp_py_call *call, long index) {
    const char *name = NULL;
    void *value = NULL;
    if (call->frame)
        value = local_at(call, index);
    else if (bp_py.PyFrame_GetVarString && (name = name_of_argument(call->code, index)))
        value = bp_py.PyFrame_GetVarString(bp_py.PyEval_GetFrame(), name);
    bp_py.PyErr_Clear();
    return value;
}

/* 1: a text; a number or bytes only if `any`. Of subclasses nothing is known. */
static int print_value(void *value, int any, char *text) {
    const char *found = NULL;
    if (bp_py_type(value) == types.str)
        found = bp_py.PyUnicode_AsUTF8(value);
    else if (any && bp_py_type(value) == types.bytes && bp_py.PyBytes_AsString)
        found = bp_py.PyBytes_AsString(value);
    if (found) {
        return bp_task_read_text((uint64_t)found, text, 1);
    } else if (any && bp_py_type(value) == types.number) {
        long number = bp_py.PyLong_AsLong(value);
        if (number != -1 || !bp_py.PyErr_Occurred()) {
            text[0] = '-';
            bp_task_print_number(text + (number < 0),
                                 number < 0 ? -(uint64_t)number : (uint64_t)number);
            return 1;
        }
    }
    bp_py.PyErr_Clear();
    return 0;
}

/* A task that is a dictionary has its id in there. */
static int print_item(void *value, char *text) {
    static const char *const keys[] = {"task_id", "id"};
    for (unsigned i = 0; bp_py_type(value) == types.dict && i < 2; i++) {
        void *item = bp_py.PyDict_GetItemString(value, keys[i]);
        if (item && print_value(item, 1, text))
            return 1;
    }
    return 0;
}

static int print_argument(const struct bp_py_call *call, long index, int any, char *text) {
    void *value = bp_py_argument(call, index);
    int done = value && (print_value(value, any, text) || print_item(value, text));
    bp_py_drop(value);
    return done;
}

/* The place of the argument that is the id, -1: unknown. It stays the same for a code object. */
static long place_of_id(struct bp_py_code *known, const struct bp_task_role *role, long count) {
    if (role->argument)
        return role->argument <= count ? role->argument - 1 : -1;
    if (!known->id) {
        const char *name = *role->argument_name ? role->argument_name : "task_id";
        long place = find_name(known->code, "co_varnames", name, count);
        known->id = place >= 0 && place < INT16_MAX ? (int16_t)(place + 1) : -1;
    }
    return known->id < 0 ? -1 : known->id - 1;
}

static void find_id(const struct bp_py_call *call, struct bp_py_code *known,
                    const struct bp_task_role *role, char *text) {
    long count = bp_py_number(call->code, "co_argcount");
    count += bp_py_number(call->code, "co_kwonlyargcount");
    long index = place_of_id(known, role, count);
    if (index >= 0 && print_argument(call, index, 1, text))
        return;
    text[0] = '\0';
    for (long i = 0; !*role->argument_name && i < count && !*text; i++)
        if (!print_argument(call, i, 0, text))
            text[0] = '\0';
}

/* If each were a function of its own, what they call would have as many contexts as there are
 * solvers: with 60 of them a program took 1.20 times as long, instead of 1.11. */
struct bp_stub *bp_py_task_announce(const struct bp_py_code *known,
                                    struct bp_source_function *what) {
    struct alike *alike = known->task ? &state.alike[known->role] : NULL;
    const char *glob = alike ? bp_task_role((unsigned)known->role)->glob : "";
    size_t size = strlen(what->module) + 1;
    if (!*glob || known->chosen || size > sizeof alike->module ||
        (alike->stub && strcmp(alike->module, what->module) != 0))
        return bp_source_function(what);
    if (!alike->stub) {
        what->name = glob;
        what->line = 0;
        memcpy(alike->module, what->module, size);
        alike->stub = bp_source_function(what);
    }
    return alike->stub;
}

/* All arguments of a generator must be known; otherwise its input is unknown. */
static int describe(const struct bp_py_call *call, struct bp_py_code *known,
                    const struct bp_task_role *role, char text[BP_TASK_TEXT]) {
    text[0] = '\0';
    if (!types.str)
        find_types(call->code);
    if (role->flags & BP_FUNC_INPUT)
        return bp_task_wants_input(bp_self) && bp_py_input_print(call, text);
    if (role->flags & BP_FUNC_TASK)
        find_id(call, known, role, text);
    return 1;
}

void bp_py_task_begin(struct bp_entry *entry, struct bp_py_code *known, void *frame,
                      unsigned locals) {
    struct bp_py_error error;
    char id[BP_TASK_TEXT];
    void *held = NULL;
    struct bp_py_call call = {known->code, frame, locals};
    const struct bp_task_role *role = bp_task_role((unsigned)known->role);
    struct bp_task_what what = {
        .entry = entry, .func = ((const struct bp_node *)entry->node)->func, .id = id, .name = ""};
    bp_py_error_save(&error);
    int wanted = describe(&call, known, role, id);
    if (role->flags & BP_FUNC_INPUT && wanted) {
        what.flags = BP_TASK_PHASE | BP_TASK_INPUT;
        what.name = BP_TASK_GENERATION;
    } else if (!(role->flags & BP_FUNC_TASK)) {
        what.flags = BP_TASK_PHASE;
        wanted = (role->flags & BP_FUNC_PHASE) != 0;
        id[0] = '\0';
    } else if (known->stub == state.alike[known->role].stub) {
        what.name = bp_py_code_name(known, &held);
    }
    if (wanted)
        bp_task_begin(bp_self, &what);
    bp_py_drop(held);
    bp_py_error_restore(&error);
    if (wanted)
        bp_thread_report(entry, bp_task_stub_kind((unsigned)known->role));
}
