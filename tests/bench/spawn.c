/* SPDX-License-Identifier: MIT
 *
 *     bench_spawn ROUNDS PRELOAD... -- COMMAND...
 *
 * Runs COMMAND in each round once with each PRELOAD as LD_PRELOAD (none if empty), beginning with
 * another one in each round. Prints one line for each PRELOAD: nanoseconds from spawn to reaped, of
 * all rounds. The command's output goes to /dev/null.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define MOST_PRELOADS 8

extern char **environ;

static long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Nanoseconds, or -1 if it cannot be started or fails. */
static long run(const char *preload, char **command, posix_spawn_file_actions_t *actions) {
    pid_t pid;
    int status;
    if (*preload)
        setenv("LD_PRELOAD", preload, 1);
    long start = now_ns();
    int error = posix_spawnp(&pid, command[0], actions, NULL, command, environ);
    if (!error && waitpid(pid, &status, 0) != pid)
        error = 1;
    long end = now_ns();
    unsetenv("LD_PRELOAD");
    return error || status ? -1 : end - start;
}

static void print(const char *const *preloads, int count, const long *times, int rounds) {
    for (int k = 0; k < count; k++) {
        printf("%s:", preloads[k]);
        for (int i = 0; i < rounds; i++)
            printf(" %ld", times[i * count + k]);
        printf("\n");
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 0, count = 0;
    char **preloads = argv + 2;
    posix_spawn_file_actions_t actions;
    while (2 + count < argc && strcmp(preloads[count], "--") != 0)
        count++;
    char **command = preloads + count + 1;
    if (rounds < 1 || count < 1 || count > MOST_PRELOADS || command >= argv + argc)
        return 2;
    long *times = calloc((size_t)rounds * (size_t)count, sizeof *times);
    if (!times || posix_spawn_file_actions_init(&actions) ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0))
        return 1;
    for (int i = 0; i < rounds * count; i++) {
        int round = i / count, k = (i + round) % count;
        times[round * count + k] = run(preloads[k], command, &actions);
        if (times[round * count + k] < 0)
            return 1;
    }
    print((const char *const *)preloads, count, times, rounds);
    free(times);
    return 0;
}
