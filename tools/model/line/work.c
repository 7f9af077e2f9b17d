/* SPDX-License-Identifier: MIT
 *
 * What the interpreter was doing below a Python function, by the C functions of a sample; see
 * interpreter.def for which of them counts.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/line/internal.h"

#define NOT_LISTED BP_WORK_OTHER

static const struct {
    enum bp_line_work kind;
    const char *glob;
} symbols[] = {
#define WORK(kind, text)
#define SYMBOL(kind, glob) {BP_WORK_##kind, glob},
#include "tools/model/line/interpreter.def"
#undef WORK
#undef SYMBOL
};

static const char *const names[] = {
#define WORK(kind, text) text,
#define SYMBOL(kind, glob)
#include "tools/model/line/interpreter.def"
#undef WORK
#undef SYMBOL
};

static enum bp_line_work look_up(const char *symbol) {
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (fnmatch(symbols[i].glob, symbol, 0) == 0)
            return symbols[i].kind;
    return NOT_LISTED;
}

/* The work of a function of the interpreter: each name is looked up once. */
static enum bp_line_work kind_of(struct bp_line_reading *reading, uint32_t function) {
    while (reading->looked <= function)
        *BP_APPEND(reading->works, reading->looked) = 0;
    if (!reading->works[function])
        reading->works[function] = (uint8_t)(look_up(reading->model->functions[function].name) + 1);
    return (enum bp_line_work)(reading->works[function] - 1);
}

static bool says_how_only(enum bp_line_work kind) {
    return kind >= BP_WORK_CONTAINERS;
}

enum bp_line_work bp_work_find(struct bp_line_reading *reading,
                               const struct bp_profile_thread *thread,
                               const struct bp_stack_frame *frames, uint32_t leaf,
                               uint32_t *function) {
    enum bp_line_work found = BP_WORK_BYTECODE;
    *function = BP_NO_FUNCTION;
    for (uint32_t i = leaf; i != BP_NO_FRAME; i = thread->frames[i].parent) {
        enum bp_code code = frames[i].code;
        if (code == BP_CODE_PYTHON)
            break;
        enum bp_line_work kind = code == BP_CODE_PROGRAM ? BP_WORK_EXTENSION
                                 : code == BP_CODE_INTERPRETER
                                     ? kind_of(reading, frames[i].function)
                                     : NOT_LISTED;
        bool known = found != BP_WORK_BYTECODE && found != NOT_LISTED;
        if (known && (kind == NOT_LISTED || (says_how_only(kind) && !says_how_only(found))))
            continue;
        bool named = kind == BP_WORK_BUILTIN || kind == BP_WORK_EXTENSION;
        found = kind;
        *function = named ? frames[i].function : BP_NO_FUNCTION;
        if (kind == BP_WORK_GC)
            break;
    }
    return found;
}

const char *bp_work_name(enum bp_line_work kind) {
    return names[kind];
}

/* "sorted()" for builtin_sorted, "list.sort()" for list_sort_impl: a new text. */
static char *label_builtin(const char *symbol) {
    static const char *const known[][2] = {{"PyObject_IsInstance", "isinstance()"},
                                           {"object_isinstance", "isinstance()"},
                                           {"PyObject_IsSubclass", "issubclass()"},
                                           {"PySequence_Contains", "in"},
                                           {"list_contains", "in"},
                                           {"PyList_Sort", "list.sort()"},
                                           {"min_max", "min(), max()"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(symbol, known[i][0]) == 0)
            return bp_copy_text(known[i][1]);
    bool method = strncmp(symbol, "builtin_", 8) != 0;
    int length = (int)strlen(symbol += method ? 0 : 8);
    if (length > 5 && strcmp(symbol + length - 5, "_impl") == 0)
        length -= 5;
    const char *cut = method ? strchr(symbol, '_') : NULL;
    if (!cut)
        return bp_make_text("%.*s()", length, symbol);
    return bp_make_text("%.*s.%.*s()", (int)(cut - symbol), symbol,
                        length - (int)(cut + 1 - symbol), cut + 1);
}

char *bp_work_label(const struct bp_model *model, const struct bp_work *work) {
    if (work->function == BP_NO_FUNCTION)
        return bp_copy_text(names[work->kind]);
    const struct bp_function *function = &model->functions[work->function];
    if (work->kind == BP_WORK_BUILTIN)
        return label_builtin(function->name);
    if (strstr(function->name, "+0x")) /* has the library in it */
        return bp_copy_text(function->name);
    return bp_make_text("%s in %.*s", function->name, (int)strcspn(function->library, "."),
                        function->library);
}
