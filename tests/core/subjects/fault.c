/* SPDX-License-Identifier: MIT
 *
 * Of the test's build of the library: the system call of number FAULT_AT fails, among those by
 * which the library gets memory, files, timers and what else may be refused; with FAULT_ON=1 all
 * after it, too. A forked child counts on, a program that was executed from 1. FAULT_FIRED is a
 * file that is made when one has failed. Reached below stubs: no libc, no vector registers.
 */
#include <errno.h>
#include <fcntl.h>

#include "tests/core/subjects/fault.h"

static struct {
    long calls, at, on;
    const char *fired;
} state;

static const struct {
    long number, error;
} kinds[] = {
    {SYS_fstat, EIO},
    {SYS_ftruncate, ENOSPC},
    {SYS_getcwd, ENOENT},
    {SYS_madvise, EINVAL},
    {SYS_mkdir, ENOSPC},
    {SYS_mmap, ENOMEM},
    {SYS_mprotect, ENOMEM},
    {SYS_mremap, ENOMEM},
    {SYS_openat, EMFILE},
    {SYS_prlimit64, EPERM},
    {SYS_process_vm_readv, EPERM},
    {SYS_pwritev, ENOSPC},
    {SYS_read, EIO},
    {SYS_readlinkat, EACCES},
    {SYS_rt_sigaction, EINVAL},
    {SYS_sigaltstack, ENOMEM},
    {SYS_statx, ENOSYS},
    {SYS_timer_create, EAGAIN},
    {SYS_timer_settime, EINVAL},
};

static long error_of(long number) {
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].number == number)
            return kinds[i].error;
    return 0;
}

static int is_next(void) {
    long call = __atomic_add_fetch(&state.calls, 1, __ATOMIC_RELAXED);
    return state.at && (call == state.at || (state.on && call > state.at));
}

static void fire(void) {
    if (state.fired)
        bp_syscall6_real(SYS_close,
                         bp_syscall6_real(SYS_openat, AT_FDCWD, (long)state.fired,
                                          O_WRONLY | O_CREAT | O_CLOEXEC, 0666, 0, 0),
                         0, 0, 0, 0, 0);
}

long bp_fault(long number) {
    long error = error_of(number);
    if (!error || !is_next())
        return 0;
    fire();
    return -error;
}

static int is_key_create(const char *name) {
    const char *want = "pthread_key_create";
    while (*want && *name == *want)
        name++, want++;
    return *name == *want;
}

/* A function of libc that is not there; as if there were no key left. */
void *__real_bp_object_runtime_function(const char *name);
void *__wrap_bp_object_runtime_function(const char *name);
void *__wrap_bp_object_runtime_function(const char *name) {
    if (!is_key_create(name) || !is_next())
        return __real_bp_object_runtime_function(name);
    fire();
    return 0;
}

static const char *value_of(char **environment, const char *name) {
    for (; *environment; environment++) {
        const char *at = *environment, *want = name;
        while (*want && *at == *want)
            at++, want++;
        if (!*want)
            return at;
    }
    return 0;
}

static long number_of(char **environment, const char *name) {
    const char *digit = value_of(environment, name);
    long number = 0;
    for (; digit && *digit >= '0' && *digit <= '9'; digit++)
        number = 10 * number + (*digit - '0');
    return number;
}

/* Before the library's own. */
__attribute__((constructor(101))) static void begin(int argc, char **argv, char **environment) {
    (void)argc;
    (void)argv;
    state.on = number_of(environment, "FAULT_ON=");
    state.fired = value_of(environment, "FAULT_FIRED=");
    state.at = number_of(environment, "FAULT_AT=");
    state.calls = 0;
}
