/* SPDX-License-Identifier: MIT
 *
 * Time, waiting and locking. Waits go straight to the kernel: the profiler intercepts the blocking
 * functions of libc in every object, and a driver's waits are not seen that way either.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cuda/sim/internal.h"

/* A sleep ends up to 60 us late on a quiet machine; the rest is spun. */
#define SPIN_NS 60000

long bp_sim_syscall(long number, long a, long b, long c, long d) {
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t bp_sim_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

/* The distance of the clocks is taken once: records keep their distances when the date is set. */
uint64_t bp_sim_realtime(uint64_t monotonic) {
    static uint64_t offset;
    uint64_t value = __atomic_load_n(&offset, __ATOMIC_RELAXED);
    if (!value) {
        value = read_clock(CLOCK_REALTIME) - bp_sim_now();
        __atomic_store_n(&offset, value, __ATOMIC_RELAXED);
    }
    return monotonic + value;
}

void bp_sim_wait_until(uint64_t time) {
    while (bp_sim_now() + SPIN_NS < time) {
        uint64_t until = time - SPIN_NS;
        struct timespec wake = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
        bp_sim_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&wake, 0);
    }
    /* No pause instruction: hypervisors trap it, which costs microseconds. */
    while (bp_sim_now() < time)
        ;
}

uint32_t bp_sim_tid(void) {
    static __thread uint32_t tid;
    if (!tid)
        tid = (uint32_t)bp_sim_syscall(SYS_gettid, 0, 0, 0, 0);
    return tid;
}

/* 0 unlocked, 1 locked, 2 locked and waited for. */
void bp_sim_lock(int *lock) {
    int expected = 0;
    if (__atomic_compare_exchange_n(lock, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
        bp_sim_syscall(SYS_futex, (long)lock, FUTEX_WAIT_PRIVATE, 2, 0);
}

void bp_sim_unlock(int *lock) {
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        bp_sim_syscall(SYS_futex, (long)lock, FUTEX_WAKE_PRIVATE, 1, 0);
}
