/* SPDX-License-Identifier: MIT
 *
 * An audit event announces an import; nothing announces its end. But what runs next is
 * known: the frame of importlib's _find_and_load, or of the module's code. For this one frame a
 * function of ours takes the place of the interpreter's (PEP 523) and gives it back before it runs
 * the frame, so nothing is slower for it, neither within the import nor after it.
 *
 * A module that importlib.import_module is asked for is announced only when its code is executed:
 * looking for it and reading it is not in its time.
 */
#include "interpose/python/import.h"

#include <stdint.h>
#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/code.h"
#include "interpose/python/layout.h"

/* The newest minor version in which an import is announced before its frame begins. In 3.15 it is
 * _find_and_load itself that announces it: imports are known by samples alone. */
#define NEWEST_ANNOUNCED 14
#define PATIENCE 256 /* frames of audit hooks of the program's own that may come before */

typedef void *(*evaluate_38)(void *frame, int thrown);
typedef void *(*evaluate_39)(void *tstate, void *frame, int thrown);

static struct {
    struct bp_stub *stub;
    int minor; /* of the version; -1: unknown, nothing is done */
    void *interpreter;
    unsigned code;  /* where a frame has its code object */
    uint64_t tags;  /* bits there that are no address */
    void *awaited;  /* code object, as an address only */
    void *previous; /* who runs frames otherwise */
    unsigned patience;
} state;

static void *run_previous(void *previous, void *tstate, void *frame, int thrown) {
    return state.minor == 8 ? ((evaluate_38)previous)(frame, thrown)
                            : ((evaluate_39)previous)(tstate, frame, thrown);
}

static void *evaluate(void *tstate, void *frame, int thrown);

static void *evaluate_without_tstate(void *frame, int thrown) {
    return evaluate(NULL, frame, thrown);
}

static void *ours(void) {
    return state.minor == 8 ? (void *)evaluate_without_tstate : (void *)evaluate;
}

static void *evaluate(void *tstate, void *frame, int thrown) {
    void *previous = state.previous;
    uint64_t code = *(uint64_t *)((char *)frame + state.code) & ~state.tags;
    int awaited = code == (uint64_t)state.awaited;
    if ((awaited || --state.patience == 0) && bp_py_evaluator(state.interpreter) == ours())
        bp_py_evaluator_set(state.interpreter, previous);
    if (!awaited)
        return run_previous(previous, tstate, frame, thrown);
    struct bp_entry *entry = bp_thread_open(state.stub, (uint64_t)__builtin_frame_address(0));
    void *result = run_previous(previous, tstate, frame, thrown);
    if (result)
        bp_thread_close(entry, 0);
    else
        bp_thread_abort(entry);
    return result;
}

static int find_layout(void) {
    const struct bp_layout *layout =
        bp_py_odd_build() ? NULL : bp_layout_find(bp_py.Py_GetVersion());
    if (!layout || layout->minor > NEWEST_ANNOUNCED)
        return -1;
    state.code = layout->code;
    state.tags = layout->tags;
    return layout->minor;
}

/* A debug build has other frames; only a function that we know is replaced. */
static int start(void) {
    struct bp_source_function what = {
        .name = "import", .module = "importlib", .kind = BP_FUNC_CALL, .flags = BP_FUNC_PYTHON};
    state.minor = find_layout();
    state.interpreter = bp_py.PyInterpreterState_Main();
    if (state.minor < 0 || !bp_py._PyEval_EvalFrameDefault ||
        bp_py_evaluator(state.interpreter) != (void *)bp_py._PyEval_EvalFrameDefault ||
        !(state.stub = bp_source_function(&what))) {
        state.minor = -1;
        return 0;
    }
    bp_py_frames[state.stub->func] = BP_PY_FRAME_OTHER;
    return 1;
}

static int is_open(void) {
    const struct bp_local *local = bp_self ? (const struct bp_local *)bp_self->local : NULL;
    return local && local->open[state.stub->func];
}

/* What the C code of an import calls. */
static void *find_and_load(void) {
    void *modules = bp_py.PySys_GetObject("modules");
    void *importlib = modules ? bp_py.PyDict_GetItemString(modules, "_frozen_importlib") : NULL;
    void *function = importlib ? bp_py.PyObject_GetAttrString(importlib, "_find_and_load") : NULL;
    void *code = function ? bp_py.PyFunction_GetCode(function) : NULL;
    bp_py.PyErr_Clear();
    bp_py_drop(function);
    return code;
}

/* Many things are executed; a module by importlib. */
static int importlib_runs(void) {
    return strcmp(bp_py_module_name(bp_py.PyEval_GetGlobals()), "importlib._bootstrap") == 0;
}

void bp_py_import_expect(void *code) {
    if (state.minor < 0 || (!state.minor && !start()) || is_open() || (code && !importlib_runs()))
        return;
    void *present = bp_py_evaluator(state.interpreter);
    state.awaited = code ? code : find_and_load();
    if (!state.awaited || !present)
        return;
    state.patience = PATIENCE;
    if (present == ours())
        return;
    state.previous = present;
    bp_py_evaluator_set(state.interpreter, ours());
}
