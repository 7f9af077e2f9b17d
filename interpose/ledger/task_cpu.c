/* SPDX-License-Identifier: MIT
 *
 * The CPU time of tasks. Not by the thread's CPU clock: to read it makes the kernel look whether
 * the thread has used up its time slice, so where threads outnumber processors a task's beginning
 * and end would be where it loses its CPU. With eight threads on two processors tasks of 5 ms, 80 %
 * of what the threads ran, had 15 % of their time: the rest was said to lie between them
 * (Linux 6.18). What getrusage knows may be a clock tick old, but it tells whether the thread
 * has left its CPU since it was last asked; if not, all of the time was CPU time. Only the first
 * answer of a thread is the clock's.
 */
#include <sys/resource.h>

#include "interpose/ledger/task.h"
#include "profile/clock.h"

uint64_t bp_task_cpu_ns(struct bp_task_cpu *cpu, uint64_t now) {
    struct rusage usage;
    if (BP_SYS2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
        return cpu->ns;
    uint64_t s = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    uint64_t us = (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    uint64_t ns = s * 1000000000u + us * 1000;
    uint64_t switches = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
    uint64_t passed = now > cpu->ticks ? bp_ticks_to_ns(now - cpu->ticks) : 0;
    if (!cpu->ticks)
        cpu->ns = bp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    else if (cpu->switches == switches || ns > cpu->ns + passed)
        cpu->ns += passed;
    else if (ns > cpu->ns)
        cpu->ns = ns;
    cpu->ticks = now;
    cpu->switches = switches;
    return cpu->ns;
}
