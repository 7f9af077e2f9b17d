/* SPDX-License-Identifier: MIT
 *
 * evaluate() stands before CPython's own function for running a frame. A frame that is none of ours
 * goes on by a tail call and costs a table lookup and no stack.
 *
 * With such a function in place 3.11 no longer runs Python calls without C calls. So calls of other
 * modules cost something, too, and are counted for that (steps of generators always are C calls).
 * And a recursion that is deep on purpose would need stack that it does not need without us. Where
 * half of the stack is used up, the frames further in are left to CPython alone.
 */
#include "interpose/python/evaluate.h"

#include <string.h>

#include "interpose/ledger/fast.h"
#include "interpose/ledger/pause.h"
#include "interpose/python/api.h"
#include "interpose/python/code.h"
#include "interpose/python/cost.h"
#include "interpose/python/line/cost.h"
#include "interpose/python/line/counts.h"
#include "interpose/python/line/trace.h"
#include "interpose/python/note.h"
#include "interpose/python/task.h"

/* Where things are in a frame, by minor version. A generator's frame that has run before: 3.11 says
 * who owns it, before that the last instruction is not -1. */
struct layout {
    int minor;
    uint16_t code, globals;
    uint16_t last;  /* int32_t, or 0 */
    uint16_t owner; /* char, or 0; 1: a generator */
    uint16_t locals;
};

static const struct layout layout_8 = {8, 32, 48, 104, 0, 360};
static const struct layout layout_9 = {9, 32, 48, 104, 0, 360};
static const struct layout layout_10 = {10, 32, 48, 96, 0, 352};
static const struct layout layout_11 = {11, 32, 8, 0, 69, 72};

#define EVAL_INPUT 258 /* Py_eval_input */

typedef void *(*evaluate_38)(void *frame, int thrown);
typedef void *(*evaluate_39)(void *tstate, void *frame, int thrown);

static struct {
    struct layout layout;
    void *ours;
    evaluate_38 real_38;
    evaluate_39 real_39;
    void *interpreter;
    int started;
    uint32_t deep;    /* threads that run without us, far down their stacks */
    uint32_t traced;  /* threads whose innermost frame has line events */
    void *probe_code; /* what the check of the layout runs */
    void *probe_globals;
    int probe_result;
} state;

static void *at(void *frame, unsigned offset) {
    return *(void **)((char *)frame + offset);
}

static inline void *run(const struct layout *layout, void *tstate, void *frame, int thrown) {
    return layout->minor == 8 ? state.real_38(frame, thrown) : state.real_39(tstate, frame, thrown);
}

static void set_function(void *function) {
    bp_py_evaluator_set(state.interpreter, function);
}

static void *evaluate_traced(void *tstate, void *frame, int thrown);

static void *evaluate_traced_38(void *frame, int thrown) {
    return evaluate_traced(NULL, frame, thrown);
}

/* Who runs frames: while lines are counted somewhere, someone who switches that off for others. */
static void set_ours(void) {
    void *traced = state.layout.minor == 8 ? (void *)evaluate_traced_38 : (void *)evaluate_traced;
    if (bp_pause_is_on())
        set_function((void *)bp_py._PyEval_EvalFrameDefault);
    else if (!state.deep)
        set_function(state.traced ? traced : state.ours);
}

void bp_py_evaluate_switch(void) {
    if (state.started)
        set_ours();
}

static void switch_lines(void *tstate, int on) {
    if (on)
        bp_py_trace_on(tstate);
    else
        bp_py_trace_off(tstate);
    state.traced += on ? 1 : UINT32_MAX;
    if (state.traced == (uint32_t)on)
        set_ours();
}

static void *run_ours(void *tstate, void *frame, int thrown) {
    return state.layout.minor == 8 ? ((evaluate_38)state.ours)(frame, thrown)
                                   : ((evaluate_39)state.ours)(tstate, frame, thrown);
}

/* Below a line that is counted: the line does not pay for the switch. What that takes here, with
 * the program's caches, is twice what it takes in a loop, so the clock is read each time. */
static void *run_switched(void *tstate, void *frame, int thrown, void *thread) {
    uint64_t begin = bp_clock_now(bp_process.clock);
    const struct bp_py_code *known = bp_py_code_find(at(frame, state.layout.code));
    switch_lines(thread, 0);
    if (known && known->plain)
        bp_py_lines_called();
    begin = bp_clock_now(bp_process.clock) - begin;
    void *result = run_ours(tstate, frame, thrown);
    uint64_t end = bp_clock_now(bp_process.clock);
    switch_lines(thread, 1);
    bp_py_lines_spent(begin + bp_clock_now(bp_process.clock) - end);
    return result;
}

/* A frame below one whose lines are counted, or of another thread meanwhile. */
static void *evaluate_traced(void *tstate, void *frame, int thrown) {
    void *thread = bp_py_trace_thread(tstate);
    return bp_py_trace_is_on(thread) ? run_switched(tstate, frame, thrown, thread)
                                     : run_ours(tstate, frame, thrown);
}

/* Far down the stack: go on as if we were not here. */
static __attribute__((noinline)) void *run_deep(void *tstate, void *frame, int thrown) {
    bp_py_note("deep recursion: calls beyond half of the C stack are not recorded, their time is "
               "their caller's");
    state.deep++;
    set_function((void *)bp_py._PyEval_EvalFrameDefault);
    void *result = run(&state.layout, tstate, frame, thrown);
    if (--state.deep == 0)
        set_ours();
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

static void *run_lines(void *tstate, void *frame, int thrown, const struct bp_py_code *known,
                       struct bp_entry *entry) {
    void *thread = entry ? bp_py_trace_thread(tstate) : NULL;
    struct bp_py_stretch *stretch =
        thread ? bp_py_trace_begin(thread, known->lines, frame, entry, is_resumed(frame)) : NULL;
    if (stretch)
        switch_lines(thread, 1);
    void *result = run(&state.layout, tstate, frame, thrown);
    if (stretch) {
        switch_lines(thread, 0);
        bp_py_lines_end(stretch);
    }
    return result;
}

static void *run_open(void *tstate, void *frame, int thrown, struct bp_py_code *known) {
    struct bp_stub *stub = bp_py_code_stub(known, at(frame, state.layout.globals));
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    struct bp_entry *entry = NULL;
    if (stub && known->generator && is_resumed(frame))
        entry = bp_thread_resume(stub, here);
    else if (stub)
        entry = bp_thread_open(stub, here);
    if (known->task && entry)
        bp_py_task_begin(entry, known, frame, state.layout.locals);
    void *result = known->lines ? run_lines(tstate, frame, thrown, known, entry)
                                : run(&state.layout, tstate, frame, thrown);
    if (result)
        bp_thread_close(entry, 0);
    else
        bp_thread_abort(entry);
    return result;
}

/* The steps of a generator outnumber calls. */
static __attribute__((noinline)) void *run_resumed(void *tstate, void *frame, int thrown,
                                                   struct bp_py_code *known) {
    struct bp_thread *thread = bp_self;
    uint64_t here = (uint64_t)__builtin_dwarf_cfa() - 8;
    uint64_t consumer = ((const struct bp_entry *)thread->current)->node;
    struct bp_entry *entry = bp_fast_resume(thread, known->stub, here);
    if (!entry)
        return run_open(tstate, frame, thrown, known);
    ((struct bp_node *)consumer)->passed += bp_py_weights.resume;
    void *result = run(&state.layout, tstate, frame, thrown);
    bp_fast_pause(thread, entry);
    return result;
}

static inline int is_deep(const struct bp_thread *thread) {
    const struct bp_local *local = (const struct bp_local *)thread->local;
    uint64_t here = (uint64_t)__builtin_dwarf_cfa();
    return here - local->stack_low < local->stack_half;
}

/* Frames that are not plainly opened, and those that are not plainly left alone. */
static __attribute__((noinline)) void *evaluate_rare(void *tstate, void *frame, int thrown) {
    const struct bp_thread *thread = bp_self;
    if (bp_pause_is_on()) {
        set_ours();
        return run(&state.layout, tstate, frame, thrown);
    }
    void *code = at(frame, state.layout.code);
    struct bp_py_code *known = bp_py_code_see(code, at(frame, state.layout.globals));
    if (thread && is_deep(thread))
        return run_deep(tstate, frame, thrown);
    int dsl = known && thread && bp_py_under_dsl(thread);
    int open = known && (known->kind == BP_PY_OPEN || (known->kind == BP_PY_OUTER && dsl) ||
                         (known->kind == BP_PY_INNER && !dsl));
    if (!open)
        return run(&state.layout, tstate, frame, thrown);
    if (known->quick && thread && is_resumed(frame))
        return run_resumed(tstate, frame, thrown, known);
    return run_open(tstate, frame, thrown, known);
}

static __attribute__((noinline)) void *leave_rare(struct bp_entry *entry, uint64_t now,
                                                  void *result) {
    if (result)
        bp_thread_close(entry, now);
    else
        bp_thread_abort(entry);
    return result;
}

/* A call that is a frame and nothing special. */
static inline __attribute__((always_inline)) void *run_plain(const struct layout *layout,
                                                             void *tstate, void *frame, int thrown,
                                                             struct bp_stub *stub,
                                                             struct bp_thread *thread) {
    uint64_t now, here = (uint64_t)__builtin_dwarf_cfa() - 8;
    struct bp_entry *entry = is_deep(thread) ? NULL : bp_fast_enter(thread, stub, here);
    if (__builtin_expect(!entry, 0))
        return evaluate_rare(tstate, frame, thrown);
    void *result = run(layout, tstate, frame, thrown);
    if (__builtin_expect(!result || bp_fast_leave(thread, entry, &now), 0))
        return leave_rare(entry, result ? now : 0, result);
    return result;
}

/* A frame that is not a plain call: most of these are steps of generators. */
static __attribute__((noinline)) void *evaluate_step(void *tstate, void *frame, int thrown,
                                                     struct bp_py_code *known,
                                                     struct bp_thread *thread) {
    uint64_t node = ((const struct bp_entry *)thread->current)->node;
    uint8_t innermost = bp_py_frames[((const struct bp_node *)node)->func];
    int dsl = innermost ? innermost == BP_PY_FRAME_DSL : bp_py_under_dsl(thread);
    if (known->kind == BP_PY_INNER && innermost == BP_PY_FRAME_DSL)
        bp_py_step = (struct bp_py_step){known->code, node};
    if (known->kind == BP_PY_INNER && dsl) {
        ((struct bp_node *)node)->passed++;
        return run(&state.layout, tstate, frame, thrown);
    }
    if (is_deep(thread))
        return evaluate_rare(tstate, frame, thrown);
    if (known->kind == BP_PY_OUTER && !dsl) {
        ((struct bp_node *)node)->passed += known->generator ? 1 : bp_py_weights.call;
        return run(&state.layout, tstate, frame, thrown);
    }
    if (known->quick && known->kind != BP_PY_OUTER && is_resumed(frame))
        return run_resumed(tstate, frame, thrown, known);
    return evaluate_rare(tstate, frame, thrown);
}

typedef void *(*plain_run)(void *tstate, void *frame, int thrown, struct bp_stub *stub,
                           struct bp_thread *thread);

/* Everything goes on by tail calls: frames that are left alone, most of them steps of generator
 * expressions, take no stack and few instructions. */
static inline __attribute__((always_inline)) void *
evaluate(const struct layout *layout, plain_run plain, void *tstate, void *frame, int thrown) {
    struct bp_thread *thread = bp_self;
    const void *code = at(frame, layout->code);
    if (code == bp_py_step.code && thread &&
        ((struct bp_entry *)thread->current)->node == bp_py_step.node) {
        ((struct bp_node *)bp_py_step.node)->passed++;
        return run(layout, tstate, frame, thrown);
    }
    struct bp_py_code *known = bp_py_code_find(code);
    if (__builtin_expect(!known || !thread, 0))
        return evaluate_rare(tstate, frame, thrown);
    if (known->plain)
        return plain(tstate, frame, thrown, known->plain, thread);
    return evaluate_step(tstate, frame, thrown, known, thread);
}

/* One function for every version, with what is known of its frames known to the compiler. */
#define PLAIN(n, alignment)                                                                        \
    static __attribute__((noinline, aligned(alignment))) void *plain_##n(                          \
        void *tstate, void *frame, int thrown, struct bp_stub *stub, struct bp_thread *thread) {   \
        return run_plain(&layout_##n, tstate, frame, thrown, stub, thread);                        \
    }
PLAIN(8, 16)
PLAIN(9, 16)
PLAIN(10, 16)
/* Next to an empty call of 38 ns and CPython's own detour of 18 it matters which lines of code
 * share a place in the processor's caches: at 5 of 16 places in a page a call took 5 to 10 ns more.
 */
PLAIN(11, 4096)

static void *evaluate_8(void *frame, int thrown) {
    return evaluate(&layout_8, plain_8, NULL, frame, thrown);
}

static void *evaluate_9(void *tstate, void *frame, int thrown) {
    return evaluate(&layout_9, plain_9, tstate, frame, thrown);
}

static void *evaluate_10(void *tstate, void *frame, int thrown) {
    return evaluate(&layout_10, plain_10, tstate, frame, thrown);
}

static void *evaluate_11(void *tstate, void *frame, int thrown) {
    return evaluate(&layout_11, plain_11, tstate, frame, thrown);
}

static const struct version {
    const struct layout *layout;
    void *function;
} versions[] = {
    {&layout_8, (void *)evaluate_8},
    {&layout_9, (void *)evaluate_9},
    {&layout_10, (void *)evaluate_10},
    {&layout_11, (void *)evaluate_11},
};

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
    for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++)
        if (versions[i].layout->minor == minor) {
            state.layout = *versions[i].layout;
            state.ours = versions[i].function;
        }
    return state.layout.minor == minor;
}

/* Somebody else's function: a debugger or a compiler was here before us. */
static int is_taken(void) {
    return bp_py_evaluator(state.interpreter) != (void *)bp_py._PyEval_EvalFrameDefault;
}

static void switch_for_cost(struct bp_py_code *known, int on) {
    (void)known;
    set_function(on ? state.ours : (void *)bp_py._PyEval_EvalFrameDefault);
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
    bp_py_cost_measure(switch_for_cost, 1);
    if (bp_py_choose_has_lines()) {
        bp_py_trace_start(minor);
        bp_py_line_cost_measure(switch_for_cost, 1);
    }
    state.started = 1;
    set_ours();
    return NULL;
}
