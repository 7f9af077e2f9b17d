/* SPDX-License-Identifier: MIT
 *
 * evaluate() stands before CPython's own function for running a frame. A frame that is none of ours
 * goes on by a tail call and costs a table lookup and no stack.
 *
 * With such a function in place 3.11 no longer runs Python calls without C calls: a recursion that
 * is deep on purpose would need stack that it does not need without us. Where half of the stack is
 * used up, the frames further in are left to CPython alone.
 */
#include "interpose/python/evaluate.h"

#include <string.h>

#include "interpose/fast.h"
#include "interpose/python/api.h"
#include "interpose/python/code.h"
#include "interpose/python/cost.h"
#include "interpose/python/note.h"

/* Where things are in a frame, by minor version. A generator's frame that has run before: 3.11 says
 * who owns it, before that the last instruction is not -1. */
struct layout {
    int minor;
    uint16_t code, globals;
    uint16_t last;  /* int32_t, or 0 */
    uint16_t owner; /* char, or 0; 1: a generator */
};

static const struct layout layouts[] = {
    {8, 32, 48, 104, 0},
    {9, 32, 48, 104, 0},
    {10, 32, 48, 96, 0},
    {11, 32, 8, 0, 69},
};

#define EVAL_FRAME_38 568 /* 3.8 has no function to set it: its place in PyInterpreterState */
#define EVAL_INPUT 258    /* Py_eval_input */

typedef void *(*evaluate_38)(void *frame, int thrown);
typedef void *(*evaluate_39)(void *tstate, void *frame, int thrown);

static struct {
    struct layout layout;
    evaluate_38 real_38;
    evaluate_39 real_39;
    void *interpreter;
    uint32_t deep;    /* threads that run without us, far down their stacks */
    void *probe_code; /* what the check of the layout runs */
    void *probe_globals;
    int probe_result;
} state;

static void *at(void *frame, unsigned offset) {
    return *(void **)((char *)frame + offset);
}

static inline void *run(void *tstate, void *frame, int thrown) {
    return state.real_39 ? state.real_39(tstate, frame, thrown) : state.real_38(frame, thrown);
}

static void set_function(void *function) {
    if (bp_py._PyInterpreterState_SetEvalFrameFunc)
        bp_py._PyInterpreterState_SetEvalFrameFunc(state.interpreter, function);
    else
        *(void **)((char *)state.interpreter + EVAL_FRAME_38) = function;
}

static void *evaluate(void *tstate, void *frame, int thrown);

static void *evaluate_without_tstate(void *frame, int thrown) {
    return evaluate(NULL, frame, thrown);
}

static void *ours(void) {
    return state.layout.minor == 8 ? (void *)evaluate_without_tstate : (void *)evaluate;
}

/* Far down the stack: go on as if we were not here. */
static __attribute__((noinline)) void *run_deep(void *tstate, void *frame, int thrown) {
    bp_py_note("deep recursion: calls beyond half of the stack are not recorded");
    state.deep++;
    set_function((void *)bp_py._PyEval_EvalFrameDefault);
    void *result = run(tstate, frame, thrown);
    if (--state.deep == 0)
        set_function(ours());
    return result;
}

/* A generator or coroutine goes on, which is not a call. */
static int is_resumed(void *frame) {
    const char *bytes = frame;
    if (state.layout.owner)
        return bytes[state.layout.owner] == 1;
    int32_t last;
    memcpy(&last, bytes + state.layout.last, sizeof last);
    return last != -1;
}

static __attribute__((noinline)) void *run_open(void *tstate, void *frame, int thrown,
                                                struct bp_py_code *known) {
    struct bp_stub *stub = known->stub;
    if (!stub && !(stub = bp_py_code_stub(known, at(frame, state.layout.globals))))
        return run(tstate, frame, thrown);
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    struct bp_entry *entry;
    if (known->generator && is_resumed(frame))
        entry = bp_source_resume(stub, here);
    else
        entry = bp_fast_enter(stub, here);
    void *result = run(tstate, frame, thrown);
    if (result)
        bp_fast_leave(entry);
    else
        bp_source_abort(entry);
    return result;
}

static __attribute__((noinline)) struct bp_py_code *see(void *frame, void *code) {
    return bp_py_code_see(code, at(frame, state.layout.globals));
}

static inline int is_deep(const struct bp_thread *thread) {
    const struct bp_local *local = (const struct bp_local *)thread->local;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return here - local->stack_low < (local->stack_high - local->stack_low) / 2;
}

static void *evaluate(void *tstate, void *frame, int thrown) {
    const struct bp_thread *thread = bp_self;
    void *code = at(frame, state.layout.code);
    struct bp_py_code *known = bp_py_code_find(code);
    if (__builtin_expect((!known || !known->kind) && !(known = see(frame, code)), 0))
        return run(tstate, frame, thrown);
    if (__builtin_expect(thread && is_deep(thread), 0))
        return run_deep(tstate, frame, thrown);
    if (known->kind == BP_PY_OPEN)
        return run_open(tstate, frame, thrown, known);
    int dsl = thread && bp_py_under_dsl(thread);
    if ((known->kind == BP_PY_OUTER && dsl) || (known->kind == BP_PY_INNER && !dsl))
        return run_open(tstate, frame, thrown, known);
    return run(tstate, frame, thrown);
}

/* Compares addresses and follows none: a layout that is not what we think does no harm. */
static void check_frame(void *frame) {
    if (at(frame, state.layout.code) != state.probe_code)
        return;
    state.probe_result =
        at(frame, state.layout.globals) == state.probe_globals && !is_resumed(frame);
}

static void *probe_39(void *tstate, void *frame, int thrown) {
    check_frame(frame);
    return state.real_39(tstate, frame, thrown);
}

static void *probe_38(void *frame, int thrown) {
    check_frame(frame);
    return state.real_38(frame, thrown);
}

static int layout_is_right(void) {
    struct bp_py_error error;
    void *result = NULL;
    bp_py_error_save(&error);
    state.probe_code = bp_py.Py_CompileString("0", "battprof", EVAL_INPUT);
    state.probe_globals = bp_py.PyDict_New();
    if (state.probe_code && state.probe_globals) {
        bp_py_unseen_begin();
        set_function(state.layout.minor == 8 ? (void *)probe_38 : (void *)probe_39);
        result = bp_py.PyEval_EvalCode(state.probe_code, state.probe_globals, state.probe_globals);
        set_function((void *)bp_py._PyEval_EvalFrameDefault);
        bp_py_unseen_end();
    }
    bp_py.PyErr_Clear();
    bp_py_drop(result);
    bp_py_drop(state.probe_globals);
    bp_py_drop(state.probe_code);
    bp_py_error_restore(&error);
    return state.probe_result;
}

static int find_layout(int minor) {
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            state.layout = layouts[i];
    return state.layout.minor == minor;
}

/* Somebody else's function: a debugger or a compiler was here before us. */
static int is_taken(void) {
    void *present = bp_py._PyInterpreterState_GetEvalFrameFunc
                        ? bp_py._PyInterpreterState_GetEvalFrameFunc(state.interpreter)
                        : at(state.interpreter, EVAL_FRAME_38);
    return present != (void *)bp_py._PyEval_EvalFrameDefault;
}

static void switch_for_cost(struct bp_py_code *known, int on) {
    (void)known;
    set_function(on ? ours() : (void *)bp_py._PyEval_EvalFrameDefault);
}

const char *bp_py_evaluate_start(int minor) {
    state.interpreter = bp_py.PyInterpreterState_Main();
    if (!find_layout(minor) || !bp_py._PyEval_EvalFrameDefault)
        return "unknown version";
    if (minor > 8 && (!bp_py._PyInterpreterState_SetEvalFrameFunc ||
                      !bp_py._PyInterpreterState_GetEvalFrameFunc))
        return "no frame evaluation hook";
    if (is_taken())
        return "another tool evaluates frames";
    if (minor == 8)
        state.real_38 = (evaluate_38)(void *)bp_py._PyEval_EvalFrameDefault;
    else
        state.real_39 = (evaluate_39)(void *)bp_py._PyEval_EvalFrameDefault;
    /* Before 3.11 a tracer would see the check; their layouts are settled. */
    if ((minor > 10 || !bp_py_is_traced()) && !layout_is_right())
        return "unknown layout of frames";
    bp_py_cost_measure(switch_for_cost);
    set_function(ours());
    return NULL;
}
