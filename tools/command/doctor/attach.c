/* SPDX-License-Identifier: MIT
 *
 * `battprof doctor attach [PID]`: which ways lead to a process that is running already. Without
 * one, a process of our own is attached to, for it is the only proof.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/attach/attach.h"
#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/paths.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/command/doctor/doctor.h"
#include "tools/live/find.h"
#include "tools/run/library.h"

#define PLACE "/tmp/battprof-doctor-XXXXXX"

/* Whether it is recorded already. */
static bool check_loaded(pid_t pid, struct bp_finding *finding) {
    char *path = pid ? bp_find_profile(pid) : NULL;
    if (path)
        bp_finding_set(finding, BP_GOOD, "it is being recorded, in %s", path);
    else if (pid)
        bp_finding_set(finding, BP_ABSENT,
                       "it is not being recorded yet; the library has to be loaded into it");
    else
        bp_finding_set(finding, BP_GOOD, "a process that is being recorded needs nothing more");
    free(path);
    return path;
}

static void check_remote(pid_t pid, struct bp_finding *finding) {
    const char *refusal = pid ? bp_attach_remote_refusal(pid) : NULL;
    if (!pid)
        bp_finding_set(finding, BP_ABSENT,
                       "a Python 3.14 or 3.15 is asked to load the library itself, where ptrace "
                       "would be allowed");
    else if (refusal)
        bp_finding_set(finding, BP_ABSENT, "not by the process's own interpreter: %s", refusal);
    else
        bp_finding_set(finding, BP_GOOD, "its Python will be asked to load the library");
}

/* A process that waits: the trial's target. */
static pid_t start_sleeper(void) {
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(127);
    }
    const struct timespec moment = {.tv_nsec = 100000000}; /* until it is what it is to be */
    nanosleep(&moment, NULL);
    return pid;
}

static void remove_place(const char *place) {
    struct bp_paths paths = {0};
    char *pattern = bp_make_text("%s/battprof.*.bp", place);
    bp_paths_add(&paths, pattern);
    for (uint32_t i = 0; i < paths.count; i++)
        unlink(paths.path[i]);
    bp_paths_fini(&paths);
    rmdir(place);
    free(pattern);
}

static bool is_fine(const char *refusal, struct bp_finding *finding) {
    if (refusal)
        bp_finding_set(finding, BP_BAD, "%s", refusal);
    return !refusal;
}

/* Attaches for once. */
static bool try(const char *library, struct bp_finding *finding) {
    char place[] = PLACE;
    pid_t pid = mkdtemp(place) ? start_sleeper() : -1;
    struct bp_attach_result result;
    struct bp_error error = {0};
    char *directory = bp_make_text("BATTPROF_DIR=%s", place);
    char *const assignments[] = {directory, (char *)"BATTPROF_QUIET=1", (char *)"BATTPROF=on",
                                 NULL};
    struct bp_attach_request request = {
        .pid = pid, .library = library, .directory = place, .assignments = assignments};
    bool fine = pid > 0 && bp_attach(&request, &result, &error) == 0;
    if (fine)
        bp_finding_set(finding, BP_GOOD, "works on a process of yours: it stood still for %.1f ms",
                       (double)result.stopped_ns * 1e-6);
    else
        bp_finding_set(finding, BP_BAD, "does not work on a process of yours: %s",
                       error.text ? error.text : strerror(errno));
    if (pid > 0 && kill(pid, SIGKILL) == 0)
        waitpid(pid, NULL, 0);
    remove_place(place);
    free(directory);
    bp_error_fini(&error);
    return fine;
}

static bool check_ptrace(pid_t pid, struct bp_finding *finding) {
    struct bp_library library;
    struct bp_error error = {0};
    bool fine = bp_library_open(&library, &error) == 0;
    if (!fine)
        bp_finding_set(finding, BP_BAD, "%s", error.text);
    bp_error_fini(&error);
    if (!fine)
        return false;
    if (!pid) {
        fine = try(bp_library_get(&library), finding);
    } else {
        struct bp_attach_request request = {.pid = pid, .library = bp_library_get(&library)};
        char *refusal = bp_attach_refusal(&request);
        fine = is_fine(refusal, finding);
        if (fine)
            bp_finding_set(finding, BP_GOOD, "no obstacle found");
        free(refusal);
    }
    bp_library_close(&library);
    return fine;
}

/* The exit status: whether one of the ways leads there. */
static int print_all(pid_t pid) {
    struct bp_finding loaded = {0}, remote = {0}, ptrace = {0};
    bool is_loaded = check_loaded(pid, &loaded);
    bp_doctor_print("recorded", &loaded);
    check_remote(pid, &remote);
    bp_doctor_print("remote_exec", &remote);
    if (is_loaded) {
        printf("\nNext: %s top %d\n", bp_invoked(), (int)pid);
        return BP_FINE;
    }
    bool fine = check_ptrace(pid, &ptrace);
    bp_doctor_print("ptrace", &ptrace);
    if (!fine)
        printf("\n%s\n", pid ? "This process cannot be attached to."
                             : "Processes that are running already cannot be attached to here.");
    else if (pid)
        printf("\nNext: %s attach %d\n", bp_invoked(), (int)pid);
    else
        printf("\nNext: %s doctor attach PID\n", bp_invoked());
    return fine ? BP_FINE : BP_FAILED;
}

int bp_doctor_attach(int count, char **words, struct bp_error *error) {
    pid_t pid = count == 1 ? bp_find_pid(words[0]) : 0;
    if (count > 1 || (count == 1 && !pid)) {
        bp_error_set(error, BP_USAGE,
                     "doctor attach: give the number of one process: battprof doctor attach 1234");
        return BP_USAGE;
    }
    return print_all(pid);
}
