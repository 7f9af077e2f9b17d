/* SPDX-License-Identifier: MIT */
#include "tests/sample/subjects/storm_signals.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    int number;
    void *value; /* what the signals of sampling carry */
    volatile int stop;
    long self;
    pthread_t thread;
    unsigned long sent;
} storm;

/* The timers of the process tell signal and value: "signal: 64/00007f…". */
static int find_signal(void) {
    char line[128];
    FILE *file = fopen("/proc/self/timers", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "signal: %d/%p", &storm.number, &storm.value) == 2)
            break;
    if (file)
        fclose(file);
    return storm.number;
}

static void send(pid_t pid, int tid) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = storm.number;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = storm.value;
    if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, storm.number, &info) == 0)
        storm.sent++;
}

static void *send_all(void *unused) {
    pid_t pid = getpid();
    (void)unused;
    storm.self = syscall(SYS_gettid);
    while (!storm.stop) {
        DIR *tasks = opendir("/proc/self/task");
        for (struct dirent *task; tasks && (task = readdir(tasks));)
            for (int i = 0; atoi(task->d_name) && atoi(task->d_name) != storm.self && i < 20; i++) {
                send(pid, atoi(task->d_name));
                usleep(10);
            }
        if (tasks)
            closedir(tasks);
    }
    return NULL;
}

int storm_begin(void) {
    return find_signal() ? pthread_create(&storm.thread, NULL, send_all, NULL) == 0 : 0;
}

unsigned long storm_end(void) {
    if (!storm.thread)
        return 0;
    storm.stop = 1;
    pthread_join(storm.thread, NULL);
    return storm.sent;
}
