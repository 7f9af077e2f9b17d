/* SPDX-License-Identifier: MIT
 *
 * An empty Python function is called with and without us, on a ledger that is in no file. What is
 * measured of it beyond the time of a bare call is the part inside, the rest is the caller's. The
 * same function as one that is left alone tells what that costs, a generator what its steps cost,
 * and id() what an audit event costs.
 */
#include "interpose/python/cost.h"

#include "interpose/python/api.h"
#include "interpose/python/audit.h"
#include "profile/clock.h"

#define BATCHES 15
#define CALLS 200
#define FILE_INPUT 257 /* Py_file_input */

static const char source[] = "r = range(200)\n"
                             "def f(): pass\n"
                             "def g():\n"
                             "    for _ in r: yield\n"
                             "def calls():\n"
                             "    for _ in r: f()\n"
                             "def steps():\n"
                             "    for _ in g(): pass\n"
                             "def ids():\n"
                             "    for _ in r: id(g)\n"
                             "def hashes():\n"
                             "    for _ in r: hash(g)\n"
                             "def nothing():\n"
                             "    for _ in r: pass\n";

struct bp_py_weights bp_py_weights = {1, 1, 0};

/* What each batch took beyond the bare calls, and beyond what the callees took in them. Batches are
 * compared one by one: a core that is shared runs at another speed a moment later. */
struct cost {
    int64_t all[BATCHES], inside[BATCHES];
    int count;
};

/* Ticks of a batch of what is not a call here: calls that are left alone, steps of generators that
 * are left alone, steps that are recorded, and audit events. */
struct passed {
    int steps; /* those that are left alone cost something, too */
    int64_t call, step, resume, audit;
};

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
                            bp_py_watch *watch) {
    struct bp_thread *self = bp_self;
    watch(known, 1);
    bp_self = scratch;
    uint64_t whole = run(function);
    bp_self = self;
    watch(known, 0);
    return whole;
}

static void measure(struct cost *cost, struct bp_thread *scratch, void *globals,
                    struct bp_py_code *known, bp_py_watch *watch) {
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

/* How much longer a function takes with us. */
static int64_t longer(void *function, struct bp_thread *scratch, struct bp_py_code *known,
                      bp_py_watch *watch) {
    int64_t more[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        uint64_t bare = run(function);
        more[i] = (int64_t)(run_watched(function, scratch, known, watch) - bare);
    }
    return median(more, BATCHES);
}

static int64_t cheaper(int64_t unit, int64_t ticks) {
    return ticks > 0 && ticks < unit ? ticks : unit;
}

/* What went through our hands is counted in units of the cheapest kind. */
static void note_passed(const struct passed *passed) {
    int64_t unit = cheaper(cheaper(passed->resume, passed->call), passed->step);
    if (unit <= 0)
        return;
    bp_process.writer.header->python_passed = (uint32_t)(unit * 256 / CALLS);
    bp_py_weights.call = (uint32_t)((passed->call + unit / 2) / unit);
    bp_py_weights.resume = (uint32_t)((passed->resume + unit / 2) / unit);
    bp_py_weights.audit = (uint32_t)((passed->audit + unit / 2) / unit);
}

static void note(struct cost *cost) {
    struct bp_header *header = bp_process.writer.header;
    if (!cost->count)
        return;
    int64_t all = median(cost->all, cost->count), inside = median(cost->inside, cost->count);
    header->python_inside = (uint32_t)((inside < all ? inside : all) * 256 / CALLS);
    header->python_outside = (uint32_t)(all * 256 / CALLS) - header->python_inside;
}

static struct bp_py_code *see(void *globals, const char *name) {
    void *function = bp_py.PyDict_GetItemString(globals, name);
    void *code = function ? bp_py.PyFunction_GetCode(function) : NULL;
    return code ? bp_py_code_see(code, globals) : NULL;
}

static void measure_calls(void *globals, struct bp_thread *scratch, bp_py_watch *watch,
                          struct bp_stub *stub, struct passed *passed) {
    struct cost cost = {.count = 0};
    struct bp_py_code *known = see(globals, "f");
    void *calls = bp_py.PyDict_GetItemString(globals, "calls");
    if (!known || !calls)
        return;
    known->kind = BP_PY_OUTER;
    passed->call = longer(calls, scratch, known, watch);
    known->kind = BP_PY_OPEN;
    bp_py_code_open(known, stub);
    measure(&cost, scratch, globals, known, watch);
    note(&cost);
}

static void measure_steps(void *globals, struct bp_thread *scratch, bp_py_watch *watch,
                          struct bp_stub *stub, struct passed *passed) {
    struct bp_py_code *known = see(globals, "g");
    void *steps = bp_py.PyDict_GetItemString(globals, "steps");
    if (!known || !steps)
        return;
    if (passed->steps) {
        bp_py_step = (struct bp_py_step){known->code, scratch->root.node};
        passed->step = longer(steps, scratch, known, watch);
        bp_py_step.code = NULL;
    }
    known->kind = BP_PY_OPEN;
    bp_py_code_open(known, stub);
    passed->resume = longer(steps, scratch, known, watch);
}

/* id() is audited, and hash() takes as long otherwise: within 7 ns from 3.8 to 3.13. */
static void measure_audit(void *globals, struct passed *passed) {
    void *ids = bp_py.PyDict_GetItemString(globals, "ids");
    void *hashes = bp_py.PyDict_GetItemString(globals, "hashes");
    int64_t more[BATCHES];
    if (!ids || !hashes || bp_py_audit_has_others())
        return;
    for (int i = 0; i < BATCHES; i++) {
        uint64_t bare = run(hashes);
        more[i] = (int64_t)(run(ids) - bare);
    }
    passed->audit = median(more, BATCHES);
}

static void measure_in(void *globals, bp_py_watch *watch, int steps) {
    static struct bp_stub stub = {0, BP_FUNCTIONS - 1, BP_STUB_CALL};
    struct passed passed = {.steps = steps};
    struct bp_thread *scratch = bp_self ? bp_thread_scratch() : NULL;
    if (!scratch)
        return;
    const struct bp_local *own = (const struct bp_local *)bp_self->local;
    struct bp_local *local = (struct bp_local *)scratch->local;
    local->stack_low = own->stack_low;
    local->stack_high = own->stack_high;
    local->stack_half = own->stack_half;
    uint64_t mask = bp_signals_block();
    bp_py_frames[stub.func] = BP_PY_FRAME_DSL;
    measure_calls(globals, scratch, watch, &stub, &passed);
    measure_steps(globals, scratch, watch, &stub, &passed);
    measure_audit(globals, &passed);
    bp_signals_restore(mask);
    bp_thread_scratch_free(scratch);
    note_passed(&passed);
}

void bp_py_cost_run(const char *text, bp_py_measure *take, bp_py_watch *watch, int number) {
    struct bp_py_error error;
    if (bp_py_is_traced())
        return;
    bp_py_error_save(&error);
    void *globals = bp_py.PyDict_New();
    if (globals)
        bp_py.PyDict_SetItemString(globals, "__builtins__", bp_py.PyEval_GetBuiltins());
    void *code = globals ? bp_py.Py_CompileString(text, "battprof", FILE_INPUT) : NULL;
    void *result = code ? bp_py.PyEval_EvalCode(code, globals, globals) : NULL;
    if (result)
        take(globals, watch, number);
    bp_py.PyErr_Clear();
    bp_py_drop(result);
    bp_py_drop(code);
    bp_py_drop(globals);
    bp_py_error_restore(&error);
}

void bp_py_cost_measure(bp_py_watch *watch, int steps) {
    bp_py_cost_run(source, measure_in, watch, steps);
}
