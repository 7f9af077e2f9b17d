// SPDX-License-Identifier: MIT
//
// A leaf is called so often that stubs jump to it; then it does once, and later now and then, what
// a leaf does not do. e2e_leaf MODE CALLS. Nothing here is hooked.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "include/battprof.h"
#include "leaf.h"
#include "work.h"

static int calls;
static char **arguments;
static jmp_buf out;
static sigjmp_buf signal_out;

// Once when three quarters of the calls are over, and three times more.
static bool asked(int i) {
    return i >= calls - calls / 4 && i % (calls / 16) == 0;
}

static void each(leaf_asked *leaf) {
    for (int i = 0; i < calls; i++)
        leaf(asked(i));
}

static void call_leaf(leaf_callback *f, void *arg) {
    for (int i = 0; i < calls; i++)
        leaf_call(asked(i) ? f : nullptr, arg);
}

static void run_in() {
    for (int i = 0; i < calls; i++) {
        leaf_call(nullptr, nullptr);
        leaf_plain(0);
    }
}

static void direct() {
    each(leaf_direct);
}

static void helper() {
    each(leaf_helper);
}

static void deep() {
    each(leaf_deep);
}

static void add_and_sub(void *) {
    work_add(1, 1);
    leaf_plain(0);
    work_sub(1, 1);
}

static void callback() {
    call_leaf(add_and_sub, nullptr);
}

static void call_again(void *) {
    leaf_call(add_and_sub, nullptr);
    leaf_call(nullptr, nullptr);
}

static void recursive() {
    call_leaf(call_again, nullptr);
}

// Within functions that are open: callers differ.
static void within(void *) {
    each(leaf_direct);
    leaf_plain(0);
}

static void nested() {
    work_nest(3, within, nullptr);
    leaf_call(within, nullptr);
}

static void throws() {
    for (int i = 0; i < calls; i++) {
        try {
            leaf_throw(i == calls - calls / 4);
        } catch (int) {
            work_empty();
        }
    }
}

static void throws_later() {
    for (int i = 0; i < calls; i++) {
        try {
            leaf_throw(asked(i));
        } catch (int) {
            work_empty();
        }
    }
}

static void throws_in_hooked() {
    leaf_catch(0, calls, calls - calls / 4);
}

static void add_and_throw(void *) {
    work_add(1, 1);
    throw 1;
}

static void throws_after_call() {
    for (int i = 0; i < calls; i++) {
        try {
            leaf_call(asked(i) ? add_and_throw : nullptr, nullptr);
        } catch (int) {
            work_empty();
        }
    }
}

struct guard {
    ~guard() {
        leaf_plain(0);
        work_empty();
    }
};

static void throw_guarded(int now) {
    guard one;
    leaf_throw(now);
}

// What is called next after a throw is called by a destructor.
static void throws_past_guards() {
    for (int i = 0; i < calls; i++) {
        try {
            throw_guarded(asked(i));
        } catch (int) {
        }
    }
}

static void catch_own(void *) {
    try {
        leaf_throw(1);
    } catch (int) {
        work_empty();
    }
}

static void caught_in_leaf() {
    call_leaf(catch_own, nullptr);
}

static void leap(void *) {
    longjmp(out, 1);
}

static void add_and_leap(void *) {
    work_add(1, 1);
    longjmp(out, 1);
}

static void jumps_by(leaf_callback *f) {
    for (volatile int i = 0; i < calls; i++)
        if (!setjmp(out))
            leaf_call(asked(i) ? f : nullptr, nullptr);
        else
            work_empty();
}

static void jumps() {
    jumps_by(leap);
}

static void jumps_after_call() {
    jumps_by(add_and_leap);
}

static void busy() {
    for (int i = 0; i < calls; i++)
        leaf_busy(i == calls - calls / 4 ? 0.3 : 0);
}

static void on_signal(int) {
    work_add(1, 1);
    leaf_plain(0);
    leaf_direct(1);
}

static void by_signals(int flags) {
    static char stack[65536];
    stack_t alternate = {};
    struct sigaction action = {};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | flags;
    sigaltstack(&alternate, nullptr);
    sigaction(SIGALRM, &action, nullptr);
    run_in();
    each(leaf_direct);
    setitimer(ITIMER_REAL, &often, nullptr);
    for (int i = 0; i < 20; i++)
        run_in();
    each(leaf_direct);
    setitimer(ITIMER_REAL, &never, nullptr);
}

static void raise_it(void *) {
    raise(SIGUSR1);
}

static void raised_by(int flags) {
    static char stack[65536];
    stack_t alternate = {};
    struct sigaction action = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    sigaltstack(&alternate, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
    call_leaf(raise_it, nullptr);
}

static void signals() {
    by_signals(0);
}

static void signals_alternate() {
    by_signals(SA_ONSTACK);
}

static void raised() {
    raised_by(0);
}

static void raised_alternate() {
    raised_by(SA_ONSTACK);
}

static void leap_by_signal(int) {
    siglongjmp(signal_out, 1);
}

static void left_by_signal() {
    signal(SIGUSR1, leap_by_signal);
    for (volatile int i = 0; i < calls; i++)
        if (!sigsetjmp(signal_out, 1))
            leaf_call(asked(i) ? raise_it : nullptr, nullptr);
        else
            work_empty();
}

static void dispatch() {
    static leaf_asked *const leaves[] = {leaf_plain, leaf_direct, leaf_helper, leaf_deep};
    for (int i = 0; i < 4 * calls; i++)
        leaves[i % 4](i / 4 == calls - calls / 4);
}

static void wrap() {
    each(leaf_wrap);
}

static void tail() {
    each(leaf_tail);
}

static ucontext_t here, there;

static void inside() {
    for (;;) {
        leaf_plain(0);
        work_add(1, 1);
        leaf_direct(1);
        swapcontext(&there, &here);
    }
}

static void resume(void *) {
    swapcontext(&here, &there);
}

static void make(void (*start)()) {
    getcontext(&there);
    there.uc_stack.ss_size = 256 << 10;
    there.uc_stack.ss_sp = malloc(there.uc_stack.ss_size);
    there.uc_link = &here;
    makecontext(&there, start, 0);
}

static void coroutine() {
    make(inside);
    run_in();
    call_leaf(resume, nullptr);
}

static void suspend(void *) {
    swapcontext(&there, &here);
}

// A leaf on another stack, suspended while others are called, and resumed in time.
static void suspended_within() {
    for (int i = 0; i < calls; i++)
        leaf_call(asked(i) ? suspend : nullptr, nullptr);
}

static void suspended() {
    run_in();
    make(suspended_within);
    for (int i = 0; i < calls; i++)
        if (asked(i)) {
            swapcontext(&here, &there);
            leaf_plain(0);
            work_add(1, 1);
        }
    swapcontext(&here, &there);
}

static void end_thread(void *) {
    pthread_exit(nullptr);
}

static void *thread(void *f) {
    run_in();
    leaf_direct(1);
    leaf_call((leaf_callback *)f, nullptr);
    return nullptr;
}

static void threads() {
    for (int i = 0; i < 4; i++) {
        pthread_t one;
        pthread_create(&one, nullptr, thread, (void *)end_thread);
        pthread_join(one, nullptr);
    }
}

static void fork_it(void *how) {
    fflush(stdout);
    pid_t child = fork();
    if (how)
        work_add(1, 1);
    if (child == 0)
        return;
    waitpid(child, nullptr, 0);
}

static void forks_by(void *how) {
    int me = getpid();
    run_in();
    leaf_call(fork_it, how);
    run_in();
    each(leaf_direct);
    leaf_call(add_and_sub, nullptr);
    if (getpid() != me)
        exit(0);
    leaf_call(fork_it, how);
    if (getpid() != me)
        exit(0);
}

static void forks() {
    forks_by(nullptr);
}

static void forks_and_calls() {
    forks_by(arguments);
}

static void replace(void *) {
    execl("/proc/self/exe", arguments[0], "direct", arguments[2], nullptr);
}

static void execs() {
    run_in();
    leaf_call(replace, nullptr);
}

// No stub is reached after a call that has made one.
static void ended() {
    run_in();
    leaf_call(add_and_sub, nullptr);
    spin_until(now_s() + 0.01);
}

static void die(void *) {
    kill(getpid(), SIGKILL);
}

static void killed() {
    run_in();
    leaf_call(die, nullptr);
}

static void pause_it(void *) {
    battprof_stop();
    work_sub(1, 1); // not recorded
    battprof_start();
    work_add(1, 1);
}

static void pauses() {
    run_in();
    battprof_stop();
    for (int i = 0; i < calls; i++)
        leaf_helper(asked(i)); // not recorded
    battprof_start();
    run_in();
    leaf_call(pause_it, nullptr);
    run_in();
}

static const struct {
    const char *name;
    void (*run)();
} modes[] = {
    {"direct", direct},
    {"helper", helper},
    {"deep", deep},
    {"callback", callback},
    {"recursive", recursive},
    {"nested", nested},
    {"throws", throws},
    {"throws_later", throws_later},
    {"throws_in_hooked", throws_in_hooked},
    {"throws_after_call", throws_after_call},
    {"throws_past_guards", throws_past_guards},
    {"caught_in_leaf", caught_in_leaf},
    {"jumps", jumps},
    {"jumps_after_call", jumps_after_call},
    {"busy", busy},
    {"signals", signals},
    {"signals_alternate", signals_alternate},
    {"raised", raised},
    {"raised_alternate", raised_alternate},
    {"left_by_signal", left_by_signal},
    {"dispatch", dispatch},
    {"wrap", wrap},
    {"tail", tail},
    {"coroutine", coroutine},
    {"suspended", suspended},
    {"threads", threads},
    {"forks", forks},
    {"forks_and_calls", forks_and_calls},
    {"execs", execs},
    {"ended", ended},
    {"killed", killed},
    {"pauses", pauses},
};

int main(int argc, char **argv) {
    arguments = argv;
    calls = argc > 2 ? atoi(argv[2]) : 0;
    for (const auto &mode : modes)
        if (argc > 1 && !strcmp(argv[1], mode.name)) {
            mode.run();
            printf("%s\n", mode.name);
            return 0;
        }
    return 2;
}
