/* SPDX-License-Identifier: MIT
 *
 * The unwinder against libgcc's, on the same stack: recursion, callbacks of libc, a signal handler,
 * a coroutine. And memory that is not there.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose/arch/arch.h"
#include "interpose/base/pages.h"
#include "interpose/unwind/tables.h"
#include "interpose/unwind/walk.h"
#include "tests/unit/objects.h"
#include "tests/unit/test.h"

/* What walk.c takes from the rest of the library. */
const char bp_stub_return_fast[1], bp_stub_return_slow[1], bp_stub_return_counted[1];
const char bp_stub_return_sampled[1], bp_call_as_return[1];

static struct bp_walk walk;
static void *theirs[BP_WALK_DEPTH];
static int their_count;

static void walk_from_here(void) {
    struct bp_cfi_registers registers;
    bp_walk_here(&registers);
    bp_safe_begin(&walk.safe);
    bp_walk_from(&walk, &registers, NULL);
}

/* Our frame 0 and theirs are two places of one function; the callers are the same. libgcc also
 * shows the trampoline of a signal, which we leave out, and a coroutine's root. */
static void compare(unsigned left_out) {
    CHECK_EQUAL(walk.truncation, BP_TRUNCATIONS);
    CHECK_EQUAL(walk.count + left_out, their_count);
    for (uint32_t i = 1, k = 1; i < walk.count && k < (uint32_t)their_count; i++, k++) {
        if (walk.places[i].address != (uint64_t)theirs[k] && left_out) {
            left_out--;
            k++;
        }
        CHECK_EQUAL(walk.places[i].address, (uint64_t)theirs[k]);
    }
}

static __attribute__((noinline)) void look(void) {
    walk_from_here();
    their_count = backtrace(theirs, BP_WALK_DEPTH);
    __asm__ volatile("");
}

static __attribute__((noinline)) int recurse(int depth, void (*leaf)(void)) {
    volatile char used[200];
    used[depth % 200] = 1;
    if (depth > 0)
        depth = recurse(depth - 1, leaf) + 1;
    else
        leaf();
    return depth + used[0] - used[0];
}

static void recursion(void) {
    recurse(20, look);
    compare(0);
    CHECK(walk.count > 20);
}

static struct bp_trail trail;
static uint64_t stack_high;
static int held;

/* Whether the trail of the call before holds; then a new one. The second of two walks goes by steps
 * that are remembered, and leaves a trail that can hold. */
static __attribute__((noinline)) void look_again(void) {
    struct bp_cfi_registers registers;
    bp_walk_here(&registers);
    held = trail.sp == registers.r[BP_REG_SP] && bp_trail_holds(&trail);
    bp_safe_begin(&walk.safe);
    walk.safe.low = registers.r[BP_REG_SP];
    walk.safe.high = stack_high;
    for (int i = 0; i < 2; i++) {
        bp_trail_begin(&trail, &registers);
        bp_walk_from(&walk, &registers, &trail);
    }
    walk.safe.low = walk.safe.high = 0;
    __asm__ volatile("");
}

static __attribute__((noinline)) int by_one(int depth) {
    return recurse(depth, look_again) + 1;
}

static __attribute__((noinline)) int by_other(int depth) {
    return recurse(depth, look_again) + 2;
}

/* A trail holds on the same path, whatever the variables are, and on no other; there is none that
 * leads to another stack. */
static void trails(void) {
    int (*const paths[])(int) = {by_one, by_one, by_one, by_other, by_other, by_one};
    int depths[] = {5, 5, 6, 6, 6, 6}, expected[] = {0, 1, 0, 0, 1, 0};
    stack_high = (uint64_t)environ;
    for (int i = 0; i < 6; i++) {
        paths[i](depths[i]);
        CHECK_EQUAL(walk.truncation, BP_TRUNCATIONS);
        CHECK_EQUAL(held, expected[i]);
    }
    CHECK(trail.count > 6 && trail.count <= BP_TRAIL_LENGTH);
    recurse(BP_TRAIL_LENGTH, look_again);
    CHECK(!bp_trail_holds(&trail));
    stack_high = (uint64_t)__builtin_frame_address(0);
    by_one(5);
    CHECK_EQUAL(walk.truncation, BP_TRUNCATIONS);
    CHECK(!bp_trail_holds(&trail));
}

static int compare_numbers(const void *a, const void *b) {
    static int looked;
    if (!looked++)
        look();
    return *(const int *)a - *(const int *)b;
}

static void callbacks(void) {
    int numbers[] = {5, 3, 8, 1};
    qsort(numbers, 4, sizeof *numbers, compare_numbers);
    compare(0);
}

static void on_signal(int number) {
    (void)number;
    recurse(3, look);
}

static void handlers(void) {
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    compare(1);
    int marked = 0;
    for (uint32_t i = 0; i < walk.count; i++)
        marked += (walk.places[i].flags & BP_FRAME_SIGNAL) != 0;
    CHECK_EQUAL(marked, 1);
}

static ucontext_t outside, inside;

static void coroutine(void) {
    recurse(3, look);
}

static void coroutines(void) {
    static char stack[64 << 10];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    CHECK_EQUAL(walk.truncation, BP_TRUNCATIONS);
    for (uint32_t i = 1; i < walk.count; i++)
        CHECK_EQUAL(walk.places[i].address, (uint64_t)theirs[i]);
    CHECK(walk.count >= 5 && walk.count <= (uint32_t)their_count);
}

static void too_deep(void) {
    recurse(BP_WALK_DEPTH + 10, look);
    CHECK_EQUAL(walk.truncation, BP_TRUNCATED_DEPTH);
    CHECK_EQUAL(walk.count, BP_WALK_DEPTH);
}

/* Every instruction of a walk of nonsense fails; none crashes. */
static void nonsense(void) {
    struct bp_cfi_registers registers = {.known = (1u << BP_REGS) - 1};
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        for (int i = 0; i < BP_REGS; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            registers.r[i] = round % 2 ? random : random >> 20;
        }
        if (round % 3) /* a true pc with registers that are not its own */
            registers.r[BP_REG_RA] = (uint64_t)qsort + random % 64;
        bp_safe_begin(&walk.safe);
        bp_walk_from(&walk, &registers, NULL);
        CHECK(walk.count <= BP_WALK_DEPTH);
    }
}

/* UINT64_MAX if it has no value. */
static uint64_t value_of(const uint8_t *expression) {
    struct bp_cfi_registers registers = {.known = 0};
    struct bp_safe safe = {0};
    uint64_t value;
    int has = bp_cfi_evaluate((uint64_t)expression, &safe, &registers, NULL, &value);
    return has ? value : UINT64_MAX;
}

/* What the stubs' own rows need: remainders and branches. */
static void expressions(void) {
    CHECK_EQUAL(value_of((const uint8_t[]){3, 0x3f, 0x37, 0x1d}), 15 % 7);
    CHECK_EQUAL(value_of((const uint8_t[]){3, 0x3f, 0x30, 0x1d}), UINT64_MAX);
    CHECK_EQUAL(value_of((const uint8_t[]){6, 0x33, 0x30, 0x28, 1, 0, 0x34}), 4);
    CHECK_EQUAL(value_of((const uint8_t[]){6, 0x33, 0x31, 0x28, 1, 0, 0x34}), 3);
    CHECK_EQUAL(value_of((const uint8_t[]){6, 0x33, 0x31, 0x28, 2, 0, 0x34}), UINT64_MAX);
    CHECK_EQUAL(value_of((const uint8_t[]){5, 0x33, 0x31, 0x28, 0xfb, 0xff}), UINT64_MAX);
}

static void memory_that_is_not_there(void) {
    struct bp_safe safe = {0};
    uint64_t value, page = 4096;
    char *memory = bp_pages_new(3 * page);
    munmap(memory + page, page);
    uint64_t at = (uint64_t)memory;
    memory[8] = 42;
    CHECK(bp_safe_load(&safe, at + 8, &value));
    CHECK_EQUAL(value, 42);
    CHECK(!bp_safe_load(&safe, at + page, &value));
    CHECK(!bp_safe_load(&safe, at + page - 4, &value));
    CHECK(bp_safe_load(&safe, at + 2 * page, &value));
    CHECK(!bp_safe_range(&safe, at, 3 * page));
    CHECK(!bp_safe_load(&safe, 0, &value));
    CHECK(!bp_safe_load(&safe, UINT64_MAX - 3, &value));
    munmap(memory, page);
    CHECK(bp_safe_load(&safe, at + 2 * page, &value));
    bp_safe_begin(&safe);
    CHECK(!bp_safe_load(&safe, at + 8, &value));
}

/* What was remembered of an object that is gone is not used again. */
static void unloaded(void) {
    recurse(5, look);
    compare(0);
    bp_tables_remove(objects_own_low);
    recurse(5, look);
    CHECK_EQUAL(walk.truncation, BP_TRUNCATED_WALK);
    CHECK_EQUAL(walk.count, 1);
}

int main(void) {
    objects_add_all();
    backtrace(theirs, BP_WALK_DEPTH); /* loads libgcc */
    objects_add_all();
    RUN(recursion);
    RUN(trails);
    RUN(callbacks);
    RUN(handlers);
    RUN(coroutines);
    RUN(too_deep);
    RUN(nonsense);
    RUN(expressions);
    RUN(memory_that_is_not_there);
    RUN(unloaded);
    return test_result();
}
