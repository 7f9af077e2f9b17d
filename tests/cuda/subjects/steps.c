/* SPDX-License-Identifier: MIT
 *
 * Calls of a hooked library and copies, one instruction at a time: at each one that is the
 * profiler's the stack is unwound, as a debugger, an exception or a sample would. Prints how many
 * there were, and where it did not lead back to us.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "tests/cuda/subjects/dslnest.h"

#define STREAM ((void *)7)
#define TRAP_FLAG 0x100
#define ROUNDS 4
#define SHOWN 20

enum { TO_DEVICE = 1 };

int cudaMemcpyAsync(void *target, const void *source, size_t size, int kind, void *stream);
int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t width, size_t height, int kind, void *stream);
int cudaStreamQuery(void *stream);

static char memory[64];
static unsigned steps, wrong;
static uintptr_t low, high; /* of the profiler's code */

struct search {
    unsigned found; /* 1: the function that calls, 2: and its caller */
};

static void calls(void);
int main(void);

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg) {
    struct search *search = arg;
    void *function = _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1));
    if (search->found == 0 && function == (void *)calls)
        search->found = 1;
    else if (search->found == 1)
        search->found = function == (void *)main ? 2 : 3;
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

/* The first round is not looked at: what is met for the first time is noted with signals blocked,
 * and a trap that is blocked ends the process. */
static __attribute__((noinline)) void calls(void) {
    for (int i = 0; i < ROUNDS; i++) {
        set_trap(i ? TRAP_FLAG : 0);
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

int main(void) {
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    struct search warm = {0};
    find_profiler();
    _Unwind_Backtrace(look, &warm);
    sigaction(SIGTRAP, &action, NULL);
    calls();
    printf("%u instructions, %u wrong\n", steps, wrong);
    return 0;
}
