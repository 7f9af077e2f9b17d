/* SPDX-License-Identifier: MIT
 *
 * The unwinder and libunwind on the same stacks, frame by frame: frames of many shapes, callbacks
 * of libc, handlers, exceptions in flight, and every instruction of some code, one by one.
 * libunwind walks twice: step by step, and by its cached fast trace.
 *
 * It does not get past our stubs, whose frame address is not where the stack pointer is: there our
 * walk has to be what it is within the called function, and before the call.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose/ledger/thread.h"
#include "tests/unit/ledger.h"
#include "tests/unit/objects.h"
#include "tests/unit/referee.h"
#include "tests/unit/referee_throw.h"
#include "tests/unit/test.h"

#define SKIP 77
#define DEPTH 200
#define SHAPES 1000 /* random stacks */
#define TRAP 0x100  /* the flag that makes the next instruction trap */

const char bp_call_as_return[1]; /* caller.S has it */

static struct bp_walk walk;

struct frames {
    uint64_t address[DEPTH];
    unsigned count;
};

static unsigned walks;
static struct frames ours, theirs, fast;

static void keep_ours(void) {
    CHECK_EQUAL(walk.truncation, BP_TRUNCATIONS);
    ours.count = 0;
    for (uint32_t i = 0; i < walk.count && i < DEPTH; i++)
        ours.address[ours.count++] = walk.places[i].address;
    walks++;
}

static int is_same(const struct frames *got, const struct frames *want, unsigned first) {
    if (got->count != want->count)
        return 0;
    for (unsigned i = first; i < got->count; i++)
        if (got->address[i] != want->address[i])
            return 0;
    return 1;
}

static void print_frame(const char *whose, const struct frames *frames, unsigned i) {
    Dl_info info = {0};
    if (i >= frames->count)
        return;
    dladdr((void *)frames->address[i], &info);
    printf("  %2u %s %#llx %s %s\n", i, whose, (unsigned long long)frames->address[i],
           info.dli_fname ? info.dli_fname : "?", info.dli_sname ? info.dli_sname : "?");
}

/* From the first on that may differ: where a walk began is another place for each. */
static void compare(const char *where, const struct frames *want, unsigned first) {
    int same = is_same(&ours, want, first);
    CHECK(same);
    if (same)
        return;
    printf("%s: %u frames, libunwind has %u\n", where, ours.count, want->count);
    for (unsigned i = 0; i < DEPTH && (i < ours.count || i < want->count); i++) {
        print_frame("ours     ", &ours, i);
        print_frame("libunwind", want, i);
    }
}

/* Where handlers return to: a frame of the kernel's making, which we leave out. */
static uint64_t trampoline(void) {
    struct {
        uint64_t handler, flags, restorer, mask;
    } action = {0};
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8);
    return action.restorer;
}

static void drop_trampolines(struct frames *frames) {
    unsigned kept = 0;
    for (unsigned i = 0; i < frames->count; i++)
        if (frames->address[i] != trampoline())
            frames->address[kept++] = frames->address[i];
    frames->count = kept;
}

static void keep_theirs(unw_context_t *from, int flags) {
    theirs.count = referee_walk(from, flags, theirs.address, DEPTH);
    drop_trampolines(&theirs);
}

static __attribute__((noinline)) void look(const char *where) {
    struct bp_cfi_registers registers;
    unw_context_t context;
    bp_walk_here(&registers);
    bp_safe_begin(&walk.safe);
    bp_walk_from(&walk, &registers, NULL);
    referee.getcontext(&context);
    keep_theirs(&context, 0);
    fast.count = (unsigned)referee.backtrace((void **)fast.address, DEPTH);
    drop_trampolines(&fast);
    keep_ours();
    compare(where, &theirs, 1);
    compare(where, &fast, 1);
    __asm__ volatile("");
}

static uint64_t seed = 1;

static unsigned draw(unsigned below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 11) % below;
}

/* Frames of many shapes, each of which calls the next one. */
static void next(int depth, void (*leaf)(const char *));

static __attribute__((noinline)) void shape_plain(int depth, void (*leaf)(const char *)) {
    next(depth, leaf);
    __asm__ volatile("");
}

static __attribute__((noinline)) void shape_large(int depth, void (*leaf)(const char *)) {
    volatile char used[9000];
    used[depth] = 1;
    next(depth, leaf);
    used[0] = used[depth];
}

static __attribute__((noinline)) void shape_alloca(int depth, void (*leaf)(const char *)) {
    volatile char *used = alloca(16 + 100 * (size_t)depth);
    used[depth] = 1;
    next(depth, leaf);
    used[0] = used[depth];
}

static __attribute__((noinline)) void shape_aligned(int depth, void (*leaf)(const char *)) {
    _Alignas(64) volatile char used[64];
    used[depth % 64] = 1;
    next(depth, leaf);
    used[0] = used[1];
}

/* Keeps all of the registers that a callee has to save. */
static __attribute__((noinline)) void shape_registers(int depth, void (*leaf)(const char *)) {
    volatile unsigned long source = (unsigned long)depth;
    unsigned long a = source, b = source, c = source, d = source, e = source, f = source;
    next(depth, leaf);
    source = a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f;
}

static __attribute__((noinline)) void shape_tail(int depth, void (*leaf)(const char *)) {
    shape_plain(depth, leaf);
}

static __attribute__((noinline)) void shape_many(long a, long b, long c, long d, long e, long f,
                                                 long g, long h, int depth,
                                                 void (*leaf)(const char *)) {
    volatile long sum = a + b + c + d + e + f + g + h;
    next(depth, leaf);
    sum++;
}

static __attribute__((noinline)) void shape_arguments(int depth, void (*leaf)(const char *)) {
    shape_many(1, 2, 3, 4, 5, 6, 7, 8, depth, leaf);
    __asm__ volatile("");
}

static jmp_buf back;

static __attribute__((noinline, noreturn)) void never(int depth, void (*leaf)(const char *)) {
    next(depth, leaf);
    longjmp(back, 1);
}

/* Ends with a call: its return address is that of the next function. */
static __attribute__((noinline, noreturn)) void ends(int depth, void (*leaf)(const char *)) {
    never(depth, leaf);
}

static __attribute__((noinline)) void shape_never(int depth, void (*leaf)(const char *)) {
    jmp_buf before;
    memcpy(before, back, sizeof back);
    if (!setjmp(back))
        ends(depth, leaf);
    memcpy(back, before, sizeof back);
}

static struct {
    int depth;
    void (*leaf)(const char *);
} passed;

static int compare_numbers(const void *a, const void *b) {
    int depth = passed.depth;
    if (depth >= 0) {
        passed.depth = -1;
        next(depth, passed.leaf);
    }
    return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void shape_callback(int depth, void (*leaf)(const char *)) {
    int numbers[] = {5, 3, 8, 1};
    passed.depth = depth;
    passed.leaf = leaf;
    qsort(numbers, 4, sizeof *numbers, compare_numbers);
}

static void on_signal(int number) {
    int depth = passed.depth;
    (void)number;
    next(depth, passed.leaf);
}

static __attribute__((noinline)) void shape_signal(int depth, void (*leaf)(const char *)) {
    passed.depth = depth;
    passed.leaf = leaf;
    raise(depth % 2 ? SIGUSR1 : SIGUSR2); /* the second one has a stack of its own */
}

static void (*const shapes[])(int, void (*)(const char *)) = {
    shape_plain, shape_large,     shape_alloca, shape_aligned,  shape_registers,
    shape_tail,  shape_arguments, shape_never,  shape_callback, shape_signal,
};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)
#define QUIET_SHAPES (SHAPE_COUNT - 3) /* libunwind loses its way within longjmp */

static unsigned shape_count = SHAPE_COUNT;

static __attribute__((noinline)) void next(int depth, void (*leaf)(const char *)) {
    if (depth > 0)
        shapes[draw(shape_count)](depth - 1, leaf);
    else
        leaf("random frames");
    __asm__ volatile("");
}

static void random_frames(void) {
    for (int i = 0; i < SHAPES; i++)
        next(1 + i % 25, look);
}

static void exceptions(void) {
    unsigned before = walks;
    if (referee_throw_all(look))
        CHECK_EQUAL(walks - before, REFEREE_THROW_LOOKS);
    else
        printf("no C++ compiler: exceptions are left out\n");
}

static void *thread(void *unused) {
    shape_alloca(5, look);
    return unused;
}

static void threads(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
}

static volatile int stepping;

/* One instruction after the other, prologues and epilogues and the entries of the PLT too. */
static void on_trap(int number, siginfo_t *info, void *context) {
    ucontext_t *at = context;
    struct bp_cfi_registers registers = {.known = (1u << BP_REGS) - 1};
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    (void)number;
    (void)info;
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        registers.r[i] = (uint64_t)at->uc_mcontext.gregs[order[i]];
    bp_safe_begin(&walk.safe);
    bp_walk_from(&walk, &registers, NULL);
    keep_theirs(at, UNW_INIT_SIGNAL_FRAME);
    keep_ours();
    compare("one instruction", &theirs, 0);
    if (!stepping)
        at->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
}

/* Not by pushing and popping flags, of which the tables would know nothing. */
static void begin_traps(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP;
}

static void step_leaf(const char *where) {
    (void)where;
    free(malloc(100));
}

static void step_through(void (*shape)(int, void (*)(const char *)), int depth) {
    stepping = 1;
    raise(SIGURG);
    shape(depth, step_leaf);
    stepping = 0;
    __asm__ volatile("");
}

static void every_instruction(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    unsigned before = walks;
    sigaction(SIGTRAP, &action, NULL);
    action.sa_sigaction = begin_traps;
    sigaction(SIGURG, &action, NULL);
    shape_count = QUIET_SHAPES;
    for (int i = 0; i < 40; i++)
        step_through(next, 6);
    step_through(shape_callback, 2);
    shape_count = SHAPE_COUNT;
    CHECK(walks - before > 2000);
}

static void begin_profile(void) {
    uint64_t here = (uint64_t)&here;
    begin_ledger();
    bp_thread_begin(here - (4u << 20), here + (1u << 20), 0);
}

static __attribute__((noinline)) void walk_ours(void) {
    struct bp_cfi_registers registers;
    bp_walk_here(&registers);
    bp_safe_begin(&walk.safe);
    bp_walk_from(&walk, &registers, NULL);
    keep_ours();
    __asm__ volatile("");
}

static void stub_target(void) {
    unw_context_t context;
    walk_ours();
    referee.getcontext(&context);
    keep_theirs(&context, 0);
}

static const char *stub_code;

/* Through another stub: of this one's entry rbx is all that is known there. */
static void stub_caller(void) {
    ((void (*)(void))(stub_code + BP_STUB_CODE_SIZE))();
    __asm__ volatile("");
}

/* A LEDGER place stands for a stub; its address is 0. Inside out: walk_ours, stub_target, a stub,
 * stub_caller, a stub, this function. */
static void check_stub(const char *code) {
    struct frames outside;
    stub_code = code;
    walk_ours();
    outside = ours; /* walk_ours, this function */
    ((void (*)(void))code)();
    CHECK(ours.address[1] && !ours.address[2] && ours.address[3] && !ours.address[4]);
    CHECK_EQUAL(ours.count, outside.count + 4);
    for (unsigned i = 2; i < outside.count; i++)
        CHECK_EQUAL(ours.address[i + 4], outside.address[i]);
    CHECK(theirs.count >= 2 && theirs.count < ours.count); /* they end at a stub */
    CHECK_EQUAL(theirs.address[1], code == bp_stubs_fast ? (uint64_t)bp_stub_return_fast
                                                         : (uint64_t)bp_stub_return_slow);
}

static void stubs(void) {
    begin_profile();
    bp_stubs[0] = (struct bp_stub){(uint64_t)stub_caller, 1, BP_STUB_CALL};
    bp_stubs[1] = (struct bp_stub){(uint64_t)stub_target, 2, BP_STUB_CALL};
    check_stub(bp_stubs_slow);
    check_stub(bp_stubs_fast); /* now the contexts are known */
}

static void take_signals(void) {
    static char stack[256 << 10];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags |= SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    sigaltstack(&own, NULL);
}

int main(void) {
    if (!referee_open()) {
        printf("libunwind.so.8 is not installed\n");
        return SKIP;
    }
    objects_add_all();
    take_signals();
    RUN(random_frames);
    RUN(exceptions);
    RUN(threads);
    RUN(every_instruction);
    RUN(stubs);
    printf("%u stacks\n", walks);
    return test_result();
}
