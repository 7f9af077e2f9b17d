/* SPDX-License-Identifier: MIT
 *
 * Stopping one thread of another process for a moment, by ptrace. The thread goes on as if nothing
 * had been: a call that it was blocked in is continued by the kernel. The few calls that the kernel
 * would end with EINTR instead are known beforehand, and such a thread is not stopped.
 */
#ifndef BP_TOOLS_LIVE_TRACE_H
#define BP_TOOLS_LIVE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bp_stopped {
    pid_t tid;
    int signal;       /* that the thread was about to get; it does when it goes on */
    uint64_t stopped; /* CLOCK_MONOTONIC, ns */
};

/* What a stop would do to the system call that a thread is in. */
enum bp_call_state {
    BP_CALL_NONE,       /* it is in none */
    BP_CALL_GOES_ON,    /* the kernel continues it */
    BP_CALL_ENDLESS,    /* it would fail with EINTR; begun anew it is the same */
    BP_CALL_TIMED,      /* the same, but begun anew it waits longer than it was to */
    BP_CALL_LEFT_ALONE, /* it can neither be continued nor begun anew: connect */
};
enum bp_call_state bp_trace_call(pid_t pid, pid_t tid);

/* The stack pointer of a thread that stands in a system call; 0: it does not. */
uint64_t bp_trace_stack(pid_t pid, pid_t tid);

/* 0 or -errno: -ETIMEDOUT if it does not stop (a thread in the kernel's hands), -EINTR if it must
 * not be stopped now, -ESRCH if it has ended. */
int bp_trace_stop(struct bp_stopped *trace, pid_t pid, pid_t tid);
/* Stops the thread whatever call it is in; its stops at system calls are told from others. */
int bp_trace_hold(struct bp_stopped *trace, pid_t tid);
/* The stopped thread's own pointer, which pthread_self() returns; 0: unknown. */
uint64_t bp_trace_pointer(const struct bp_stopped *trace);
/* How long it was stopped, ns. */
uint64_t bp_trace_go(const struct bp_stopped *trace);

/* Why the process cannot be traced, and what would allow it: a new sentence, NULL if nothing speaks
 * against it. `error` is what bp_trace_stop() said, 0 before it was asked. */
char *bp_trace_refusal(pid_t pid, int error);

/* What follows the name in a line of /proc/PID/status, "State:"; false if there is none. */
bool bp_trace_line(pid_t pid, const char *name, char *line, size_t size);

/* What follows the name, as a number; -1 if there is none. */
long bp_trace_status(pid_t pid, const char *name);

#endif
