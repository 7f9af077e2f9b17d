/* SPDX-License-Identifier: MIT
 *
 * System calls that the profiler does not see: for forking without its handlers, and for waiting
 * while a stopped thread holds its lock.
 */
#ifndef FORK_BARE_H
#define FORK_BARE_H

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline long bare(long number, long a, long b, long c, long d) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

static inline pid_t bare_fork(void) {
    return (pid_t)bare(SYS_clone, SIGCHLD, 0, 0, 0);
}

static inline void bare_pause(void) {
    struct timespec time = {0, 200000};
    bare(SYS_nanosleep, (long)&time, 0, 0, 0);
}

static inline void bare_exit(int status) {
    bare(SYS_exit_group, status, 0, 0, 0);
}

/* The status of a child that ends within so many seconds; else it is killed: -1. */
static inline int bare_wait(pid_t pid, double seconds) {
    int status = -1;
    for (long i = 0; i < (long)(seconds * 5000); i++, bare_pause())
        if (bare(SYS_wait4, pid, (long)&status, WNOHANG, 0) == pid)
            return status;
    bare(SYS_kill, pid, SIGKILL, 0, 0);
    bare(SYS_wait4, pid, (long)&status, 0, 0);
    return -1;
}

#endif
