/* SPDX-License-Identifier: MIT
 *
 * Small functions are called with and without us, on a ledger that is in no file. They have loops,
 * as lines have that are worth counting: what an event costs depends on where the one before was.
 * Two functions differ in one thing each, so that all else cancels out.
 */
#include "interpose/python/line/cost.h"

#include <string.h>

#include "interpose/python/api.h"
#include "interpose/python/cost.h"
#include "interpose/python/line/counts.h"
#include "profile/clock.h"

#define BATCHES 11
#define CALLS 8
#define ROUNDS 40      /* of the loops: see source */
#define MORE_LINES 3   /* of MANY_LINES than of FEW_LINES */
#define SHORT_LINE 2   /* instructions of a = b */
#define SHORT_LOOP 5   /* and of ONE_LINE's round */
#define WARM_EVENTS 41 /* of WORKING: 8 rounds of 5 lines, and the loop's end */
#define LEAST_DOUBT 4  /* one in so many: no two lines are alike */

/* The last two are measured when the costs that follow from the others are known. */
enum { FEW_LINES, MANY_LINES, LONG_LINES, ONE_LINE, NO_LOOP, STEPS, WORKING, SHAPES };

static const char source[] =
    "r = range(40)\n"
    "def f0(r=r, b=3, c=5):\n"
    " for i in r:\n"
    "  a = b\n"
    "def f1(r=r, b=3, c=5):\n"
    " for i in r:\n"
    "  a = b\n  a = b\n  a = b\n  a = b\n"
    "def f2(r=r, b=3, c=5):\n"
    " for i in r:\n"
    "  a = c, b, c, b\n  a = b + c * b\n  a = c, b, c, b\n  a = b + c\n"
    "def f3(r=r, b=3, c=5):\n"
    " for i in r: a = b\n"
    "def f4(b=3, c=5):\n"
    " a = b\n"
    "def f5(r=r, b=3, c=5):\n"
    " for i in r: yield b\n"
    "def c5(f=f5, l=list): l(f())\n"
    "def f6(r=range(8), s=sorted, w=[*range(900, 1200)], d=dict.fromkeys):\n"
    " for i in r:\n"
    "  s(w)\n  a = '%r' % (w[:9],)\n  d(w)\n  a = a.split(',')\n";

struct subject {
    void *function; /* that is called */
    struct bp_py_code *known;
    int64_t cost[BATCHES];
    int64_t taken[BATCHES]; /* what was taken out for it, 1/256 ticks */
};

static uint64_t run(void *function) {
    uint64_t start = bp_clock_now(bp_process.clock);
    for (int i = 0; i < CALLS; i++)
        bp_py_drop(bp_py.PyObject_CallObject(function, NULL));
    return bp_clock_now(bp_process.clock) - start;
}

static void measure_once(struct subject *subject, int batch, struct bp_thread *scratch,
                         bp_py_watch *watch) {
    struct bp_thread *self = bp_self;
    uint64_t bare = run(subject->function);
    watch(subject->known, 1);
    bp_self = scratch;
    uint64_t before = bp_py_lines_taken();
    uint64_t whole = run(subject->function);
    subject->taken[batch] = (int64_t)(bp_py_lines_taken() - before);
    bp_self = self;
    watch(subject->known, 0);
    subject->cost[batch] = (int64_t)(whole - bare);
}

static void measure(struct subject *subjects, int first, int end, struct bp_thread *scratch,
                    bp_py_watch *watch) {
    for (int batch = 0; batch < BATCHES; batch++)
        for (int shape = first; shape < end; shape++)
            measure_once(&subjects[shape], batch, scratch, watch);
}

static int64_t median(int64_t *values) {
    for (int i = 1; i < BATCHES; i++)
        for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
            int64_t value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
        }
    return values[BATCHES / 2];
}

static uint32_t per(int64_t ticks, int64_t count) {
    return ticks > 0 && count > 0 ? (uint32_t)(ticks * 256 / (count * CALLS)) : 0;
}

static uint32_t at_least(uint32_t whole, uint32_t part) {
    return whole > part ? whole - part : 0;
}

/* A line between others that work costs more than one in a small loop: the caches have been used
 * for something else. Programs have both, so the truth is somewhere between; that is the doubt. */
static void note_doubt(struct subject *subjects, int instructions) {
    struct bp_header *header = bp_process.writer.header;
    struct bp_py_line_cost *cost = &bp_py_line_cost;
    int64_t steps = median(subjects[STEPS].cost) - median(subjects[STEPS].taken) / 256;
    int64_t more = median(subjects[WORKING].cost) - median(subjects[WORKING].taken) / 256;
    /* Since 3.12 the consumer's node has passed each step, and pays for that (charge_passed()). */
    uint32_t paid = instructions ? 0 : bp_py_weights.resume * cost->passed;
    cost->resume = at_least(per(steps, ROUNDS), paid);
    uint32_t half = per(more, WARM_EVENTS) / 2;
    cost->event += half;
    header->line_event = cost->event;
    header->line_doubt = half > cost->event / LEAST_DOUBT ? half : cost->event / LEAST_DOUBT;
}

static void note(struct subject *subjects, int instructions) {
    struct bp_header *header = bp_process.writer.header;
    struct bp_py_line_cost *cost = &bp_py_line_cost;
    int64_t few = median(subjects[FEW_LINES].cost), many = median(subjects[MANY_LINES].cost);
    int64_t more = bp_py_lines_size(subjects[LONG_LINES].known->lines) -
                   bp_py_lines_size(subjects[MANY_LINES].known->lines);
    if (instructions)
        cost->instruction = per(median(subjects[LONG_LINES].cost) - many, more * ROUNDS);
    uint32_t line = per(many - few, MORE_LINES * ROUNDS);
    cost->event = at_least(line, SHORT_LINE * cost->instruction);
    uint32_t call = per(median(subjects[NO_LOOP].cost), 1);
    cost->call = at_least(call, line);
    int64_t rounds = median(subjects[ONE_LINE].cost) - median(subjects[NO_LOOP].cost);
    cost->again = at_least(per(rounds, ROUNDS), SHORT_LOOP * cost->instruction);
    cost->plain = header->python_inside + header->python_outside;
    cost->passed = header->python_passed;
    header->line_event = cost->event;
    header->line_instruction = cost->instruction;
}

static int prepare(struct subject *subject, void *globals, int shape) {
    static struct bp_stub stub = {0, BP_FUNCTIONS - 1, BP_STUB_CALL};
    char name[] = "f0";
    name[1] = (char)('0' + shape);
    void *counted = bp_py.PyDict_GetItemString(globals, name);
    void *code = counted ? bp_py.PyFunction_GetCode(counted) : NULL;
    subject->function = shape == STEPS ? bp_py.PyDict_GetItemString(globals, "c5") : counted;
    subject->known = code ? bp_py_code_see(code, globals) : NULL;
    if (!subject->known || !subject->function)
        return -1;
    subject->known->kind = BP_PY_OPEN;
    subject->known->counted = BP_FUNC_LINES;
    bp_py_code_open(subject->known, &stub);
    return subject->known->lines ? 0 : -1;
}

static void measure_in(void *globals, bp_py_watch *watch, int instructions) {
    struct subject subjects[SHAPES];
    struct bp_thread *scratch = bp_self ? bp_thread_scratch() : NULL;
    int ready = scratch != NULL;
    for (int shape = 0; ready && shape < SHAPES; shape++)
        ready = prepare(&subjects[shape], globals, shape) == 0;
    if (ready) {
        const struct bp_local *own = (const struct bp_local *)bp_self->local;
        ((struct bp_local *)scratch->local)->stack_low = own->stack_low;
        ((struct bp_local *)scratch->local)->stack_half = own->stack_half;
        uint64_t mask = bp_signals_block();
        measure(subjects, 0, STEPS, scratch, watch);
        note(subjects, instructions);
        measure(subjects, STEPS, SHAPES, scratch, watch);
        note_doubt(subjects, instructions);
        bp_signals_restore(mask);
    }
    if (scratch)
        bp_thread_scratch_free(scratch);
}

void bp_py_line_cost_measure(bp_py_watch *watch, int instructions) {
    bp_py_cost_run(source, measure_in, watch, instructions);
}
