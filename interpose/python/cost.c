/* SPDX-License-Identifier: MIT
 *
 * An empty Python function is called with and without us, on a ledger that is in no file. What is
 * measured of it beyond the time of a bare call is the part inside, the rest is the caller's.
 */
#include "interpose/python/cost.h"

#include "interpose/python/api.h"
#include "profile/clock.h"

#define BATCHES 9
#define CALLS 200
#define FILE_INPUT 257 /* Py_file_input */

static const char source[] = "r = range(200)\n"
                             "def f(): pass\n"
                             "def calls():\n"
                             "    for _ in r: f()\n"
                             "def nothing():\n"
                             "    for _ in r: pass\n";

struct ticks {
    uint64_t loop, bare, whole, within;
};

static uint64_t run(void *function) {
    uint64_t start = bp_clock_now(bp_process.clock);
    bp_py_drop(bp_py.PyObject_CallObject(function, NULL));
    return bp_clock_now(bp_process.clock) - start;
}

static void least(uint64_t *ticks, uint64_t more) {
    if (more < *ticks)
        *ticks = more;
}

static void measure(struct ticks *ticks, struct bp_thread *scratch, void *globals,
                    struct bp_py_code *known, void (*watch)(struct bp_py_code *, int)) {
    void *calls = bp_py.PyDict_GetItemString(globals, "calls");
    void *nothing = bp_py.PyDict_GetItemString(globals, "nothing");
    struct bp_thread *self = bp_self;
    struct bp_node *node = bp_node_get(scratch, scratch->root.node, known->stub);
    for (int i = 0; i < BATCHES && calls && nothing && node; i++) {
        least(&ticks->loop, run(nothing));
        least(&ticks->bare, run(calls));
        uint64_t before = node->total;
        watch(known, 1);
        bp_self = scratch;
        least(&ticks->whole, run(calls));
        bp_self = self;
        watch(known, 0);
        least(&ticks->within, node->total - before);
    }
}

static void note(const struct ticks *ticks) {
    struct bp_header *header = bp_process.writer.header;
    uint64_t call = ticks->bare > ticks->loop ? ticks->bare - ticks->loop : 0;
    uint64_t inside = ticks->within > call ? ticks->within - call : 0;
    uint64_t all = ticks->whole > ticks->bare ? ticks->whole - ticks->bare : 0;
    if (ticks->whole == UINT64_MAX || !ticks->within)
        return;
    header->python_inside = (uint32_t)((inside < all ? inside : all) * 256 / CALLS);
    header->python_outside = (uint32_t)(all * 256 / CALLS) - header->python_inside;
}

static void measure_in(void *globals, void (*watch)(struct bp_py_code *, int)) {
    static struct bp_stub stub = {0, BP_FUNCTIONS - 1, BP_STUB_CALL};
    struct ticks ticks = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    void *function = bp_py.PyDict_GetItemString(globals, "f");
    void *code = function ? bp_py.PyFunction_GetCode(function) : NULL;
    struct bp_py_code *known = code ? bp_py_code_see(code, globals) : NULL;
    struct bp_thread *scratch = known && bp_self ? bp_thread_scratch() : NULL;
    if (!scratch)
        return;
    const struct bp_local *own = (const struct bp_local *)bp_self->local;
    struct bp_local *local = (struct bp_local *)scratch->local;
    local->stack_low = own->stack_low;
    local->stack_high = own->stack_high;
    local->stack_half = own->stack_half;
    known->kind = BP_PY_OPEN;
    bp_py_code_open(known, &stub);
    bp_py_frames[stub.func] = BP_PY_FRAME_DSL;
    uint64_t mask = bp_signals_block();
    measure(&ticks, scratch, globals, known, watch);
    bp_signals_restore(mask);
    bp_thread_scratch_free(scratch);
    note(&ticks);
}

void bp_py_cost_measure(void (*watch)(struct bp_py_code *known, int on)) {
    struct bp_py_error error;
    if (bp_py_is_traced())
        return;
    bp_py_error_save(&error);
    void *globals = bp_py.PyDict_New();
    if (globals)
        bp_py.PyDict_SetItemString(globals, "__builtins__", bp_py.PyEval_GetBuiltins());
    void *code = globals ? bp_py.Py_CompileString(source, "battprof", FILE_INPUT) : NULL;
    void *result = code ? bp_py.PyEval_EvalCode(code, globals, globals) : NULL;
    if (result)
        measure_in(globals, watch);
    bp_py.PyErr_Clear();
    bp_py_drop(result);
    bp_py_drop(code);
    bp_py_drop(globals);
    bp_py_error_restore(&error);
}
