/* SPDX-License-Identifier: MIT
 *
 * PTRACE_SEIZE, which stops nobody by itself, and the reasons why it may be refused.
 */
#include "tools/live/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/text.h"

#define PATIENCE_NS 2000000000u /* for a thread to stop: one that can run on a busy machine */
#define STEP_NS 20000

/* Calls that return EINTR when their thread was stopped, even without a signal: signal(7). */
static const struct {
    long number;
    int time; /* the argument that is its longest time to wait; -1: none */
} interrupted[] = {
    {SYS_epoll_wait, 3},   {SYS_epoll_pwait, 3},   {SYS_epoll_pwait2, 3},
    {SYS_semop, -1},       {SYS_semtimedop, 3},    {SYS_rt_sigtimedwait, 2},
    {SYS_io_getevents, 4}, {SYS_io_pgetevents, 4}, {SYS_io_uring_enter, -1},
};

static bool read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = 0;
    return got > 0;
}

/* A thread that runs is in no call. */
static bool read_call(pid_t pid, pid_t tid, long *number, unsigned long *arguments) {
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    return read_file(path, text, sizeof(text)) &&
           sscanf(text, "%ld %lx %lx %lx %lx %lx %lx", number, &arguments[0], &arguments[1],
                  &arguments[2], &arguments[3], &arguments[4], &arguments[5]) == 7;
}

uint64_t bp_trace_stack(pid_t pid, pid_t tid) {
    char path[64], text[256];
    unsigned long stack = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    if (!read_file(path, text, sizeof(text)) ||
        sscanf(text, "%*d %*x %*x %*x %*x %*x %*x %lx", &stack) != 1)
        return 0;
    return stack;
}

/* A pointer to a time, or a number of milliseconds. */
static bool is_endless(long number, unsigned long time) {
    bool in_ms = number == SYS_epoll_wait || number == SYS_epoll_pwait;
    return in_ms ? (int)time < 0 : time == 0;
}

enum bp_call_state bp_trace_call(pid_t pid, pid_t tid) {
    unsigned long arguments[6];
    long number;
    if (!read_call(pid, tid, &number, arguments))
        return BP_CALL_NONE;
    if (number == SYS_connect)
        return BP_CALL_LEFT_ALONE;
    for (size_t i = 0; i < sizeof(interrupted) / sizeof(*interrupted); i++) {
        int time = interrupted[i].time;
        if (interrupted[i].number == number)
            return time < 0 || is_endless(number, arguments[time]) ? BP_CALL_ENDLESS
                                                                   : BP_CALL_TIMED;
    }
    return number < 0 ? BP_CALL_NONE : BP_CALL_GOES_ON;
}

static int wait_for_stop(struct bp_stopped *trace) {
    struct timespec step = {.tv_nsec = STEP_NS};
    uint64_t end = bp_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    int status;
    for (;;) {
        trace->stopped = bp_clock_ns(CLOCK_MONOTONIC); /* not longer ago than that */
        pid_t got = waitpid(trace->tid, &status, __WALL | WNOHANG);
        if (got < 0 || (got == trace->tid && !WIFSTOPPED(status)))
            return -ESRCH;
        if (got == trace->tid)
            break;
        if (bp_clock_ns(CLOCK_MONOTONIC) > end)
            return -ETIMEDOUT;
        nanosleep(&step, NULL);
    }
    trace->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    return 0;
}

int bp_trace_hold(struct bp_stopped *trace, pid_t tid) {
    *trace = (struct bp_stopped){.tid = tid};
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD))
        return -errno;
    int result = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ? -errno : wait_for_stop(trace);
    if (result)
        bp_trace_go(trace);
    return result;
}

int bp_trace_stop(struct bp_stopped *trace, pid_t pid, pid_t tid) {
    enum bp_call_state call = bp_trace_call(pid, tid);
    if (call > BP_CALL_GOES_ON)
        return -EINTR;
    return bp_trace_hold(trace, tid);
}

uint64_t bp_trace_pointer(const struct bp_stopped *trace) {
#ifdef __x86_64__
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, trace->tid, NULL, &registers) == 0)
        return registers.fs_base;
#endif
    (void)trace;
    return 0;
}

/* A thread that has not stopped cannot be let go; it is when this process ends, at the latest. */
uint64_t bp_trace_go(const struct bp_stopped *trace) {
    ptrace(PTRACE_DETACH, trace->tid, NULL, (void *)(intptr_t)trace->signal);
    return bp_clock_ns(CLOCK_MONOTONIC) - trace->stopped;
}

bool bp_trace_line(pid_t pid, const char *name, char *line, size_t size) {
    char path[64], text[8192];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (!read_file(path, text, sizeof(text)))
        return false;
    char *found = strstr(text, name);
    if (!found || (found != text && found[-1] != '\n'))
        return false;
    found += strlen(name);
    snprintf(line, size, "%.*s", (int)strcspn(found, "\n"), found);
    return true;
}

long bp_trace_status(pid_t pid, const char *name) {
    char line[128];
    return bp_trace_line(pid, name, line, sizeof(line)) ? strtol(line, NULL, 10) : -1;
}

static char state_of(pid_t pid) {
    char line[128], state = 0;
    if (bp_trace_line(pid, "State:", line, sizeof(line)))
        sscanf(line, " %c", &state);
    return state;
}

/* Yama's three ways to say no; 0 without Yama. */
static int yama_scope(void) {
    char text[16];
    return read_file("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) ? atoi(text) : 0;
}

static char *explain_denial(pid_t pid) {
    long owner = bp_trace_status(pid, "Uid:");
    int scope = yama_scope();
    if (owner >= 0 && (uid_t)owner != geteuid() && geteuid() != 0)
        return bp_make_text("it belongs to user %ld; become that user, or root", owner);
    if (scope == 3)
        return bp_make_text("kernel.yama.ptrace_scope is 3: nobody may, until the next boot");
    if (scope > 0)
        return bp_make_text("kernel.yama.ptrace_scope is %d: only root may, or after sysctl "
                            "kernel.yama.ptrace_scope=0",
                            scope);
    return bp_make_text("the kernel refuses: the container lacks CAP_SYS_PTRACE (docker run "
                        "--cap-add SYS_PTRACE), a seccomp filter forbids it, or the program is "
                        "set-user-ID");
}

char *bp_trace_refusal(pid_t pid, int error) {
    char state = state_of(pid);
    long tracer = bp_trace_status(pid, "TracerPid:");
    if (state == 0 || state == 'Z' || state == 'X')
        return bp_make_text("it has ended");
    if (tracer > 0 && tracer != getpid())
        return bp_make_text("process %ld traces it; only one may", tracer);
    if (state == 'T' || state == 't')
        return bp_make_text("it is stopped, and left alone; kill -CONT %d lets it go on", (int)pid);
    if (error == -EPERM || error == -EACCES)
        return explain_denial(pid);
    if (error == -ESRCH)
        return bp_make_text("it is ending");
    return error ? bp_make_text("%s", strerror(-error)) : NULL;
}
