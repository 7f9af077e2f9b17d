/* SPDX-License-Identifier: MIT
 *
 * The fields of PyThreadState are written directly: PyEval_SetTrace would announce every switch to
 * audit hooks, and takes longer than a line. sys.gettrace() shows the object that belongs to a
 * trace function; ours has none, so the program sees None.
 */
#include "interpose/python/line/trace.h"

#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/note.h"

enum { TRACE_LINE = 2, TRACE_RETURN = 3 }; /* PyTrace_* */

typedef int (*trace_function)(void *object, void *frame, int what, void *argument);

/* Where things are, by minor version. */
struct layout {
    uint16_t use;      /* PyThreadState: use_tracing, an int; or what points to it (3.10) */
    uint16_t profile;  /* c_profilefunc; c_tracefunc follows */
    uint16_t object;   /* c_traceobj */
    uint16_t possible; /* an int that counts traced threads: in _PyRuntime (3.8), in the
                          interpreter (3.9) */
    uint16_t line;     /* PyFrameObject: f_lineno */
    uint16_t last;     /* f_lasti; of 3.11's inner frame the last instruction's address */
};

static const struct layout layouts[] = {
    {48, 56, 80, 588, 108, 104}, /* 3.8 */
    {48, 56, 80, 68, 108, 104},
    {48, 56, 80, 0, 100, 96},
    {56, 64, 88, 0, 40, 56},
};

#define INNER_FRAME 24   /* 3.11: PyFrameObject.f_frame */
#define INSTRUCTIONS 184 /* 3.11: PyCodeObject.co_code_adaptive */
#define CODE_OF_FRAME 32 /* of 3.11's inner frame */
#define ON_311 255       /* or-ed to every opcode */

static struct {
    struct layout layout;
    int minor;
    int works;
    int32_t *possible;
} state;

static void **field(const void *object, unsigned offset) {
    return (void **)((char *)(uintptr_t)object + offset);
}

static void **tracer(const void *tstate) {
    return field(tstate, state.layout.profile + sizeof(void *));
}

/* An int up to 3.10, a byte in 3.11. */
static void set_use(void *tstate, int on) {
    void *place = field(tstate, state.layout.use);
    if (state.minor >= 10)
        place = *(void **)place;
    if (state.minor >= 11)
        *(uint8_t *)place = on ? ON_311 : 0;
    else
        *(int32_t *)place = on;
}

/* In bytes. 3.10 counts instructions; a generator that has not begun has -1. */
static int64_t place_of(const void *frame) {
    if (state.minor >= 11) {
        const char *last = *field(frame, state.layout.last);
        return last - ((const char *)*field(frame, CODE_OF_FRAME) + INSTRUCTIONS);
    }
    int32_t last = *(int32_t *)field(frame, state.layout.last);
    return state.minor == 10 ? 2 * (int64_t)last : last;
}

static int on_event(void *unused, void *object, int what, void *argument) {
    struct bp_py_stretch *stretch = bp_py_lines_innermost();
    void *frame = state.minor >= 11 ? *field(object, INNER_FRAME) : object;
    (void)unused;
    (void)argument;
    if (!stretch || stretch->frame != frame)
        return 0;
    if (what == TRACE_LINE)
        bp_py_lines_at(stretch, *(uint32_t *)field(object, state.layout.line), place_of(frame));
    else if (what == TRACE_RETURN)
        bp_py_lines_pause(stretch);
    return 0;
}

int bp_py_trace_is_on(const void *tstate) {
    return *tracer(tstate) == (void *)on_event;
}

void bp_py_trace_on(void *tstate) {
    if (*tracer(tstate)) {
        bp_py_note("lines were not counted while another tool traced");
        return;
    }
    *tracer(tstate) = (void *)on_event;
    if (state.possible)
        ++*state.possible;
    set_use(tstate, 1);
}

/* A tool that took our place has counted for itself what PyEval_SetTrace counts. */
void bp_py_trace_off(void *tstate) {
    if (*tracer(tstate) != (void *)on_event) {
        bp_py_note("lines were not counted while another tool traced");
        return;
    }
    *tracer(tstate) = NULL;
    if (state.possible)
        --*state.possible;
    set_use(tstate, *field(tstate, state.layout.profile) != NULL);
}

void *bp_py_trace_thread(void *tstate) {
    if (!state.works)
        return NULL;
    return tstate ? tstate : bp_py._PyThreadState_UncheckedGet();
}

struct bp_py_stretch *bp_py_trace_begin(void *tstate, struct bp_py_lines *lines, void *frame,
                                        struct bp_entry *entry, int resumed) {
    if (*tracer(tstate) || bp_process.copies_stacks) {
        bp_py_note(bp_process.copies_stacks ? "lines are not counted with greenlets"
                                            : "lines were not counted while another tool traced");
        return NULL;
    }
    struct bp_py_stretch *stretch = bp_py_lines_begin(lines, frame, entry, resumed);
    if (!stretch)
        return NULL;
    if (resumed)
        bp_py_lines_go_on(stretch, place_of(frame));
    return stretch;
}

/* CPython sets the fields itself, for a moment in which nothing runs: they must be where we think.
 */
static int fields_are_right(const void *tstate) {
    int32_t before = state.possible ? *state.possible : 0;
    int right = !*tracer(tstate) && !*field(tstate, state.layout.object);
    bp_py.PyEval_SetTrace((void *)on_event, NULL);
    right = right && bp_py_trace_is_on(tstate) && !*field(tstate, state.layout.object) &&
            (!state.possible || *state.possible == before + 1);
    bp_py.PyEval_SetTrace(NULL, NULL);
    return right && !*tracer(tstate) && (!state.possible || *state.possible == before);
}

void bp_py_trace_start(int minor) {
    void *tstate = bp_py.PyThreadState_Get();
    state.minor = minor;
    state.layout = layouts[minor - 8];
    if (minor == 8)
        state.possible = (int32_t *)(bp_py_runtime + state.layout.possible);
    else if (minor == 9)
        state.possible = (int32_t *)field(bp_py.PyInterpreterState_Main(), state.layout.possible);
    if (bp_py_is_traced() || !bp_py.PyEval_SetTrace || !bp_py._PyThreadState_UncheckedGet ||
        (minor == 8 && state.layout.possible >= bp_py_runtime_size) || !fields_are_right(tstate))
        bp_py_note("lines are not counted: another tool traces, or an unknown layout of threads");
    else
        state.works = 1;
}
