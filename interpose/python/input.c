/* SPDX-License-Identifier: MIT */
#include "interpose/python/input.h"

#include <string.h>

#include "interpose/python/api.h"

#define CO_VARARGS 0x04
#define CO_VARKEYWORDS 0x08
#define DEEPEST 4              /* tuples in tuples: a list of grids */
#define MOST_VALUES 65536      /* in them together */
#define LONGEST_TEXT (1 << 20) /* bytes: a hash takes a nanosecond for each */

/* Found by example, for types are not among a library's functions. */
static struct {
    int known; /* 1: all are, -1: not to be had */
    void *str;
    void *bytes;
    void *number;
    void *truth;
    void *none;
    void *tuple;
} types;

static void *type_of(void *value) {
    void *type = value ? bp_py_type(value) : NULL;
    bp_py_drop(value);
    return type;
}

static void find_types(void *code) {
    types.known = -1;
    if (!bp_py.PyBytes_AsString || !bp_py.PyBytes_Size || !bp_py.PyUnicode_AsUTF8AndSize ||
        !bp_py.PyBool_FromLong || !bp_py.Py_BuildValue)
        return;
    types.str = type_of(bp_py.PyObject_GetAttrString(code, "co_name"));
    types.bytes = type_of(bp_py.PyObject_GetAttrString(code, "co_code"));
    types.number = type_of(bp_py.PyObject_GetAttrString(code, "co_argcount"));
    types.tuple = type_of(bp_py.PyObject_GetAttrString(code, "co_varnames"));
    types.truth = type_of(bp_py.PyBool_FromLong(1));
    types.none = type_of(bp_py.Py_BuildValue(""));
    types.known = 1;
}

struct input {
    uint64_t hash;
    long values;
    char head[BP_TASK_TEXT]; /* of the first text */
    uint64_t size;           /* of that text; 0: none yet */
};

static void add(struct input *input, char kind, const char *bytes, uint64_t size) {
    input->hash = bp_task_hash(input->hash, &kind, 1);
    input->hash = bp_task_hash(input->hash, (const char *)&size, sizeof size);
    input->hash = bp_task_hash(input->hash, bytes, size);
    input->values++;
}

static int add_text(struct input *input, char kind, const char *bytes, long size) {
    if (!bytes || size < 0 || size > LONGEST_TEXT)
        return 0;
    add(input, kind, bytes, (uint64_t)size);
    if (!input->size && size) {
        input->size = (uint64_t)size;
        memcpy(input->head, bytes,
               (size_t)size < sizeof input->head ? (size_t)size : sizeof input->head);
    }
    return 1;
}

static int add_number(struct input *input, void *value) {
    long number = bp_py.PyLong_AsLong(value);
    if (number == -1 && bp_py.PyErr_Occurred())
        return 0; /* too large for one */
    add(input, 'i', (const char *)&number, sizeof number);
    return 1;
}

static int add_value(struct input *input, void *value, int depth);

static int add_tuple(struct input *input, void *tuple, int depth) {
    long count = bp_py.PyTuple_Size(tuple);
    if (depth == DEEPEST || input->values + count > MOST_VALUES)
        return 0;
    add(input, 't', (const char *)&count, sizeof count);
    for (long i = 0; i < count; i++)
        if (!add_value(input, bp_py.PyTuple_GetItem(tuple, i), depth + 1))
            return 0;
    return 1;
}

static int add_value(struct input *input, void *value, int depth) {
    void *type = bp_py_type(value);
    long size = 0;
    if (type == types.str) {
        const char *text = bp_py.PyUnicode_AsUTF8AndSize(value, &size);
        return add_text(input, 's', text, size);
    }
    if (type == types.bytes)
        return add_text(input, 'b', bp_py.PyBytes_AsString(value), bp_py.PyBytes_Size(value));
    if (type == types.tuple)
        return add_tuple(input, value, depth);
    if (type == types.number || type == types.truth)
        return add_number(input, value);
    add(input, 'n', "", 0);
    return type == types.none;
}

static int add_argument(struct input *input, const struct bp_py_call *call, long index) {
    void *value = bp_py_argument(call, index);
    int known = value && add_value(input, value, 0);
    bp_py_drop(value);
    bp_py.PyErr_Clear();
    return known;
}

/* One short text is its own best name. */
static int is_plain(const struct input *input) {
    if (input->values != 1 || input->size == 0 || input->size >= BP_TASK_TEXT)
        return 0;
    for (uint64_t i = 0; i < input->size; i++)
        if ((unsigned char)input->head[i] < ' ' || input->head[i] == 0x7f)
            return 0;
    return 1;
}

int bp_py_input_print(const struct bp_py_call *call, char text[BP_TASK_TEXT]) {
    struct input input = {.hash = BP_TASK_HASH};
    long flags = bp_py_number(call->code, "co_flags");
    long count = bp_py_number(call->code, "co_argcount");
    count += bp_py_number(call->code, "co_kwonlyargcount") + ((flags & CO_VARARGS) != 0);
    if (!types.known)
        find_types(call->code);
    if (types.known < 0 || flags & CO_VARKEYWORDS || count <= 0)
        return 0;
    for (long i = 0; i < count; i++)
        if (!add_argument(&input, call, i))
            return 0;
    if (is_plain(&input)) {
        memcpy(text, input.head, input.size);
        text[input.size] = '\0';
    } else {
        bp_task_print_input(text, input.head, input.size, input.hash);
    }
    return 1;
}
