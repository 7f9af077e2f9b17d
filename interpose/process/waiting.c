/* SPDX-License-Identifier: MIT
 *
 * Locks and children. A lock that is free costs no clock reading: it is tried first, and only when
 * that fails is the real call made, through a stub that accounts for the wait. Waiting for a child
 * also notes its end, for a child that could not say so itself.
 *
 * Waiting for Python's GIL is told apart by where the lock is: inside of _PyRuntime, which is found
 * by its symbol. No layout is needed for that, and two comparisons are all it costs.
 */
#include "interpose/process/lifetime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "interpose/hook/hook.h"
#include "interpose/hook/object.h"
#include "interpose/process/process.h"

static struct {
    int (*pthread_mutex_lock)(pthread_mutex_t *);
    int (*pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*pthread_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*pthread_cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                                  const struct timespec *);
    int (*pthread_rwlock_rdlock)(pthread_rwlock_t *);
    int (*pthread_rwlock_wrlock)(pthread_rwlock_t *);
    int (*sem_wait)(sem_t *);
    int (*mtx_lock)(void *);
    long (*syscall)(long, long, long, long, long, long, long);
    pid_t (*wait)(int *);
    pid_t (*waitpid)(pid_t, int *, int);
    pid_t (*wait3)(int *, int, struct rusage *);
    pid_t (*wait4)(pid_t, int *, int, struct rusage *);
    int (*waitid)(idtype_t, id_t, siginfo_t *, int);
    int (*fcntl)(int, int, void *);
    int (*fcntl64)(int, int, void *);
    int (*system)(const char *);
} real;

/* The originals of these functions through stubs that count the time as waiting; and as waiting for
 * the GIL, of which only the first four are filled. */
static __typeof__(real) timed, gil;

static struct { uint64_t low, size; /* of _PyRuntime; no size: no Python */ } python;

static struct {
    int (*pthread_mutex_trylock)(pthread_mutex_t *);
    int (*pthread_rwlock_tryrdlock)(pthread_rwlock_t *);
    int (*pthread_rwlock_trywrlock)(pthread_rwlock_t *);
    int (*sem_trywait)(sem_t *);
    int (*mtx_trylock)(void *);
    void (*pthread_testcancel)(void);
} try_first;

static inline const __typeof__(real) *waiting_for(const void *object) {
    return (uint64_t)object - python.low < python.size ? &gil : &timed;
}

static int wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    int error = try_first.pthread_mutex_trylock(mutex);
    return error == EBUSY ? waiting_for(mutex)->pthread_mutex_lock(mutex) : error;
}

static int wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    return waiting_for(condition)->pthread_cond_wait(condition, mutex);
}

static int wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                       const struct timespec *until) {
    return waiting_for(condition)->pthread_cond_timedwait(condition, mutex, until);
}

static int wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                       clockid_t clock, const struct timespec *until) {
    return waiting_for(condition)->pthread_cond_clockwait(condition, mutex, clock, until);
}

static int wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    int error = try_first.pthread_rwlock_tryrdlock(lock);
    return error == EBUSY ? timed.pthread_rwlock_rdlock(lock) : error;
}

static int wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    int error = try_first.pthread_rwlock_trywrlock(lock);
    return error == EBUSY ? timed.pthread_rwlock_wrlock(lock) : error;
}

static int wrap_mtx_lock(void *mutex) {
    return try_first.mtx_trylock(mutex) == 0 ? 0 : timed.mtx_lock(mutex);
}

/* sem_wait is a cancellation point also when it does not block; sem_trywait is none. */
static int wrap_sem_wait(sem_t *semaphore) {
    int saved = errno;
    try_first.pthread_testcancel();
    if (try_first.sem_trywait(semaphore) == 0)
        return 0;
    errno = saved;
    return timed.sem_wait(semaphore);
}

static int futex_waits(long operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
        return 1;
    default:
        return 0;
    }
}

/* Runtimes that bring their own locks sleep in futex(2), which has no function in libc. */
static long wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (number == SYS_futex && futex_waits(b))
        return timed.syscall(number, a, b, c, d, e, f);
    if (bp_clone_forks(number, a, b))
        return bp_clone_syscall(real.syscall, (const long[]){number, a, b, c, d, e, f});
    return real.syscall(number, a, b, c, d, e, f);
}

static int waits_for_lock(int command) {
    return command == F_SETLKW || command == F_OFD_SETLKW;
}

static int wrap_fcntl(int fd, int command, void *argument) {
    return (waits_for_lock(command) ? timed.fcntl : real.fcntl)(fd, command, argument);
}

static int wrap_fcntl64(int fd, int command, void *argument) {
    return (waits_for_lock(command) ? timed.fcntl64 : real.fcntl64)(fd, command, argument);
}

static int wrap_system(const char *command) {
    bp_process_export();
    return timed.system(command);
}

static pid_t note_reaped(pid_t pid, const int *status) {
    if (pid > 0 && (WIFEXITED(*status) || WIFSIGNALED(*status)))
        bp_process_reaped(pid, *status);
    return pid;
}

static pid_t wrap_waitpid(pid_t pid, int *status, int options) {
    int own = 0, *place = status ? status : &own;
    pid_t child = timed.waitpid(pid, place, options);
    return note_reaped(child, place);
}

static pid_t wrap_wait(int *status) {
    int own = 0, *place = status ? status : &own;
    pid_t child = timed.wait(place);
    return note_reaped(child, place);
}

static pid_t wrap_wait3(int *status, int options, struct rusage *usage) {
    int own = 0, *place = status ? status : &own;
    pid_t child = timed.wait3(place, options, usage);
    return note_reaped(child, place);
}

static pid_t wrap_wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    int own = 0, *place = status ? status : &own;
    pid_t child = timed.wait4(pid, place, options, usage);
    return note_reaped(child, place);
}

static int wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    siginfo_t own = {.si_pid = 0};
    siginfo_t *place = info ? info : &own;
    int result = timed.waitid(type, id, place, options);
    if (result == 0 && place->si_pid > 0 && options & WEXITED && !(options & WNOWAIT)) {
        if (place->si_code == CLD_EXITED)
            bp_process_reaped(place->si_pid, (place->si_status & 0xff) << 8);
        else if (place->si_code == CLD_KILLED || place->si_code == CLD_DUMPED)
            bp_process_reaped(place->si_pid, place->si_status & 0x7f);
    }
    return result;
}

#define GIL_WRAPS 4 /* the first ones */

static const struct bp_wrap wraps[] = {
    BP_WRAP_UNLESS_PAUSED(pthread_mutex_lock),
    BP_WRAP_UNLESS_PAUSED(pthread_cond_wait),
    BP_WRAP_UNLESS_PAUSED(pthread_cond_timedwait),
    BP_WRAP_UNLESS_PAUSED(pthread_cond_clockwait),
    BP_WRAP_UNLESS_PAUSED(pthread_rwlock_rdlock),
    BP_WRAP_UNLESS_PAUSED(pthread_rwlock_wrlock),
    BP_WRAP_UNLESS_PAUSED(sem_wait),
    BP_WRAP_UNLESS_PAUSED(mtx_lock),
    BP_WRAP(syscall),
    BP_WRAP(wait),
    BP_WRAP(waitpid),
    BP_WRAP(wait3),
    BP_WRAP(wait4),
    BP_WRAP(waitid),
    BP_WRAP_UNLESS_PAUSED(fcntl),
    BP_WRAP_UNLESS_PAUSED(fcntl64),
    BP_WRAP(system),
};

/* Where a table has the function of a wrap. */
static void **place_in(__typeof__(real) *table, const struct bp_wrap *wrap) {
    return (void **)((char *)table + ((char *)wrap->real - (char *)&real));
}

static void *new_timed(const struct bp_wrap *wrap, const char *name, uint16_t flags) {
    void *original = bp_object_runtime_function(wrap->name);
    void *stub = original ? bp_hook_stub(original, name, BP_STUB_WAIT, flags) : NULL;
    return stub ? stub : original;
}

void bp_waiting_gil(uint64_t low, uint64_t size) {
    if (!bp_hook_waits)
        return;
    for (size_t i = 0; i < GIL_WRAPS; i++)
        *place_in(&gil, &wraps[i]) = new_timed(&wraps[i], "GIL", BP_FUNC_GIL);
    python.low = low;
    __atomic_store_n(&python.size, size, __ATOMIC_RELEASE);
}

void bp_waiting_init(void) {
    if (!bp_hook_waits)
        return;
    try_first.pthread_mutex_trylock = bp_object_runtime_function("pthread_mutex_trylock");
    try_first.pthread_rwlock_tryrdlock = bp_object_runtime_function("pthread_rwlock_tryrdlock");
    try_first.pthread_rwlock_trywrlock = bp_object_runtime_function("pthread_rwlock_trywrlock");
    try_first.sem_trywait = bp_object_runtime_function("sem_trywait");
    try_first.mtx_trylock = bp_object_runtime_function("mtx_trylock");
    try_first.pthread_testcancel = bp_object_runtime_function("pthread_testcancel");
    for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++)
        *place_in(&timed, &wraps[i]) = new_timed(&wraps[i], wraps[i].name, 0);
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
}
