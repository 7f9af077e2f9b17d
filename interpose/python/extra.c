/* SPDX-License-Identifier: MIT
 *
 * Whoever keeps words with code objects has an index. The first word that one of them stores makes
 * room for all of them, and CPython then calls everybody's function when the object is freed, with
 * NULL where nothing was stored. A program that keeps words with a few objects of its own would so
 * be called for each of ours, also after its function is gone: it crashed when the interpreter
 * ended. So the room behind our word is given back: CPython makes it again for whoever needs it.
 */
#include "interpose/python/extra.h"

#include <errno.h>
#include <string.h>

#include "interpose/python/api.h"

#define EVAL_INPUT 258 /* Py_eval_input */
#define LARGEST 256    /* bytes of a code object that are looked at */

/* CPython's _PyCodeObjectExtra, the same in 3.8 to 3.15. */
struct extra {
    long size;
    void *words[];
};

static struct {
    long index;
    unsigned place; /* of the pointer to a struct extra in a code object; 0: not found */
} state;

static int set(void *code, void *word) {
    int (*function)(void *, long, void *) =
        bp_py.PyUnstable_Code_SetExtra ? bp_py.PyUnstable_Code_SetExtra : bp_py._PyCode_SetExtra;
    if (function(code, state.index, word) == 0)
        return 0;
    bp_py.PyErr_Clear();
    return -ENOMEM;
}

/* The one word of the code object that is not NULL any more. Nothing else is followed. */
static unsigned find_place(char *code, unsigned size) {
    char before[LARGEST], *word = (char *)&state;
    memcpy(before, code, size);
    if (set(code, word))
        return 0;
    for (unsigned at = 2 * sizeof(void *); at + sizeof(void *) <= size; at += sizeof(void *)) {
        void *was, *is;
        memcpy(&was, before + at, sizeof was);
        memcpy(&is, code + at, sizeof is);
        const struct extra *extra = is;
        if (!was && is && extra->size > state.index && extra->words[state.index] == word)
            return at;
    }
    return 0;
}

static void look(void) {
    void *code = bp_py.Py_CompileString("0", "battprof", EVAL_INPUT);
    long size = code ? bp_py_number(bp_py_type(code), "__basicsize__") : 0;
    state.place = size > 0 ? find_place(code, size < LARGEST ? (unsigned)size : LARGEST) : 0;
    if (code)
        set(code, NULL);
    bp_py.PyErr_Clear();
    bp_py_drop(code);
}

int bp_py_extra_init(void (*freed)(void *word)) {
    struct bp_py_error error;
    long (*request)(void (*)(void *)) = bp_py.PyUnstable_Eval_RequestCodeExtraIndex
                                            ? bp_py.PyUnstable_Eval_RequestCodeExtraIndex
                                            : bp_py._PyEval_RequestCodeExtraIndex;
    if (!request || (!bp_py.PyUnstable_Code_SetExtra && !bp_py._PyCode_SetExtra))
        return -ENOSYS;
    state.index = request(freed);
    if (state.index < 0)
        return -ENOSPC;
    bp_py_error_save(&error);
    look();
    bp_py_error_restore(&error);
    return 0;
}

/* Not where somebody's word is behind ours. */
static void give_back(struct extra *extra) {
    long used = extra->size;
    while (used > state.index + 1 && !extra->words[used - 1])
        used--;
    extra->size = used;
}

int bp_py_extra_set(void *code, void *word) {
    struct extra *extra;
    int error = set(code, word);
    if (error || !state.place)
        return error;
    memcpy(&extra, (char *)code + state.place, sizeof extra);
    if (extra)
        give_back(extra);
    return 0;
}
