/* SPDX-License-Identifier: MIT
 *
 * What the machine is: CPU, kernel, clock, and which of the usual profiling interfaces
 * it forbids. None of those is needed; the page says so, because people look for it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/command/doctor/doctor.h"

#define ARCH_SHSTK_STATUS 0x5005 /* asm/prctl.h of Linux 6.6; not in older headers */
#define SAMPLED_S 0.05           /* of CPU time, to see how often samples come */

/* The rest of the line "key<blanks>:<blanks>value", or `missing` if there is none: a new text. */
static char *read_value(const char *path, const char *key, const char *missing) {
    FILE *file = fopen(path, "re");
    char *line = NULL, *value = NULL;
    size_t size = 0;
    while (file && !value && getline(&line, &size, file) >= 0) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = 0;
        value = bp_copy_text(colon);
    }
    free(line);
    if (file)
        fclose(file);
    return value ? value : bp_copy_text(missing);
}

void bp_doctor_architecture(struct bp_finding *finding) {
#ifdef __x86_64__
    uint32_t a = 1, b, c, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    char *model = read_value("/proc/cpuinfo", "model name", "x86-64");
    if (c >> 13 & 1)
        bp_finding_set(finding, BP_GOOD, "x86-64, %s, %ld CPUs", model,
                       sysconf(_SC_NPROCESSORS_ONLN));
    else
        bp_finding_set(finding, BP_BAD, "%s has no cmpxchg16b, which the wall page needs", model);
    free(model);
#else
    bp_finding_set(finding, BP_BAD, "not x86-64: the library loads and stays out of the way");
    bp_finding_cure(finding, "profile on an x86-64 machine");
#endif
}

void bp_doctor_kernel(struct bp_finding *finding) {
    struct utsname name;
    uname(&name);
    bp_finding_set(finding, BP_GOOD, "%s %s; no module, no setting needed", name.sysname,
                   name.release);
}

void bp_doctor_clock(struct bp_finding *finding) {
    if (bp_clock_kind(NULL) != BP_CLOCK_TSC) {
        const char *why = bp_clock_tsc_invariant()
                              ? "the kernel has found the time stamp counters out of step"
                              : "the CPU (or hypervisor) offers no invariant time stamp counter";
        bp_finding_set(finding, BP_ABSENT,
                       "CLOCK_MONOTONIC: %s; a call costs some 100 ns more, which is subtracted",
                       why);
        return;
    }
    struct bp_clock_pair a = bp_clock_pair_now(BP_CLOCK_TSC);
    nanosleep(&(struct timespec){0, 10000000}, NULL);
    struct bp_clock_pair b = bp_clock_pair_now(BP_CLOCK_TSC);
    double ghz = (double)(b.ticks - a.ticks) / (double)(b.monotonic_ns - a.monotonic_ns);
    bp_finding_set(finding, BP_GOOD, "invariant time stamp counter, %.3f GHz", ghz);
}

void bp_doctor_shadow_stack(struct bp_finding *finding) {
    unsigned long features = 0;
    char *flags = read_value("/proc/cpuinfo", "flags", "");
    bool has = strstr(flags, " user_shstk");
    free(flags);
    if (!has) {
        bp_finding_set(finding, BP_ABSENT, "the CPU or kernel has none for programs");
        return;
    }
    syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features);
    bp_finding_set(finding, BP_GOOD, "%s; our stubs keep calls and returns paired",
                   features & 1 ? "on for this process" : "available, off for this process");
}

void bp_doctor_permissions(struct bp_finding *finding) {
    struct rlimit size;
    getrlimit(RLIMIT_FSIZE, &size);
    if (size.rlim_cur != RLIM_INFINITY && size.rlim_cur < 64u << 20) {
        bp_finding_set(finding, BP_BAD, "files may not grow beyond %llu kB",
                       (unsigned long long)size.rlim_cur / 1024);
        bp_finding_cure(finding, "ulimit -f unlimited");
        return;
    }
    bp_finding_set(finding, BP_GOOD,
                   "%s; no privilege needed. Programs of other users, setuid and sudo cannot be "
                   "followed",
                   geteuid() ? "ordinary user" : "root");
}

void bp_doctor_container(struct bp_finding *finding) {
    const char *kind = getenv("KAGGLE_KERNEL_RUN_TYPE")          ? "Kaggle"
                       : getenv("COLAB_RELEASE_TAG")             ? "Colab"
                       : getenv("KUBERNETES_SERVICE_HOST")       ? "Kubernetes"
                       : access("/.dockerenv", F_OK) == 0        ? "Docker"
                       : access("/run/.containerenv", F_OK) == 0 ? "Podman"
                       : getenv("container")                     ? getenv("container")
                                                                 : NULL;
    char *filter = read_value("/proc/self/status", "Seccomp", "0");
    const char *seccomp = atoi(filter) ? "a seccomp filter is on" : "no seccomp filter";
    free(filter);
    if (kind)
        bp_finding_set(finding, BP_GOOD, "%s, %s: profiling works in it", kind, seccomp);
    else
        bp_finding_set(finding, BP_ABSENT, "none seen, %s", seccomp);
}

static volatile sig_atomic_t ticks;

static void count_tick(int number) {
    (void)number;
    ticks++;
}

static double thread_cpu_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The kernel looks at CPU timers when its own clock ticks: that bounds how many samples there are.
 */
void bp_doctor_sampling(struct bp_finding *finding) {
    struct sigaction action = {.sa_handler = count_tick}, before;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec often = {.it_interval.tv_nsec = 1000000, .it_value.tv_nsec = 1000000};
    timer_t timer;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer)) {
        bp_finding_set(finding, BP_ABSENT,
                       "no timer of CPU time (%s): what the program itself does "
                       "is not broken down",
                       strerror(errno));
        return;
    }
    sigaction(SIGUSR1, &action, &before);
    double begin = thread_cpu_s(), end = begin;
    timer_settime(timer, 0, &often, NULL);
    while (end < begin + SAMPLED_S)
        end = thread_cpu_s();
    timer_delete(timer);
    sigaction(SIGUSR1, &before, NULL);
    bp_finding_set(
        finding, ticks ? BP_GOOD : BP_ABSENT,
        "%.0f samples per second of CPU time at most; `run` takes 200 by default (--rate)",
        (double)ticks / (end - begin));
}

void bp_doctor_perf_event(struct bp_finding *finding) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof event,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .exclude_kernel = 1,
    };
    long fd = syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
    if (fd < 0) {
        bp_finding_set(finding, BP_ABSENT, "not allowed (%s); not needed", strerror(errno));
        return;
    }
    close((int)fd);
    bp_finding_set(finding, BP_GOOD, "allowed; not used");
}

void bp_doctor_ptrace(struct bp_finding *finding) {
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
    if (child > 0)
        waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        bp_finding_set(finding, BP_GOOD, "allowed; not used");
    else
        bp_finding_set(finding, BP_ABSENT, "not allowed; not needed");
}
