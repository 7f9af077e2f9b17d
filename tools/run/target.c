/* SPDX-License-Identifier: MIT
 *
 * See target.h. Signals are blocked from before fork until the handlers know the child, so none is
 * lost or handled by the wrong side.
 */
#include "tools/run/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/run/witness.h"

/* Dispositions that are ours while the target runs. SIGCHLD: inherited as ignored it would cost us
 * the exit status. */
static const int taken[] = {SIGINT, SIGQUIT, SIGCHLD, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
#define TAKEN (sizeof taken / sizeof taken[0])

static struct {
    volatile sig_atomic_t child;
    struct sigaction old[TAKEN];
    sigset_t old_mask;
    struct bp_target *target; /* the last that was started */
    int report_fd;            /* in a child that is not the target yet */
} state;

/* A signal that the kernel sent (Ctrl-C, a closed terminal) and one that was sent to the group went
 * to the child as well, unless it has left our process group. */
static void pass_on(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    pid_t child = (pid_t)state.child;
    (void)context;
    bool ours_alone = info->si_code <= 0 && !bp_witness_saw(signal);
    if (child > 0 && (ours_alone || getpgid(child) != getpgrp()))
        kill(child, signal);
    errno = saved;
}

static void take_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &state.old_mask);
    for (size_t i = 0; i < TAKEN; i++) {
        struct sigaction action = {.sa_flags = SA_RESTART};
        sigaction(taken[i], NULL, &state.old[i]);
        if (taken[i] == SIGCHLD) {
            action.sa_handler = SIG_DFL;
        } else {
            if (state.old[i].sa_handler == SIG_IGN) /* nohup; a job with & */
                continue;
            action.sa_sigaction = pass_on;
            action.sa_flags |= SA_SIGINFO;
        }
        sigaction(taken[i], &action, NULL);
    }
}

static void give_signals_back(void) {
    for (size_t i = 0; i < TAKEN; i++)
        sigaction(taken[i], &state.old[i], NULL);
    sigprocmask(SIG_SETMASK, &state.old_mask, NULL);
}

static _Noreturn void report_failure(int reason) {
    if (write(state.report_fd, &reason, sizeof reason) != (ssize_t)sizeof reason)
        _exit(BP_RUN_FAILED);
    _exit(reason == ENOENT ? BP_RUN_NOT_FOUND : BP_RUN_NOT_EXECUTABLE);
}

static void child_without_memory(void) {
    report_failure(ENOMEM);
}

static _Noreturn void be_target(const struct bp_target *target) {
    bp_memory_at_end(NULL, child_without_memory);
    for (char **a = target->environment; a && *a; a++)
        putenv(*a);
    give_signals_back();
    execvp(target->argv[0], target->argv);
    report_failure(errno);
}

/* The target goes on; what it ends with is our status. */
static void end_with_target(void) {
    if (state.child)
        bp_target_reap(state.target);
    exit(bp_target_leave(state.target));
}

/* What the probe did not see before. */
static int describe_failure(const char *name, int reason, struct bp_error *error) {
    if (reason == ENOENT)
        return bp_error_set(error, BP_RUN_NOT_FOUND,
                            "%s: its interpreter (#! line or ELF loader) does not exist; "
                            "nothing was run",
                            name);
    return bp_error_set(error, BP_RUN_NOT_EXECUTABLE, "%s: cannot be executed: %s; nothing was run",
                        name, strerror(reason));
}

int bp_target_start(struct bp_target *target, struct bp_error *error) {
    int report[2], reason = 0;
    if (pipe2(report, O_CLOEXEC))
        return bp_error_set(error, BP_RUN_FAILED, "cannot make a pipe: %s; nothing was run",
                            strerror(errno));
    take_signals();
    state.report_fd = report[1];
    target->pid = fork();
    if (target->pid == 0)
        be_target(target);
    close(report[1]);
    if (target->pid < 0) {
        bp_error_set(error, BP_RUN_FAILED, "cannot start a process: %s; nothing was run",
                     strerror(errno));
        give_signals_back();
    } else {
        state.child = target->pid;
        state.target = target;
        bp_memory_at_end("", end_with_target);
        bp_witness_start(); /* after the target, which remains our first child */
        sigprocmask(SIG_SETMASK, &state.old_mask, NULL);
        /* Ends without a byte when exec closes the other end. */
        ssize_t got = read(report[0], &reason, sizeof reason);
        if (got == (ssize_t)sizeof reason) {
            bp_target_reap(target);
            describe_failure(target->argv[0], reason, error);
        }
    }
    close(report[0]);
    return bp_error_is_set(error) ? -1 : 0;
}

void bp_target_wait(const struct bp_target *target) {
    siginfo_t info;
    while (waitid(P_PID, (id_t)target->pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
}

int bp_target_wait_for(struct bp_target *target, int milliseconds) {
    if (target->pidfd == 0)
        target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
    if (target->pidfd < 0)
        return -1;
    struct pollfd polled = {.fd = target->pidfd, .events = POLLIN};
    return poll(&polled, 1, milliseconds) > 0;
}

void bp_target_reap(struct bp_target *target) {
    state.child = 0; /* from here on the number may belong to somebody else */
    while (waitpid(target->pid, &target->status, 0) < 0 && errno == EINTR)
        ;
    bp_witness_end();
    give_signals_back();
}

int bp_target_leave(const struct bp_target *target) {
    if (!WIFSIGNALED(target->status))
        return WEXITSTATUS(target->status);
    int signal_number = WTERMSIG(target->status);
    sigset_t mask;
    /* One core, the target's, is enough. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    signal(signal_number, SIG_DFL);
    sigemptyset(&mask);
    sigaddset(&mask, signal_number);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    raise(signal_number);
    return 128 + signal_number;
}
