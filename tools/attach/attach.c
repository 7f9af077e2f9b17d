/* SPDX-License-Identifier: MIT
 *
 * Which thread: first those that wait in a system call, for they hold no lock as a rule; then any.
 * One that is not at a safe place goes on at once, and is asked again a moment later.
 */
#include "tools/attach/attach.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/clock.h"
#include "tools/attach/loan.h"
#include "tools/attach/refusal.h"
#include "tools/attach/remote.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/live/find.h"
#include "tools/live/trace.h"

/* Until some thread is at a safe place: one in a loop around malloc is so in one of ten stops, and
 * on a busy machine a stop takes its time. */
#define PATIENCE_NS 8000000000ull
#define LONGEST_PATIENCE_NS 60000000000ull
#define TRIES 3000
#define WAITERS 4 /* rounds, of which one takes threads that wait, too */
#define LOOKS 100 /* at a thread in a call with a time limit, in a round */
#define LOOK_NS 500000
#define RECORDED_NS 100000000 /* between looks whether the process is recorded meanwhile */
#define DENIALS 20            /* one after the other: it is the process that is refused */
#define SHORTEST_NS 100000    /* between rounds; doubled up to the longest */
#define LONGEST_NS 2000000
#define START_NS 3000000000ull  /* from loading the library to its profile, on a busy machine */
#define DLOPEN_MODE 0x80000000u /* __libc_dlopen_mode wants to be told that it is dlopen */

struct attempt {
    const struct bp_attach_request *request;
    struct bp_objects objects;
    struct bp_attach attach;
    struct bp_loan loan;
    struct bp_attach_result *result;
    enum bp_loan_state state;
    unsigned denied;
    char *last; /* why the last thread was left alone */
};

static uint64_t now_ns(void) {
    return bp_clock_ns(CLOCK_MONOTONIC);
}

static void pause_ns(long ns) {
    struct timespec time = {.tv_nsec = ns};
    nanosleep(&time, NULL);
}

static int add_setting(struct bp_attach *attach, size_t *used, const char *text) {
    size_t length = strlen(text) + 1;
    if (*used + length + 1 >= sizeof(attach->settings))
        return -1;
    memcpy(attach->settings + *used, text, length);
    *used += length;
    return 0;
}

static int fill(struct attempt *attempt, struct bp_error *error) {
    const struct bp_objects *objects = &attempt->objects;
    struct bp_attach *attach = &attempt->attach;
    size_t used = 0;
    attach->magic[0] = BP_ATTACH_MAGIC_0;
    attach->magic[1] = BP_ATTACH_MAGIC_1;
    attach->dlopen = bp_objects_function(objects, "dlopen");
    attach->mode = RTLD_NOW;
    if (!attach->dlopen) {
        attach->dlopen = bp_objects_function(objects, "__libc_dlopen_mode");
        attach->mode |= DLOPEN_MODE;
    } else {
        attach->dlerror = bp_objects_function(objects, "dlerror");
    }
    attach->errno_location = bp_objects_function(objects, "__errno_location");
    strncpy(attach->path, attempt->request->library, sizeof(attach->path) - 1);
    for (char *const *text = attempt->request->assignments; *text; text++)
        if (add_setting(attach, &used, *text))
            return bp_error_set(error, BP_USAGE, "attach: the settings are too long together");
    return 0;
}

/* What ptrace says of one thread holds for all; but of one that is ending it says the same, as of
 * one that the kernel did not let stop in time and that is still ours. */
static bool is_final(struct attempt *attempt) {
    int error = attempt->loan.error;
    bool alone = error == 0 || error == -ETIMEDOUT || error == -ESRCH;
    attempt->denied = alone ? 0 : attempt->denied + 1;
    if (attempt->denied < DENIALS)
        attempt->loan.error = 0;
    return attempt->loan.error != 0;
}

/* True: this is over, in one way or another. */
static bool try_thread(struct attempt *attempt, pid_t tid) {
    attempt->state = bp_loan_try(&attempt->loan, tid);
    if (attempt->state != BP_LOAN_AGAIN) {
        attempt->result->stopped_ns = attempt->loan.stopped_ns;
        attempt->result->tid = tid;
        return true;
    }
    attempt->result->tries++;
    free(attempt->last);
    attempt->last = bp_make_text("thread %d: %s", (int)tid, attempt->loan.reason);
    return is_final(attempt);
}

/* A call with a time limit that has to begin anew would wait longer than it was to; not much, if it
 * has only just begun: the thread was elsewhere a moment ago. */
static bool has_just_begun(pid_t tid) {
    long before = bp_trace_status(tid, "voluntary_ctxt_switches:"), now = before;
    for (int i = 0; i < LOOKS && now == before; i++) {
        pause_ns(LOOK_NS);
        now = bp_trace_status(tid, "voluntary_ctxt_switches:");
    }
    return now != before;
}

/* What waited at a harmful place in the first round does so in most of the next ones. */
static bool is_wanted(const struct attempt *attempt, pid_t tid, unsigned round) {
    switch (bp_trace_call(attempt->objects.pid, tid)) {
    case BP_CALL_GOES_ON:
    case BP_CALL_ENDLESS:
        return round % WAITERS == 0;
    case BP_CALL_NONE:
        return round > 0;
    case BP_CALL_TIMED:
        return round > 0 && has_just_begun(tid);
    default:
        return false;
    }
}

/* False if the process has no threads any more. */
static bool try_threads(struct attempt *attempt, unsigned round, bool *over) {
    char *path = bp_make_text("/proc/%d/task", (int)attempt->objects.pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    unsigned seen = 0;
    free(path);
    while (folder && !*over && (entry = readdir(folder)) != NULL) {
        pid_t tid = bp_find_pid(entry->d_name);
        seen += tid > 0;
        if (tid > 0 && is_wanted(attempt, tid, round))
            *over = try_thread(attempt, tid);
    }
    if (folder)
        closedir(folder);
    return seen > 0;
}

static bool is_patient(const struct attempt *attempt, uint64_t begin) {
    uint64_t past = now_ns() - begin;
    return past < PATIENCE_NS || (attempt->result->tries > 0 && attempt->result->tries < TRIES &&
                                  past < LONGEST_PATIENCE_NS);
}

/* Another command was faster, or one that was killed before: our list of files lacks the library,
 * and stacks that lead through it cannot be followed any more. */
static bool is_recorded(const struct attempt *attempt, uint64_t *looked) {
    if (now_ns() - *looked < RECORDED_NS)
        return false;
    char *path = bp_find_profile(attempt->objects.pid);
    *looked = now_ns();
    free(path);
    return path;
}

static void try_all(struct attempt *attempt) {
    uint64_t begin = now_ns(), looked = begin;
    long wait = SHORTEST_NS;
    bool over = false;
    attempt->state = BP_LOAN_AGAIN;
    for (unsigned round = 0; !over && is_patient(attempt, begin); round++) {
        if (!try_threads(attempt, round, &over)) {
            attempt->state = BP_LOAN_LOST;
            return;
        }
        if (!over && is_recorded(attempt, &looked)) {
            attempt->state = BP_LOAN_DONE;
            return;
        }
        if (over || round == 0)
            continue;
        pause_ns(wait);
        wait = 2 * wait < LONGEST_NS ? 2 * wait : LONGEST_NS;
    }
}

/* A stack that leads through a file that cannot be read cannot be followed. */
static const char *unreadable(const struct bp_objects *objects) {
    for (uint32_t i = 0; i < objects->count; i++)
        if (!objects->rows[i].elf)
            return objects->rows[i].path;
    return NULL;
}

static char *explain_last(const struct attempt *attempt) {
    const char *file = unreadable(&attempt->objects);
    if (!attempt->last)
        return bp_copy_text("all of its threads are in calls that would notice a stop");
    return bp_make_text("no thread reached a place where it can load a library; %s%s%s",
                        attempt->last, file ? "; a file of its code cannot be read: " : "",
                        file ? file : "");
}

static int explain(const struct attempt *attempt, struct bp_error *error) {
    int pid = (int)attempt->objects.pid;
    char *refusal = NULL;
    switch (attempt->state) {
    case BP_LOAN_REFUSED:
        return bp_error_set(error, BP_FAILED, "process %d could not load the library: %s", pid,
                            attempt->loan.words[0] ? attempt->loan.words : "it does not say why");
    case BP_LOAN_LOST:
        return bp_error_set(error, BP_FAILED, "process %d has ended", pid);
    case BP_LOAN_UNFINISHED:
        return bp_error_set(error, BP_FAILED,
                            "process %d is taking long to load the library, and may still be "
                            "recorded: battprof top %d",
                            pid, pid);
    default:
        if (attempt->loan.error)
            refusal = bp_trace_refusal(attempt->objects.pid, attempt->loan.error);
        if (!refusal)
            refusal = explain_last(attempt);
        bp_error_set(error, BP_FAILED, "process %d: %s", pid, refusal);
        free(refusal);
        return -1;
    }
}

static bool has_profile(const struct attempt *attempt, uint64_t patience) {
    uint64_t end = now_ns() + patience;
    do {
        char *path = bp_find_profile(attempt->objects.pid);
        free(path);
        if (path)
            return true;
        pause_ns(LONGEST_NS);
    } while (now_ns() < end);
    return false;
}

/* The library opens its profile before dlopen returns, unless the thread was given back before. */
static int wait_for_profile(const struct attempt *attempt, struct bp_error *error) {
    pid_t pid = attempt->objects.pid;
    if (has_profile(attempt, START_NS))
        return 0;
    return bp_error_set(
        error, BP_FAILED,
        "process %d has the library but writes no profile: it has ended, or cannot write to %s",
        (int)pid, attempt->request->directory);
}

static int attach(struct attempt *attempt, struct bp_error *error) {
    if (fill(attempt, error))
        return -1;
    bp_frames_prepare(&attempt->objects);
    attempt->loan = (struct bp_loan){.objects = &attempt->objects,
                                     .calls = bp_safe_calls_new(&attempt->objects),
                                     .attach = &attempt->attach,
                                     .address = bp_objects_room(&attempt->objects, bp_loan_size())};
    try_all(attempt);
    if (attempt->state == BP_LOAN_AGAIN && has_profile(attempt, 0))
        attempt->state = BP_LOAN_DONE; /* by another command, which was in the way */
    int result =
        attempt->state == BP_LOAN_DONE ? wait_for_profile(attempt, error) : explain(attempt, error);
    bp_safe_calls_free(attempt->loan.calls);
    bp_frames_forget(&attempt->objects);
    return result;
}

char *bp_attach_refusal(const struct bp_attach_request *request) {
    struct bp_objects objects = {0};
    struct bp_error trouble = {0};
    char *refusal = bp_refusal_of_process(request->pid);
    if (refusal)
        return refusal;
    if (bp_objects_init(&objects, request->pid, &trouble))
        refusal = bp_copy_text(trouble.text);
    else
        refusal = bp_refusal_of_objects(&objects, request);
    if (!refusal && bp_remote_refusal(&objects))
        refusal = bp_refusal_of_ptrace(request->pid);
    bp_objects_fini(&objects);
    bp_error_fini(&trouble);
    return refusal;
}

const char *bp_attach_remote_refusal(pid_t pid) {
    struct bp_objects objects = {0};
    struct bp_error trouble = {0};
    bool gone = bp_objects_init(&objects, pid, &trouble) != 0;
    const char *refusal = gone ? "its memory cannot be read" : bp_remote_refusal(&objects);
    bp_objects_fini(&objects);
    bp_error_fini(&trouble);
    return refusal;
}

/* Its own interpreter first, then a thread that is borrowed. */
static int attach_some_way(struct attempt *attempt, struct bp_error *error) {
    const struct bp_attach_request *request = attempt->request;
    struct bp_attach_result *result = attempt->result;
    result->by_script =
        bp_remote_load(&attempt->objects, request, result) && has_profile(attempt, 0);
    if (result->by_script)
        return 0;
    char *refusal = bp_refusal_of_ptrace(request->pid);
    bool remote = !bp_remote_refusal(&attempt->objects);
    int failed = refusal ? bp_error_set(error, BP_FAILED, "process %d: %s%s", (int)request->pid,
                                        remote ? "its main thread runs no Python code now, and no "
                                                 "other thread may be borrowed: "
                                               : "",
                                        refusal)
                         : attach(attempt, error);
    free(refusal);
    return failed;
}

int bp_attach(const struct bp_attach_request *request, struct bp_attach_result *result,
              struct bp_error *error) {
    struct attempt *attempt = bp_alloc(1, sizeof(*attempt));
    attempt->request = request;
    attempt->result = result;
    *result = (struct bp_attach_result){0};
    char *refusal = bp_refusal_of_process(request->pid);
    int failed = refusal ? -1 : bp_objects_init(&attempt->objects, request->pid, error);
    if (!failed)
        refusal = bp_refusal_of_objects(&attempt->objects, request);
    if (refusal)
        failed = bp_error_set(error, BP_FAILED, "process %d: %s", (int)request->pid, refusal);
    if (!failed)
        failed = attach_some_way(attempt, error);
    free(refusal);
    free(attempt->last);
    bp_objects_fini(&attempt->objects);
    free(attempt);
    return failed;
}
