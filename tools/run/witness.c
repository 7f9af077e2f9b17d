/* SPDX-License-Identifier: MIT
 *
 * See witness.h. Asked to forget, by a real-time signal, the witness takes what is pending; it ends
 * with us, however we end.
 */
#include "tools/run/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    volatile sig_atomic_t pid;
    char path[32]; /* of its status */
} state;

static _Noreturn void stand_by(pid_t parent) {
    sigset_t forget;
    sigset_t others;
    const struct timespec now = {0, 0};
    sigemptyset(&forget);
    sigaddset(&forget, SIGRTMIN);
    sigfillset(&others);
    sigdelset(&others, SIGRTMIN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    prctl(PR_SET_NAME, "battprof-group");
    syscall(SYS_close_range, 0u, ~0u, 0u); /* a pipe that we hold open would not end */
    if (chdir("/"))                        /* nor may a file system be kept busy */
        _exit(0);
    for (;;) {
        sigwaitinfo(&forget, NULL);
        while (sigtimedwait(&others, NULL, &now) > 0)
            ;
    }
}

void bp_witness_start(void) {
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        stand_by(parent);
    if (pid <= 0)
        return;
    snprintf(state.path, sizeof state.path, "/proc/%d/status", pid);
    state.pid = pid;
}

/* Digits of the kernel's, after blanks. strtoull(3) is not for handlers: it looks at the locale. */
static unsigned long long read_hex(const char *text) {
    unsigned long long value = 0;
    for (text += strspn(text, " \t"); *text && strchr("0123456789abcdef", *text); text++)
        value = value << 4 | (unsigned)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return value;
}

/* Calls nothing that a handler may not. */
static unsigned long long pending(void) {
    char text[4096];
    int fd = open(state.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *set = strstr(text, "ShdPnd:");
    return set ? read_hex(set + strlen("ShdPnd:")) : 0;
}

bool bp_witness_saw(int signal) {
    pid_t pid = (pid_t)state.pid;
    if (!pid || !(pending() >> (signal - 1) & 1))
        return false;
    kill(pid, SIGRTMIN);
    return true;
}

void bp_witness_end(void) {
    pid_t pid = (pid_t)state.pid;
    state.pid = 0;
    if (!pid)
        return;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
