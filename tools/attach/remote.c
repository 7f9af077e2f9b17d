/* SPDX-License-Identifier: MIT
 *
 * The script removes itself. It stays for a process that does not run it now: a script that is not
 * there any more would have the process print an error.
 */
#include "tools/attach/remote.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/text.h"
#include "tools/live/find.h"
#include "tools/live/trace.h"

#define OLDEST_MINOR 14
#define LOOK_NS 1000000 /* between looks whether the process records */
#define PLACE "/tmp/battprof-load-XXXXXX"

#define HAND_OVER "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])"

/* The environment is as it was when this is over. What goes wrong is no matter of the process. */
static const char script[] = "    before = {name: os.environb.get(name) for name in settings}\n"
                             "    os.environb.update(settings)\n"
                             "    try:\n"
                             "        _ctypes.dlopen(os.fsdecode(library), 2)\n"
                             "    except OSError:\n"
                             "        pass\n"
                             "    for name, value in before.items():\n"
                             "        if value is None:\n"
                             "            del os.environb[name]\n"
                             "        else:\n"
                             "            os.environb[name] = value\n"
                             "    os.unlink(place + b'/attach.py')\n"
                             "    os.rmdir(place)\n"
                             "battprof_attach()\n"
                             "del battprof_attach\n";

/* The program's file; false if that is not known. */
static bool find_program(pid_t pid, char path[PATH_MAX]) {
    char *link = bp_make_text("/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    free(link);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool bp_remote_can(pid_t pid) {
    char path[PATH_MAX], end;
    int minor = 0;
    return find_program(pid, path) &&
           sscanf(bp_base_name(path), "python3.%d%c", &minor, &end) == 1 && minor >= OLDEST_MINOR;
}

/* The first `length` bytes of `text` as a literal of Python. */
static void put_bytes(const char *text, size_t length, FILE *file) {
    fputs("b'", file);
    for (size_t i = 0; i < length; i++)
        fprintf(file, "\\x%02x", (unsigned char)text[i]);
    fputs("'", file);
}

static void write_script(const struct bp_attach_request *request, const char *place, FILE *file) {
    fputs("def battprof_attach():\n    import _ctypes, os\n    place = ", file);
    put_bytes(place, strlen(place), file);
    fputs("\n    library = ", file);
    put_bytes(request->library, strlen(request->library), file);
    fputs("\n    settings = {", file);
    for (char *const *text = request->assignments; *text; text++) {
        size_t name = strcspn(*text, "=");
        put_bytes(*text, name, file);
        fputs(": ", file);
        put_bytes(*text + name + 1, strlen(*text + name + 1), file);
        fputs(", ", file);
    }
    fprintf(file, "}\n%s", script);
}

/* Whoever the process belongs to is to read it, and to remove it. */
static int make_script(const struct bp_attach_request *request, const char *place,
                       const char *path) {
    long user = bp_trace_status(request->pid, "Uid:");
    long group = bp_trace_status(request->pid, "Gid:");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return -1;
    write_script(request, place, file);
    bool owned = geteuid() != 0 || user <= 0 ||
                 (fchown(fd, (uid_t)user, (gid_t)group) == 0 &&
                  chown(place, (uid_t)user, (gid_t)group) == 0);
    return fclose(file) == 0 && owned ? 0 : -1;
}

/* By another Python of the same version: 0 if the process will run the script. */
static int hand_over(pid_t pid, const char *path) {
    char program[PATH_MAX], number[16];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (!find_program(pid, program))
        return -1;
    snprintf(number, sizeof(number), "%d", (int)pid);
    char *const words[] = {program,           (char *)"-I", (char *)"-S", (char *)"-c",
                           (char *)HAND_OVER, number,       (char *)path, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(&child, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!failed)
        waitpid(child, &status, 0);
    return status == 0 ? 0 : -1;
}

static int wait_for_profile(pid_t pid, uint64_t patience_ns) {
    const struct timespec look = {.tv_nsec = LOOK_NS};
    uint64_t end = bp_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    do {
        char *path = bp_find_profile(pid);
        free(path);
        if (path)
            return 0;
        nanosleep(&look, NULL);
    } while (bp_clock_ns(CLOCK_MONOTONIC) < end);
    return -1;
}

int bp_remote_attach(const struct bp_attach_request *request, uint64_t patience_ns) {
    char place[] = PLACE;
    if (!mkdtemp(place))
        return -1;
    char *path = bp_make_text("%s/attach.py", place);
    int result = -1;
    if (make_script(request, place, path) || hand_over(request->pid, path)) {
        unlink(path);
        rmdir(place);
    } else {
        result = wait_for_profile(request->pid, patience_ns);
    }
    free(path);
    return result;
}
