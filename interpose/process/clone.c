/* SPDX-License-Identifier: MIT
 *
 * Calls of libc that fork and run no handlers: _Fork, clone and syscall. They are given ours, so
 * that such a child has a file of its own. What shares memory with its parent, or brings thread
 * local storage of its own, is no fork and is left alone. A child that even these do not see, made
 * by a system call in the program's own code, is recognised by bp_orphaned() and not recorded.
 */
#include <linux/sched.h>
#include <sys/syscall.h>

#include "interpose/hook/hook.h"
#include "interpose/process/process.h"

#define NO_FORK (CLONE_VM | CLONE_THREAD | CLONE_SETTLS)

static struct {
    pid_t (*_Fork)(void);
    int (*clone)(int (*)(void *), void *, int, void *, void *, void *, void *);
    long (*syscall)(long, long, long, long, long, long, long);
} real;

static pid_t wrap__Fork(void) {
    bp_process_before_fork();
    pid_t pid = real._Fork();
    if (pid == 0)
        bp_process_after_fork_child();
    else
        bp_process_after_fork_parent();
    return pid;
}

/* On the parent's stack; the child, on another, has a copy of it. */
struct start {
    int (*function)(void *);
    void *argument;
};

static int start_child(void *argument) {
    const struct start *start = argument;
    bp_process_after_fork_child();
    return start->function(start->argument);
}

static int wrap_clone(int (*function)(void *), void *stack, int flags, void *argument, void *parent,
                      void *storage, void *child) {
    struct start start = {function, argument};
    if (flags & NO_FORK || !function)
        return real.clone(function, stack, flags, argument, parent, storage, child);
    bp_process_before_fork();
    int pid = real.clone(start_child, stack, flags, &start, parent, storage, child);
    bp_process_after_fork_parent();
    return pid;
}

int bp_clone_forks(long number, long flags, long stack) {
    if (number == SYS_fork)
        return 1;
    if (number == SYS_clone)
        return !(flags & NO_FORK) && !stack;
    const struct clone_args *arguments = (const struct clone_args *)flags;
    return number == SYS_clone3 && !(arguments->flags & NO_FORK) && !arguments->stack;
}

long bp_clone_syscall(long (*syscall)(long, long, long, long, long, long, long), const long *a) {
    bp_process_before_fork();
    long pid = syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    if (pid == 0)
        bp_process_after_fork_child();
    else
        bp_process_after_fork_parent();
    return pid;
}

static long wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (bp_clone_forks(number, a, b))
        return bp_clone_syscall(real.syscall, (const long[]){number, a, b, c, d, e, f});
    return real.syscall(number, a, b, c, d, e, f);
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(_Fork),
    BP_WRAP(clone),
    BP_WRAP(syscall),
};

/* Where waits are recorded, waiting.c wraps syscall, the last of these, and asks us. */
void bp_clone_init(void) {
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps - (bp_hook_waits ? 1 : 0));
}
