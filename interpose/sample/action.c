/* SPDX-License-Identifier: MIT */
#include "interpose/sample/action.h"

#include "interpose/arch/arch.h"
#include "interpose/ledger/lock.h"
#include "profile/sys.h"

#define SA_KERNEL_RESTORER 0x04000000

struct action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

static int change(int number, const struct action *action) {
    return (int)BP_SYS4(SYS_rt_sigaction, number, action, NULL, BP_KERNEL_SIGSET);
}

uint64_t bp_action_get(int number) {
    struct action action = {.handler = 0};
    BP_SYS4(SYS_rt_sigaction, number, NULL, &action, BP_KERNEL_SIGSET);
    return action.handler;
}

int bp_action_set(int number, void (*handler)(int, siginfo_t *, void *)) {
    struct action action = {.handler = (uint64_t)handler,
                            .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_KERNEL_RESTORER,
                            .restorer = (uint64_t)bp_arch_signal_return,
                            .mask = ~UINT64_C(0)};
    return change(number, &action);
}

int bp_action_reset(int number) {
    struct action action = {.handler = (uint64_t)SIG_DFL};
    return change(number, &action);
}
