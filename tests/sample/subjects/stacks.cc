// SPDX-License-Identifier: MIT
//
// Runs for some CPU time at the end of a known chain of functions: stacks MODE SECONDS. Every
// function is exported, so that a test can name what it finds.
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <ucontext.h>

#include "tests/core/subjects/work.h"

#define EXPORT extern "C" __attribute__((noinline, visibility("default")))
// Keeps a call from becoming a jump.
#define AFTER __asm__ volatile("" ::: "memory")

static double seconds;
static volatile double sink;

static double cpu_s() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

EXPORT void s_spin() {
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 20000; i++)
            sink = sink + std::sqrt(double(i));
    AFTER;
}

EXPORT void s_innermost(void *) {
    s_spin();
    AFTER;
}

EXPORT void s_callback(void *) {
    work_nest(3, s_innermost, nullptr);
    AFTER;
}

EXPORT void s_hooked() {
    work_call(s_callback, nullptr);
    AFTER;
}

// Short calls through the PLT: samples fall into stubs, PLT entries and prologues.
EXPORT void s_loop() {
    char text[8] = "abc";
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 3000; i++) {
            text[i % 3] = 'x';
            sink = sink + work_add(i, int(std::strlen(text))) + std::fmod(i, 7);
        }
    AFTER;
}

EXPORT int s_compare(const void *a, const void *b) {
    static bool done;
    if (!done) {
        done = true;
        s_spin();
    }
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

EXPORT void s_sort() {
    int numbers[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = (i * 37) % 100;
    std::qsort(numbers, 100, sizeof *numbers, s_compare);
    AFTER;
}

struct guard {
    ~guard() {
        s_spin();
    }
};

EXPORT void s_throw(void *) {
    guard spins_while_unwinding;
    throw std::string("thrown");
}

EXPORT void s_between() {
    work_call(s_throw, nullptr);
    AFTER;
}

EXPORT void s_unwinding() {
    try {
        s_between();
    } catch (const std::string &) {
    }
    AFTER;
}

EXPORT void s_catching() {
    try {
        throw 1;
    } catch (int) {
        s_spin();
    }
    AFTER;
}

static ucontext_t outside, inside;

EXPORT void s_coroutine() {
    s_innermost(nullptr);
    AFTER;
}

EXPORT void s_resume() {
    static char stack[64 << 10];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, s_coroutine, 0);
    swapcontext(&outside, &inside);
    AFTER;
}

EXPORT void s_handler(int) {
    s_spin();
    AFTER;
}

EXPORT void s_raise(int flags) {
    struct sigaction action = {};
    action.sa_handler = s_handler;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    AFTER;
}

EXPORT void s_recurse(int depth) {
    if (depth > 0)
        s_recurse(depth - 1);
    else
        s_spin();
    AFTER;
}

// No call frame information: nobody can tell who called it.
__asm__(".text\n.globl s_bare\n.type s_bare, @function\ns_bare:\n\tpush %rbp\n\tcall *%rdi\n\tpop "
        "%rbp\n\tret\n"
        ".size s_bare, . - s_bare\n");
extern "C" void s_bare(void (*function)());

EXPORT void s_call_bare() {
    s_bare(s_spin);
    AFTER;
}

EXPORT void s_thread() {
    s_spin();
    AFTER;
}

static void run(const std::string &mode) {
    if (mode == "hooked")
        s_hooked();
    else if (mode == "loop")
        s_loop();
    else if (mode == "sort")
        s_sort();
    else if (mode == "unwinding")
        s_unwinding();
    else if (mode == "catching")
        s_catching();
    else if (mode == "coroutine")
        s_resume();
    else if (mode == "handler")
        s_raise(0);
    else if (mode == "handler_stack")
        s_raise(SA_ONSTACK);
    else if (mode == "deep")
        s_recurse(10000);
    else if (mode == "bare")
        s_call_bare();
    else if (mode == "thread")
        std::thread(s_thread).join();
    else
        std::exit(2);
}

int main(int argc, char **argv) {
    static char stack[64 << 10];
    stack_t alternate = {};
    if (argc < 3)
        return 2;
    seconds = std::atof(argv[2]);
    if (!std::strcmp(argv[1], "handler_stack")) {
        alternate.ss_sp = stack;
        alternate.ss_size = sizeof stack;
        sigaltstack(&alternate, nullptr);
    }
    run(argv[1]);
    return 0;
}
