/* SPDX-License-Identifier: MIT
 *
 * See holder.h. Who needs the file has it mapped, or has its path in the environment (a shell that
 * was linked statically may start a program that was not).
 */
#include "tools/run/holder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

#define PIECE 65536     /* bytes of a file in /proc that are read at once */
#define MOST_FILES 4096 /* that are closed one by one */
#define LOOK_S 2 /* how often the holder looks whether somebody is left: some 5 ms each time */

/* Whether a file of a process has a text in it, at whatever place. */
static bool has_text(const char *process, const char *name, const char *text) {
    char *path = bp_make_text("/proc/%s/%s", process, name), *data = NULL;
    size_t length = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    do {
        length += (size_t)got;
        data = bp_resize(data, length + PIECE, 1);
        got = fd < 0 ? -1 : read(fd, data + length, PIECE);
    } while (got > 0);
    bool found = memmem(data, length, text, strlen(text));
    if (fd >= 0)
        close(fd);
    free(data);
    free(path);
    return found;
}

/* `file` as it stands in the maps of those that have it. */
static bool is_needed(const char *path, const char *file, const char *holder) {
    DIR *processes = opendir("/proc");
    bool needed = false;
    for (struct dirent *entry; processes && !needed && (entry = readdir(processes));)
        needed =
            isdigit((unsigned char)entry->d_name[0]) && strcmp(entry->d_name, holder) &&
            atoi(entry->d_name) != getpid() &&
            (has_text(entry->d_name, "maps", file) || has_text(entry->d_name, "environ", path));
    if (processes)
        closedir(processes);
    return needed;
}

static bool is_needed_by_others(const char *path, pid_t holder) {
    struct stat status;
    if (stat(path, &status))
        return false;
    char *file = bp_make_text(" %02x:%02x %llu ", major(status.st_dev), minor(status.st_dev),
                              (unsigned long long)status.st_ino);
    char *number = bp_make_text("%d", holder);
    bool needed = is_needed(path, file, number);
    free(file);
    free(number);
    return needed;
}

/* A pipe that we hold open would not end. Kernels before 5.9 have no close_range. */
static void close_between(int first, int last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (int fd = first; fd <= last && fd < MOST_FILES; fd++)
        close(fd);
}

static void keep_files(int one, int other) {
    int low = one < other ? one : other, high = one < other ? other : one;
    close_between(0, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, INT_MAX);
}

static _Noreturn void hold(int fd, int end) {
    sigset_t all;
    char byte;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    keep_files(fd, end);
    prctl(PR_SET_NAME, "battprof-holder");
    if (chdir("/"))
        _exit(0);
    while (read(end, &byte, 1) < 0 && errno == EINTR)
        ;
    char *path = bp_make_text("/proc/%d/fd/%d", getpid(), fd);
    while (is_needed_by_others(path, getpid()))
        sleep(LOOK_S);
    _exit(0);
}

int bp_holder_start(struct bp_holder *holder, int fd) {
    int ends[2];
    *holder = (struct bp_holder){.end = -1};
    if (pipe2(ends, O_CLOEXEC)) {
        close(fd);
        return -errno;
    }
    holder->pid = fork();
    if (holder->pid == 0) {
        close(ends[1]);
        hold(fd, ends[0]);
    }
    int failed = holder->pid < 0 ? -errno : 0;
    holder->path = bp_make_text("/proc/%d/fd/%d", holder->pid, fd); /* there since fork */
    close(ends[0]);
    close(fd);
    if (failed) {
        close(ends[1]);
        free(holder->path);
        *holder = (struct bp_holder){.end = -1};
        return failed;
    }
    holder->end = ends[1];
    return 0;
}

void bp_holder_fini(struct bp_holder *holder) {
    if (!holder->pid)
        return;
    if (!is_needed_by_others(holder->path, holder->pid)) {
        kill(holder->pid, SIGKILL);
        while (waitpid(holder->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(holder->end);
    free(holder->path);
    *holder = (struct bp_holder){.end = -1};
}
