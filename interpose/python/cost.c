/* SPDX-License-Identifier: MIT
 *
 * An empty Python function is called with and without us, on a ledger that is in no file. What is
 * measured of it beyond the time of a bare call is the part inside, the rest is the caller's. The
 * same function as one that is left alone tells what that costs.
 */
#include "interpose/python/cost.h"

#include "interpose/python/api.h"
#include "profile/clock.h"

#define BATCHES 15
#define CALLS 200
#define FILE_INPUT 257 /* Py_file_input */

static const char source[] = "r = range(200)\n"
                             "def f(): pass\n"
                             "def calls():\n"
                             "    for _ in r: f()\n"
                             "def nothing():\n"
                             "    for _ in r: pass\n";

/* Of one batch, taken one after the other: a core that is shared runs at another speed a moment
 * later. More than the bare calls took, and more than the callees took in them; and, of calls that
 * are left alone, more than the bare calls took. */
struct cost {
    int64_t all[BATCHES], inside[BATCHES], passed[BATCHES];
    int count, passed_count;
};

typedef void (*watch_code)(struct bp_py_code *known, int on);

static uint64_t run(void *function) {
    uint64_t start = bp_clock_now(bp_process.clock);
    bp_py_drop(bp_py.PyObject_CallObject(function, NULL));
    return bp_clock_now(bp_process.clock) - start;
}

static int64_t median(int64_t *values, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
            int64_t value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
        }
    return values[count / 2] > 0 ? values[count / 2] : 0;
}

static uint64_t run_watched(void *function, struct bp_thread *scratch, struct bp_py_code *known,
                            watch_code watch) {
    struct bp_thread *self = bp_self;
    watch(known, 1);
    bp_self = scratch;
    uint64_t whole = run(function);
    bp_self = self;
    watch(known, 0);
    return whole;
}

static void measure(struct cost *cost, struct bp_thread *scratch, void *globals,
                    struct bp_py_code *known, watch_code watch) {
    void *calls = bp_py.PyDict_GetItemString(globals, "calls");
    void *nothing = bp_py.PyDict_GetItemString(globals, "nothing");
    struct bp_node *node = bp_node_get(scratch, scratch->root.node, known->stub);
    for (int i = 0; i < BATCHES && calls && nothing && node; i++) {
        uint64_t loop = run(nothing), bare = run(calls), before = node->total;
        uint64_t whole = run_watched(calls, scratch, known, watch);
        cost->all[i] = (int64_t)(whole - bare);
        cost->inside[i] = (int64_t)(node->total - before - (bare - loop));
        cost->count = i + 1;
    }
}

static void measure_passed(struct cost *cost, struct bp_thread *scratch, void *globals,
                           struct bp_py_code *known, watch_code watch) {
    void *calls = bp_py.PyDict_GetItemString(globals, "calls");
    for (int i = 0; i < BATCHES && calls; i++) {
        uint64_t bare = run(calls);
        cost->passed[i] = (int64_t)(run_watched(calls, scratch, known, watch) - bare);
        cost->passed_count = i + 1;
    }
}

static void note(struct cost *cost) {
    struct bp_header *header = bp_process.writer.header;
    if (cost->passed_count)
        header->python_passed = (uint32_t)(median(cost->passed, cost->passed_count) * 256 / CALLS);
    if (!cost->count)
        return;
    int64_t all = median(cost->all, cost->count), inside = median(cost->inside, cost->count);
    header->python_inside = (uint32_t)((inside < all ? inside : all) * 256 / CALLS);
    header->python_outside = (uint32_t)(all * 256 / CALLS) - header->python_inside;
}

static void measure_in(void *globals, watch_code watch, int passed) {
    static struct bp_stub stub = {0, BP_FUNCTIONS - 1, BP_STUB_CALL};
    struct cost cost = {.count = 0};
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
    uint64_t mask = bp_signals_block();
    known->kind = BP_PY_OUTER;
    if (passed)
        measure_passed(&cost, scratch, globals, known, watch);
    known->kind = BP_PY_OPEN;
    bp_py_code_open(known, &stub);
    bp_py_frames[stub.func] = BP_PY_FRAME_DSL;
    measure(&cost, scratch, globals, known, watch);
    bp_signals_restore(mask);
    bp_thread_scratch_free(scratch);
    note(&cost);
}

void bp_py_cost_measure(watch_code watch, int passed) {
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
        measure_in(globals, watch, passed);
    bp_py.PyErr_Clear();
    bp_py_drop(result);
    bp_py_drop(code);
    bp_py_drop(globals);
    bp_py_error_restore(&error);
}
