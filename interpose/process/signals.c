/* SPDX-License-Identifier: MIT
 *
 * The program and our signal. As long as it only asks, the signal looks unused; when it installs a
 * handler the signal is the program's and sampling ends. Sets of signals that are waited for are
 * handed on without ours: a program that waits for all signals must not get one that is none of
 * its own. A signal of ours that is blocked would interrupt a call that unblocks it for its own
 * duration; it is taken away before.
 */
#include "interpose/process/signals.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include "interpose/hook/hook.h"
#include "interpose/hook/object.h"
#include "interpose/sample/sampler.h"

typedef void (*handler)(int);

static struct {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    handler (*signal)(int, handler);
    handler (*sysv_signal)(int, handler);
    handler (*__sysv_signal)(int, handler);
    handler (*sigset)(int, handler);
    int (*sigignore)(int);
    int (*sigpending)(sigset_t *);
    int (*signalfd)(int, const sigset_t *, int);
    int (*sigwait)(const sigset_t *, int *);
    int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*sigsuspend)(const sigset_t *);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
} real;

/* Those that wait, through stubs that count the time. */
static __typeof__(real) timed;

static int is_ours(int number) {
    return number == bp_sampling.signal && number != 0;
}

static void give_up(void) {
    bp_sampler_stop("the program itself uses the signal of sampling");
}

static int wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    if (!is_ours(number))
        return real.sigaction(number, action, old);
    if (action && action->sa_handler != SIG_DFL) {
        give_up();
        int result = real.sigaction(number, action, NULL);
        if (result != 0)
            return result;
    }
    if (old)
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    return 0;
}

/* signal(2) and its kin: what was installed before, or SIG_ERR. */
static handler exchange(int number, handler wanted, handler (*set)(int, handler)) {
    if (!is_ours(number))
        return set(number, wanted);
    if (wanted == SIG_DFL)
        return SIG_DFL;
    give_up();
    return set(number, wanted) == SIG_ERR ? SIG_ERR : SIG_DFL;
}

static handler wrap_signal(int number, handler wanted) {
    return exchange(number, wanted, real.signal);
}

static handler wrap_sysv_signal(int number, handler wanted) {
    return exchange(number, wanted, real.sysv_signal);
}

static handler wrap___sysv_signal(int number, handler wanted) {
    return exchange(number, wanted, real.__sysv_signal);
}

static handler wrap_sigset(int number, handler wanted) {
    return exchange(number, wanted, real.sigset);
}

static int wrap_sigignore(int number) {
    if (is_ours(number))
        give_up();
    return real.sigignore(number);
}

static int wrap_sigpending(sigset_t *set) {
    int result = real.sigpending(set);
    if (result == 0 && bp_sampling.signal)
        sigdelset(set, bp_sampling.signal);
    return result;
}

/* A copy of the set without ours. NULL stays NULL: the real function knows what to say. */
static const sigset_t *without(const sigset_t *set, sigset_t *copy) {
    if (!set || !bp_sampling.signal)
        return set;
    *copy = *set;
    sigdelset(copy, bp_sampling.signal);
    return copy;
}

static int wrap_signalfd(int fd, const sigset_t *set, int flags) {
    sigset_t copy;
    return real.signalfd(fd, without(set, &copy), flags);
}

static int wrap_sigwait(const sigset_t *set, int *number) {
    sigset_t copy;
    return timed.sigwait(without(set, &copy), number);
}

static int wrap_sigwaitinfo(const sigset_t *set, siginfo_t *info) {
    sigset_t copy;
    return timed.sigwaitinfo(without(set, &copy), info);
}

static int wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time) {
    sigset_t copy;
    return timed.sigtimedwait(without(set, &copy), info, time);
}

/* One of ours that waits to be unblocked: the sample that it stands for is lost. */
static void take_away(const sigset_t *mask) {
    struct timespec now = {0, 0};
    if (!mask || !bp_sampling.signal)
        return;
    uint64_t ours = UINT64_C(1) << (bp_sampling.signal - 1);
    BP_SYS4(SYS_rt_sigtimedwait, &ours, NULL, &now, BP_KERNEL_SIGSET);
}

static int wrap_sigsuspend(const sigset_t *mask) {
    take_away(mask);
    return timed.sigsuspend(mask);
}

static int wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time,
                      const sigset_t *mask) {
    take_away(mask);
    return timed.ppoll(fds, count, time, mask);
}

static int wrap_pselect(int count, fd_set *in, fd_set *out, fd_set *except,
                        const struct timespec *time, const sigset_t *mask) {
    take_away(mask);
    return timed.pselect(count, in, out, except, time, mask);
}

static int wrap_epoll_pwait(int fd, struct epoll_event *events, int count, int time,
                            const sigset_t *mask) {
    take_away(mask);
    return timed.epoll_pwait(fd, events, count, time, mask);
}

static int wrap_epoll_pwait2(int fd, struct epoll_event *events, int count,
                             const struct timespec *time, const sigset_t *mask) {
    take_away(mask);
    return timed.epoll_pwait2(fd, events, count, time, mask);
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(sigaction), BP_WRAP(signal),      BP_WRAP(sysv_signal),  BP_WRAP(__sysv_signal),
    BP_WRAP(sigset),    BP_WRAP(sigignore),   BP_WRAP(sigpending),   BP_WRAP(signalfd),
    BP_WRAP(sigwait),   BP_WRAP(sigwaitinfo), BP_WRAP(sigtimedwait), BP_WRAP(sigsuspend),
    BP_WRAP(ppoll),     BP_WRAP(pselect),     BP_WRAP(epoll_pwait),  BP_WRAP(epoll_pwait2),
};
#define WAITING 8 /* from here on they wait */

void bp_signals_init(void) {
    size_t count = sizeof wraps / sizeof *wraps;
    for (size_t i = 0; i < count; i++) {
        void **place = (void **)((char *)&timed + ((char *)wraps[i].real - (char *)&real));
        void *original = bp_object_runtime_function(wraps[i].name);
        *place = original && i >= WAITING && bp_hook_waits
                     ? bp_hook_stub(original, wraps[i].name, BP_STUB_WAIT, 0)
                     : NULL;
        if (!*place)
            *place = original;
    }
    bp_hook_wraps(wraps, count);
}
