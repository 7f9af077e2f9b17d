/* SPDX-License-Identifier: MIT
 *
 * A process has its profile mapped, and /proc says so to whoever may look at the process. That also
 * finds what was loaded late, and needs no environment.
 */
#include "tools/live/find.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/paths.h"
#include "tools/base/runs.h"
#include "tools/base/text.h"

#define USUAL "battprof.out" /* where `run` writes */

pid_t bp_find_pid(const char *word) {
    char *end;
    long number = strtol(word, &end, 10);
    bool digits = word[0] && strspn(word, "0123456789") == strlen(word);
    return digits && number > 0 && number < 1 << 30 ? (pid_t)number : 0;
}

/* "7f… r--s 00000000 08:01 123   /dir/battprof.77.1.bp": the path, if it is a profile of `pid`. */
static const char *profile_in(char *line, pid_t pid) {
    char *path = strchr(line, '/');
    char start[32];
    if (!path)
        return NULL;
    path[strcspn(path, "\n")] = 0;
    const char *name = bp_base_name(path);
    size_t length = strlen(name);
    snprintf(start, sizeof(start), "battprof.%d.", (int)pid);
    return length > 3 && strncmp(name, start, strlen(start)) == 0 &&
                   strcmp(name + length - 3, ".bp") == 0
               ? path
               : NULL;
}

char *bp_find_profile(pid_t pid) {
    char maps[64];
    char *line = NULL, *found = NULL;
    size_t size = 0;
    snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
    FILE *file = fopen(maps, "re");
    while (file && !found && getline(&line, &size, file) > 0) {
        const char *path = profile_in(line, pid);
        if (path)
            found = bp_copy_text(path);
    }
    if (file)
        fclose(file);
    free(line);
    return found;
}

static char *find_by_pid(pid_t pid, struct bp_error *error) {
    char *path = bp_find_profile(pid);
    if (path)
        return path;
    if (kill(pid, 0) && errno == ESRCH)
        bp_error_set(error, BP_FAILED, "no process %d", (int)pid);
    else
        bp_error_set(error, BP_FAILED,
                     "process %d is not being recorded, or belongs to another user; to record it:\n"
                     "%s attach %d",
                     (int)pid, bp_invoked(), (int)pid);
    return NULL;
}

/* The last run of a series, which may be running. */
static char *last_of(const char *path) {
    struct bp_runs runs;
    bp_runs_init(&runs, path);
    char *last = bp_copy_text(runs.path[runs.count - 1]);
    bp_runs_fini(&runs);
    return last;
}

static char *find_here(struct bp_error *error) {
    struct stat status;
    struct bp_paths paths = {0};
    if (stat(USUAL, &status) == 0)
        return last_of(USUAL);
    bp_paths_add(&paths, "battprof.*.bp");
    bool some = paths.count > 0;
    bp_paths_fini(&paths);
    if (some)
        return bp_copy_text(".");
    bp_error_set(error, BP_FAILED,
                 "no run here (neither " USUAL " nor battprof.*.bp); name its directory or a "
                 "process, or start one: battprof run -- COMMAND");
    return NULL;
}

char *bp_find_run(const char *word, struct bp_error *error) {
    struct stat status;
    if (!word)
        return find_here(error);
    if (stat(word, &status) == 0)
        return last_of(word);
    int reason = errno;
    pid_t pid = bp_find_pid(word);
    if (pid)
        return find_by_pid(pid, error);
    bp_error_set(error, BP_FAILED, "%s: %s", word, strerror(reason));
    return NULL;
}
