/* SPDX-License-Identifier: MIT
 *
 * Callbacks of sys.monitoring, as C functions. There is no C frame that spans a Python call, so an
 * entry remembers the Python frame it was opened for: generators leave and come back in any order,
 * and boundary functions are opened on some of their calls only.
 */
#include "interpose/python/monitor.h"

#include "interpose/ledger/fast.h"
#include "interpose/ledger/pause.h"
#include "interpose/python/api.h"
#include "interpose/python/code.h"
#include "interpose/python/cost.h"
#include "interpose/python/line/cost.h"
#include "interpose/python/line/counts.h"
#include "interpose/python/note.h"
#include "interpose/python/spread.h"
#include "interpose/python/task.h"
#include "interpose/python/watch.h"

#define EVAL_INPUT 258 /* Py_eval_input */
#define METH_FASTCALL 0x80
#define FRAME_OF_OBJECT 24 /* PyFrameObject.f_frame */
#define VECTORCALL 48      /* PyCFunctionObject.vectorcall */

struct method { /* PyMethodDef */
    const char *name;
    void *function;
    int flags;
    const char *doc;
};

enum event { PY_START, PY_RESUME, PY_RETURN, PY_YIELD, CALL, PY_UNWIND, PY_THROW, LINE, EVENTS };

static struct {
    void *monitoring; /* sys.monitoring */
    void *none, *disable;
    long tool;
    long bits[EVENTS];
    int asleep;        /* the global ones are switched off */
    unsigned frame;    /* place of the current frame in PyThreadState */
    unsigned indirect; /* or of what points to it (3.12) */
    void *(*thread_state)(void);
    void *probe_code, *probe_function;
    int probe_result;
    int probe_locals; /* 1: an argument was where we think (3.12) */
} state;

static void *current_frame(void) {
    char *place = (char *)state.thread_state() + state.frame;
    return state.indirect ? **(void ***)place : *(void **)place;
}

static int is_python(const struct bp_entry *entry) {
    return bp_py_frames[((const struct bp_node *)entry->node)->func] != 0;
}

/* `offset`: where a generator goes on, an int of Python; NULL: the frame begins. */
static void begin_lines(const struct bp_py_code *known, struct bp_entry *entry, void *offset) {
    struct bp_py_stretch *stretch = NULL;
    if (bp_process.copies_stacks)
        bp_py_note("lines are not counted with greenlets");
    else
        stretch = bp_py_lines_begin(known->lines, current_frame(), entry, offset != NULL);
    if (stretch && offset)
        bp_py_lines_go_on(stretch, bp_py.PyLong_AsLong(offset));
}

static void end_lines(const struct bp_py_code *known) {
    struct bp_py_stretch *stretch = known->lines ? bp_py_lines_find(current_frame()) : NULL;
    if (stretch)
        bp_py_lines_end(stretch);
}

static void open_frame(struct bp_py_code *known, void *resumed) {
    struct bp_stub *stub = known->stub;
    if (!stub && !(stub = bp_py_code_stub(known, bp_py.PyEval_GetGlobals())))
        return;
    struct bp_entry *entry = resumed ? bp_thread_resume(stub, 0) : bp_thread_open(stub, 0);
    if (entry)
        entry->ret = (uint64_t)current_frame();
    if (__builtin_expect(known->task && entry, 0))
        bp_py_task_begin(entry, known, NULL, 0);
    if (known->lines && entry)
        begin_lines(known, entry, resumed);
}

/* The entry of the present frame. One of a chosen function is looked for further out: whatever is
 * open above it was left without an event. */
static struct bp_entry *find_open(const struct bp_py_code *known) {
    const struct bp_thread *thread = bp_self;
    uint64_t frame = (uint64_t)current_frame();
    if (!thread)
        return NULL;
    struct bp_entry *entry = bp_thread_innermost(thread);
    if (entry == &thread->alias)
        entry = ((struct bp_local *)thread->local)->inherited;
    for (; entry != &thread->root; entry = (struct bp_entry *)entry->parent) {
        if ((entry->ret == frame && is_python(entry)) || entry->ret == (uint64_t)known)
            return entry;
        if (known->kind != BP_PY_OPEN && is_python(entry))
            return NULL;
    }
    return NULL;
}

static void *none(void) {
    return state.none; /* immortal */
}

static void *disable(void) {
    bp_py.Py_IncRef(state.disable);
    return state.disable;
}

/* NULL also if a program that got hold of our callback calls it with too little. */
static struct bp_py_code *known_of(void *const *arguments, long count) {
    return (int)count > 1 ? bp_py_code_find(arguments[0]) : NULL;
}

/* What is not opened costs something, too: the innermost node counts it. */
static void count_passed(const struct bp_thread *thread, uint32_t weight) {
    if (thread)
        ((struct bp_node *)((const struct bp_entry *)thread->current)->node)->passed += weight;
}

/* Code of another module is opened where DSL code calls it. Its other calls bring events as well,
 * those of a recursion most of all. */
static int is_opened(const struct bp_py_code *known) {
    return known->kind == BP_PY_OPEN ||
           (known->kind == BP_PY_OUTER && bp_self && bp_py_under_dsl(bp_self));
}

static int is_function(uint32_t func, const void *wanted) {
    return func == *(const uint32_t *)wanted;
}

static int is_any(uint32_t func, const void *unused) {
    (void)unused;
    return bp_py_frames[func] != 0;
}

/* Recording is paused: the first event of each function switches its events off, unless one of its
 * calls is open somewhere, whose end has to be seen. */
static __attribute__((noinline)) void fall_asleep(struct bp_py_code *known) {
    uint32_t events = known->events;
    if (!events || (known->stub && bp_pause_has_open(is_function, &known->stub->func)) ||
        bp_py_monitor_set(known, 0))
        return;
    known->events = events;
    known->asleep = 1;
}

static void set_global(long bits) {
    void *done = bp_py.PyObject_CallMethod(state.monitoring, "set_events", "ll", state.tool, bits);
    if (!done)
        bp_py.PyErr_Clear();
    bp_py_drop(done);
}

static void global_falls_asleep(void) {
    if (state.asleep || bp_pause_has_open(is_any, NULL))
        return;
    state.asleep = 1;
    set_global(0);
}

static int wake_some(void) {
    int found = 0;
    for (uint32_t i = 0; &bp_py_codes.slots[i] < bp_py_codes.end; i++) {
        struct bp_py_code *known = bp_py_codes.slots[i].known;
        if (!bp_py_codes.slots[i].code || !known || !known->asleep)
            continue;
        known->asleep = 0;
        bp_py_monitor_set(known, known->events);
        found = 1;
    }
    return found;
}

/* Setting events may free code objects, which moves others. */
void bp_py_monitor_wake(void) {
    if (state.asleep)
        set_global(state.bits[PY_UNWIND] | state.bits[PY_THROW]);
    state.asleep = 0;
    while (bp_py_codes.slots && wake_some())
        ;
}

static __attribute__((noinline)) void start_rare(struct bp_py_code *known) {
    if (bp_pause_is_on())
        fall_asleep(known);
    else if (is_opened(known))
        open_frame(known, NULL);
    else
        count_passed(bp_self, bp_py_weights.call);
}

static void *start_module(struct bp_py_code *known) {
    void *globals = bp_py.PyEval_GetGlobals();
    if (globals && bp_py_watch_module(known->code, globals))
        bp_py_monitor_set(known, BP_PY_RETURN);
    return disable();
}

/* The entry of a plain function remembers which function it is and not which frame, which takes
 * longer to find out: such calls end in the order in which they began, unless there are greenlets.
 */
static void *on_start(void *self, void *const *arguments, long count) {
    struct bp_py_code *known = known_of(arguments, count);
    struct bp_thread *thread = bp_self;
    struct bp_entry *entry = NULL;
    (void)self;
    if (__builtin_expect(!known, 0))
        return none();
    if (__builtin_expect(known->plain && thread && !bp_process.copies_stacks, 1))
        entry = bp_fast_enter(thread, known->plain, 0);
    if (__builtin_expect(entry != NULL, 1))
        entry->ret = (uint64_t)known;
    else if (known->kind == BP_PY_IGNORED)
        return start_module(known);
    else
        start_rare(known);
    if (__builtin_expect(known->spreads, 0) && !bp_pause_is_on())
        bp_py_spread_look(known, current_frame());
    return none();
}

/* In its place while lines are counted. */
static void *on_start_in_line(void *self, void *const *arguments, long count) {
    const struct bp_py_code *known = bp_py_lines_innermost() ? known_of(arguments, count) : NULL;
    if (known && known->plain)
        bp_py_lines_called();
    return on_start(self, arguments, count);
}

/* A step is no call, but costs as much: its consumer's node counts it. */
static void *on_resume(void *self, void *const *arguments, long count) {
    struct bp_py_code *known = known_of(arguments, count);
    (void)self;
    if (known && bp_pause_is_on()) {
        fall_asleep(known);
    } else if (known && known->stub && is_opened(known)) {
        count_passed(bp_self, bp_py_weights.resume);
        open_frame(known, arguments[1]);
    } else if (known && known->events) {
        count_passed(bp_self, bp_py_weights.call);
    }
    return none();
}

static __attribute__((noinline)) void *leave_rare(struct bp_py_code *known) {
    void *globals = known->kind == BP_PY_IGNORED ? bp_py.PyEval_GetGlobals() : NULL;
    if (globals)
        bp_py_watch_globals(globals);
    if (known->kind == BP_PY_IGNORED)
        return disable();
    end_lines(known);
    bp_thread_close(find_open(known), 0);
    if (bp_pause_is_on())
        fall_asleep(known);
    return none();
}

static void *on_leave(void *self, void *const *arguments, long count) {
    struct bp_py_code *known = known_of(arguments, count);
    struct bp_thread *thread = bp_self;
    struct bp_entry *entry = thread ? (struct bp_entry *)thread->current : NULL;
    uint64_t now;
    (void)self;
    if (__builtin_expect(!known, 0))
        return none();
    if (__builtin_expect(!entry || entry->ret != (uint64_t)known, 0))
        return leave_rare(known);
    if (__builtin_expect(bp_fast_leave(thread, entry, &now), 0))
        bp_thread_close(entry, now);
    return none();
}

/* A global event: every frame of the process that an exception ends. */
static void *on_unwind(void *self, void *const *arguments, long count) {
    struct bp_py_code *known = known_of(arguments, count);
    (void)self;
    if (known && known->stub) {
        end_lines(known);
        bp_thread_abort(find_open(known));
    }
    if (bp_pause_is_on())
        global_falls_asleep();
    return none();
}

static void *on_line(void *self, void *const *arguments, long count) {
    struct bp_py_stretch *stretch = (int)count > 1 ? bp_py_lines_find(current_frame()) : NULL;
    (void)self;
    if (__builtin_expect(stretch != NULL, 1))
        bp_py_lines_at(stretch, (uint32_t)bp_py.PyLong_AsLong(arguments[1]), -1);
    return none();
}

static void *on_call(void *self, void *const *arguments, long count) {
    struct bp_py_code *known = (int)count > 2 ? bp_py_code_find(arguments[0]) : NULL;
    (void)self;
    if (known && bp_pause_is_on()) {
        fall_asleep(known);
        return none();
    }
    return known && bp_py_watch_call(known, arguments[2]) ? disable() : none();
}

/* Called by a small piece of Python: the frame is where we think, seen by two ways. */
static void *on_probe(void *self, void *const *arguments, long count) {
    void *tstate = bp_py.PyThreadState_Get();
    void *object = bp_py.PyThreadState_GetFrame(tstate);
    void *code = object ? bp_py.PyFrame_GetCode(object) : NULL;
    (void)self;
    (void)arguments;
    (void)count;
    if (code && code == state.probe_code) {
        void *frame = *(void **)((char *)object + FRAME_OF_OBJECT);
        uint64_t place = *(uint64_t *)((char *)tstate + state.frame);
        /* What points to the frame is on the stack, above us. */
        uint64_t near = place - (uint64_t)&place;
        if (state.indirect && (near >= (1 << 20) || place & 7))
            frame = NULL;
        state.probe_result = frame && current_frame() == frame;
    } else if (state.probe_result && state.indirect) {
        void *local = *(void **)((char *)current_frame() + BP_PY_LOCALS_312);
        state.probe_locals = local == state.probe_function;
    }
    bp_py_drop(code);
    bp_py_drop(object);
    return none();
}

static struct method methods[] = {
    {"battprof_start", (void *)on_start, METH_FASTCALL, 0},
    {"battprof_resume", (void *)on_resume, METH_FASTCALL, 0},
    {"battprof_return", (void *)on_leave, METH_FASTCALL, 0},
    {"battprof_yield", (void *)on_leave, METH_FASTCALL, 0},
    {"battprof_call", (void *)on_call, METH_FASTCALL, 0},
    {"battprof_unwind", (void *)on_unwind, METH_FASTCALL, 0},
    {"battprof_throw", (void *)on_resume, METH_FASTCALL, 0},
    {"battprof_line", (void *)on_line, METH_FASTCALL, 0},
    {"battprof_probe", (void *)on_probe, METH_FASTCALL, 0},
};

static const char *const names[EVENTS] = {"PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD",
                                          "CALL",     "PY_UNWIND", "PY_THROW",  "LINE"};

static int layout_is_right(int minor) {
    state.thread_state = bp_py.PyThreadState_GetUnchecked ? bp_py.PyThreadState_GetUnchecked
                                                          : bp_py._PyThreadState_UncheckedGet;
    if (!state.thread_state || !bp_py.PyThreadState_GetFrame || !bp_py.PyFrame_GetCode)
        return 0;
    state.indirect = minor == 12;
    state.frame = minor == 12 ? 56 : 72;
    void *function = bp_py.PyCFunction_NewEx(&methods[EVENTS], NULL, NULL);
    void *globals = bp_py.PyDict_New();
    state.probe_function = function;
    state.probe_code =
        bp_py.Py_CompileString("probe() or (lambda x: x())(probe)", "battprof", EVAL_INPUT);
    void *result = NULL;
    bp_py_unseen_begin();
    if (function && globals && state.probe_code &&
        bp_py.PyDict_SetItemString(globals, "probe", function) == 0)
        result = bp_py.PyEval_EvalCode(state.probe_code, globals, globals);
    bp_py_unseen_end();
    bp_py.PyErr_Clear();
    bp_py_drop(result);
    bp_py_drop(state.probe_code);
    bp_py_drop(globals);
    bp_py_drop(function);
    return state.probe_result;
}

/* A built-in function that is called without CPython's own function in between, which would only
 * check its arguments: both hand over the same first ones. */
static void *new_callback(struct method *method) {
    void *function = bp_py.PyCFunction_NewEx(method, NULL, NULL);
    void **place = (void **)((char *)function + VECTORCALL);
    if (function && bp_py.PyVectorcall_Function && bp_py.PyVectorcall_Function(function) == *place)
        *place = method->function;
    return function;
}

/* 1 to 5 may be anybody's; 5, for optimizers, is the one that nobody uses. */
static int take_tool(void) {
    for (state.tool = 5; state.tool >= 3; state.tool--) {
        void *taken = bp_py.PyObject_CallMethod(state.monitoring, "use_tool_id", "ls", state.tool,
                                                "battprof");
        bp_py_drop(taken);
        if (taken)
            return 0;
        bp_py.PyErr_Clear();
    }
    return -1;
}

static int register_callbacks(void) {
    void *events = bp_py.PyObject_GetAttrString(state.monitoring, "events");
    int failed = !events;
    for (int i = 0; i < EVENTS && !failed; i++) {
        state.bits[i] = bp_py_number(events, names[i]);
        void *function = new_callback(&methods[i]);
        void *before = function
                           ? bp_py.PyObject_CallMethod(state.monitoring, "register_callback", "llO",
                                                       state.tool, state.bits[i], function)
                           : NULL;
        failed = state.bits[i] <= 0 || !before;
        bp_py_drop(before);
        bp_py_drop(function);
    }
    bp_py_drop(events);
    void *set = failed ? NULL
                       : bp_py.PyObject_CallMethod(state.monitoring, "set_events", "ll", state.tool,
                                                   state.bits[PY_UNWIND] | state.bits[PY_THROW]);
    bp_py_drop(set);
    return set ? 0 : -1;
}

static void watch_for_cost(struct bp_py_code *known, int on) {
    bp_py_monitor_set(known, on ? BP_PY_START | BP_PY_RETURN : 0);
}

static void watch_lines_for_cost(struct bp_py_code *known, int on) {
    bp_py_monitor_set(known, on ? BP_PY_START | BP_PY_RETURN | BP_PY_LINES : 0);
}

const char *bp_py_monitor_start(int minor, enum bp_py_mode mode) {
    state.monitoring = bp_py.PySys_GetObject("monitoring");
    void *builtins = bp_py.PyEval_GetBuiltins();
    state.none = builtins ? bp_py.PyDict_GetItemString(builtins, "None") : NULL;
    if (!state.monitoring || bp_py_watch_init(mode) != 0)
        return "no sys.monitoring: no Python frames";
    state.disable = bp_py.PyObject_GetAttrString(state.monitoring, "DISABLE");
    if (bp_py_choose_has_lines())
        methods[PY_START].function = (void *)on_start_in_line;
    if (!state.disable || !state.none || !layout_is_right(minor))
        return "an unknown layout of frames: no Python frames";
    bp_py.Py_IncRef(state.monitoring);
    if (take_tool() || register_callbacks()) {
        bp_py.PyErr_Clear();
        return "all tool ids of sys.monitoring are taken: no Python frames";
    }
    if (state.probe_locals)
        bp_py_spread_start();
    bp_py_cost_measure(watch_for_cost, 0);
    if (bp_py_choose_has_lines())
        bp_py_line_cost_measure(watch_lines_for_cost, 0);
    return NULL;
}

int bp_py_monitor_set(struct bp_py_code *known, unsigned what) {
    long bits = 0;
    known->asleep = 0;
    if (what & BP_PY_START)
        bits |= state.bits[PY_START];
    if (what & BP_PY_RETURN)
        bits |= state.bits[PY_RETURN];
    if (what & BP_PY_START && known->generator)
        bits |= state.bits[PY_YIELD] | state.bits[PY_RESUME];
    if (what & BP_PY_CALLS)
        bits |= state.bits[CALL];
    if (what & BP_PY_LINES)
        bits |= state.bits[LINE];
    void *done = bp_py.PyObject_CallMethod(state.monitoring, "set_local_events", "lOl", state.tool,
                                           known->code, bits);
    if (!done)
        bp_py.PyErr_Clear();
    bp_py_drop(done);
    known->events = done ? what : 0;
    return done ? 0 : -1;
}

void bp_py_monitor_module(void *code) {
    struct bp_py_code *known = bp_py_code_see(code, NULL);
    if (known && known->kind == BP_PY_IGNORED)
        bp_py_monitor_set(known, BP_PY_START);
}
