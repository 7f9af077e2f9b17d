// SPDX-License-Identifier: MIT
//
// Everything at once under a storm of sampling signals: storm SECONDS. Hooked calls, callbacks,
// exceptions, longjmp, coroutines, handlers, dlopen, short threads and forks, on several threads.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#include "tests/core/subjects/throw.h"
#include "tests/core/subjects/work.h"
#include "tests/sample/subjects/storm_signals.h"

static double end_s;

static bool running() {
    return now_s() < end_s;
}

static void innermost(void *) {
    work_add(1, 2);
}

static void calls() {
    int numbers[64];
    while (running()) {
        work_nest(5, innermost, nullptr);
        for (int i = 0; i < 64; i++)
            numbers[i] = i * 37 % 64;
        qsort(numbers, 64, sizeof *numbers, work_compare);
        work_tail(1, 2);
        work_depth(20);
    }
}

static void exceptions() {
    while (running()) {
        throw_caught(4, 1);
        try {
            throw_guarded(3, 2);
        } catch (...) {
            std::string memory(1000, 'x');
            work_empty();
        }
    }
}

static void jumps() {
    while (running()) {
        jmp_buf where;
        if (!setjmp(where))
            work_longjmp(where, 1);
    }
}

struct coroutine {
    ucontext_t outside, inside;
    char stack[32 << 10];
};
static thread_local coroutine *current;

static void resumed() {
    for (;;) {
        work_call(innermost, nullptr);
        swapcontext(&current->inside, &current->outside);
    }
}

static void coroutines() {
    coroutine *own = current = new coroutine;
    getcontext(&own->inside);
    own->inside.uc_stack.ss_sp = own->stack;
    own->inside.uc_stack.ss_size = sizeof own->stack;
    makecontext(&own->inside, resumed, 0);
    while (running())
        swapcontext(&own->outside, &own->inside);
    delete own;
}

static void loads() {
    while (running()) {
        void *library = dlopen("libplainlate.so", RTLD_NOW);
        if (library)
            dlclose(library);
        usleep(500);
    }
}

static void threads() {
    while (running()) {
        std::thread([] { work_nest(3, innermost, nullptr); }).join();
        usleep(1000);
    }
}

static void forks() {
    while (running()) {
        pid_t pid = fork();
        if (pid == 0) {
            for (int i = 0; i < 100; i++)
                work_add(i, i);
            _exit(0);
        }
        waitpid(pid, nullptr, 0);
        usleep(20000);
    }
}

static void on_signal(int) {
    work_empty();
}

static void handlers() {
    signal(SIGUSR1, on_signal);
    while (running()) {
        raise(SIGUSR1);
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        work_sub(2, 1);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
}

int main(int argc, char **argv) {
    end_s = now_s() + (argc > 1 ? std::atof(argv[1]) : 1);
    int blows = storm_begin();
    std::vector<std::thread> all;
    for (auto part : {calls, exceptions, jumps, coroutines, loads, threads, forks, handlers})
        all.emplace_back(part);
    for (auto &thread : all)
        thread.join();
    unsigned long sent = storm_end();
    std::fprintf(stderr, "storm: %lu signals\n", blows ? sent : 0);
    std::puts("done");
    return 0;
}
