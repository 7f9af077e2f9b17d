/* SPDX-License-Identifier: MIT
 *
 * Commands that doctor asks: words as they are, without a shell that would read marks in them.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/command/doctor/doctor.h"

/* All that comes until the other end is closed: a new text. */
static char *read_all(int fd) {
    FILE *file = fdopen(fd, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file || getdelim(&text, &size, 0, file) < 0) {
        free(text);
        text = bp_copy_text("");
    }
    if (file)
        fclose(file);
    return text;
}

static int start(const char *const *words, int out, bool errors, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (errors)
        posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

char *bp_doctor_read(const char *const *words, bool errors) {
    int ends[2];
    pid_t child;
    int status = -1;
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    int failed = start(words, ends[1], errors, &child);
    close(ends[1]);
    char *text = read_all(ends[0]);
    if (!failed)
        waitpid(child, &status, 0);
    if (status == 0)
        return text;
    free(text);
    return NULL;
}
