/* SPDX-License-Identifier: MIT
 *
 * Calls of a hooked library and copies, one instruction at a time: at each one that is the
 * profiler's the stack is unwound, as a debugger, an exception or a sample would; or, with an
 * argument, at some of them, of another round each, the process is forked, and the child goes on
 * as if it were the parent. Prints how many there were, and where it went wrong.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "tests/cuda/quick/cudart.h"
#include "tests/cuda/subjects/dslnest.h"

#define TRAP_FLAG 0x100
#define ROUNDS 4
#define STRIDE 397
#define SHOWN 20

static char memory[64];
static unsigned steps, wrong;
static uintptr_t low, high; /* of the profiler's code */
static unsigned place, at;  /* where to fork: that many steps from the beginning of a round */
static volatile sig_atomic_t is_child;

struct search {
    unsigned found; /* 1: the function that calls, 2: and its caller */
};

static void calls(unsigned long flag);
static int one_round(unsigned long flag);

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg) {
    struct search *search = arg;
    void *function = _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1));
    if (search->found == 0 && function == (void *)calls)
        search->found = 1;
    else if (search->found == 1)
        search->found = function == (void *)one_round ? 2 : 3;
    return search->found < 2 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void step(int number, siginfo_t *info, void *data) {
    uintptr_t pc = (uintptr_t)((ucontext_t *)data)->uc_mcontext.gregs[REG_RIP];
    struct search search = {0};
    (void)number, (void)info;
    if (pc < low || pc >= high)
        return;
    steps++;
    _Unwind_Backtrace(look, &search);
    if (search.found == 2)
        return;
    if (wrong++ < SHOWN)
        printf("wrong at +%#lx\n", (unsigned long)(pc - low));
}

static void fork_here(uintptr_t pc) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        is_child = 1;
    else if ((waitpid(child, &status, 0) != child || status != 0) && wrong++ < SHOWN)
        printf("status %#x of the child at +%#lx\n", (unsigned)status, (unsigned long)(pc - low));
}

static void step_to_fork(int number, siginfo_t *info, void *data) {
    ucontext_t *context = data;
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    (void)number, (void)info;
    if (pc < low || pc >= high || at++ != place)
        return;
    steps++;
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    fork_here(pc);
}

static void set_trap(unsigned long flag) {
    unsigned long flags = __builtin_ia32_readeflags_u64();
    __builtin_ia32_writeeflags_u64((flags & ~(unsigned long)TRAP_FLAG) | flag);
}

static __attribute__((noinline)) int upload(size_t size) {
    int error = cudaMemcpyAsync(memory, memory, size, TO_DEVICE, NULL);
    __asm__ volatile("");
    return error;
}

static double below(void) {
    return upload(64);
}

static __attribute__((noinline)) void calls(unsigned long flag) {
    set_trap(flag);
    dsl_nothing(NULL);
    cudaStreamQuery(NULL);
    cudaMemcpyAsync(memory, memory, 64, TO_DEVICE, NULL);
    upload(32);
    upload(32); /* by another path */
    upload(13); /* fails */
    cudaMemcpy2DAsync(memory, 9, memory, 10, 8, 8, TO_DEVICE, STREAM);
    dsl_call(below);
    set_trap(0);
}

/* The code of the object that stands between us and the library. */
static void find_profiler(void) {
    char line[512], name[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char rights[8];
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, rights, name) == 4 &&
            strstr(name, "libbattprof.so") && rights[2] == 'x') {
            low = from;
            high = to;
        }
    if (maps)
        fclose(maps);
}

/* Whether there was anything to look at. */
static __attribute__((noinline)) int one_round(unsigned long flag) {
    unsigned before = steps;
    at = 0;
    calls(flag);
    if (is_child)
        _exit(0);
    return steps > before;
}

/* The first round is not looked at: what is met for the first time is noted with signals blocked,
 * and a trap that is blocked ends the process. */
int main(int argc, char **argv) {
    int forks = argc > 1 && strcmp(argv[1], "fork") == 0;
    struct sigaction action = {.sa_sigaction = forks ? step_to_fork : step, .sa_flags = SA_SIGINFO};
    struct search warm = {0};
    find_profiler();
    _Unwind_Backtrace(look, &warm);
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0, more = 1; i < ROUNDS || (forks && more); i++) {
        more = one_round(i ? TRAP_FLAG : 0);
        place += i ? STRIDE : 0;
    }
    printf("%u instructions, %u wrong\n", steps, wrong);
    return 0;
}
