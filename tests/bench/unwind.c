/* SPDX-License-Identifier: MIT
 *
 * What a stack of 25 frames takes: our unwinder, libunwind step by step, and its cached fast trace.
 * From a call, warm, the least of several rounds. Ours forgets each time which pages can be read,
 * as in the sampler's handler.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/objects.h"
#include "tests/unit/referee.h"

#define FRAMES 25
#define ROUNDS 20
#define WALKS 500

/* What walk.c takes from the rest of the library. */
const char bp_stub_return_fast[1], bp_stub_return_slow[1], bp_stub_return_counted[1];
const char bp_stub_return_sampled[1], bp_call_as_return[1];

static struct bp_walk walk;
static unsigned count;

static __attribute__((noinline)) void ours(void) {
    struct bp_cfi_registers registers;
    bp_walk_here(&registers);
    bp_safe_begin(&walk.safe);
    walk.safe.low = registers.r[BP_REG_SP];
    bp_walk_from(&walk, &registers, NULL);
    count = walk.count;
}

static __attribute__((noinline)) void by_steps(void) {
    unw_context_t context;
    uint64_t frames[128];
    referee.getcontext(&context);
    count = referee_walk(&context, 0, frames, 128);
}

static __attribute__((noinline)) void by_trace(void) {
    void *frames[128];
    count = (unsigned)referee.backtrace(frames, 128);
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void measure(const char *name, void (*way)(void)) {
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        for (int i = 0; i < WALKS; i++)
            way();
        double took = (now_us() - start) / WALKS;
        best = took < best ? took : best;
    }
    printf("%-28s %8.2f us for %u frames\n", name, best, count);
}

static __attribute__((noinline)) int deep(int depth) {
    volatile char used[64];
    used[depth % 64] = 1;
    if (depth)
        return deep(depth - 1) + used[0];
    measure("ours", ours);
    measure("libunwind, unw_step", by_steps);
    measure("libunwind, unw_backtrace", by_trace);
    return 0;
}

int main(void) {
    if (!referee_open()) {
        printf("libunwind.so.8 is not installed\n");
        return 77;
    }
    objects_add_all();
    walk.safe.high = (uint64_t)environ;
    /* main and three of libc's beneath, the measurement and the way on top. */
    deep(FRAMES - 7);
    return 0;
}
