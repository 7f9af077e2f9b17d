/* SPDX-License-Identifier: MIT
 *
 * `battprof attach`: a process that is running already is recorded from now on. Everything goes to
 * stderr, as with `run`.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/attach/attach.h"
#include "tools/attach/family.h"
#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/live/control.h"
#include "tools/live/file.h"
#include "tools/live/find.h"
#include "tools/live/trace.h"
#include "tools/render/report.h"
#include "tools/run/environment.h"
#include "tools/run/library.h"
#include "tools/run/output.h"

struct settings {
    struct bp_run_settings run;
    double for_s;
    bool children;
};

#define SETTING(member) offsetof(struct settings, member)

static const struct bp_option options[] = {
    {"output", 'o', "DIR",
     "write the profile to DIR (default battprof.PID, a new one); an existing one is kept as "
     "DIR.old",
     bp_option_text, SETTING(run.output)},
    {"for", 0, "TIME", "record for TIME (30s, 5m) or until the process ends, then stop and report",
     bp_option_time, SETTING(for_s)},
    {"children", 0, NULL,
     "also attach to the processes that it has started, and to theirs; those that it starts from "
     "now on are recorded in any case",
     bp_option_flag, SETTING(children)},
    {"dsl", 0, "PATTERN",
     "what is yours, as with run: a Python module, a file, a library, or functions of one; may be "
     "repeated",
     bp_option_list, SETTING(run.dsl)},
    {"hook", 0, "PATTERN",
     "for experts: also intercept the exported functions of libraries that match; may be repeated",
     bp_option_list, SETTING(run.hooks)},
    {"count", 0, "PATTERN",
     "for experts: also measure every call of these functions; may be "
     "repeated",
     bp_option_list, SETTING(run.count)},
    {"python-all", 0, NULL, "measure every Python function", bp_option_flag,
     SETTING(run.python_all)},
    {"task", 0, "FUNCTION", "a call of this function is a task; may be repeated", bp_option_list,
     SETTING(run.tasks)},
    {"no-wait", 0, NULL, "do not intercept blocking calls and file I/O", bp_option_flag,
     SETTING(run.no_wait)},
    {"rate", 0, "N", "sample each thread N times per second of its CPU time (default 200)",
     bp_option_number, SETTING(run.rate)},
    {"no-sampling", 0, NULL, "turn sampling off; only intercepted functions are reported",
     bp_option_flag, SETTING(run.no_sampling)},
    {"exact", 0, NULL, "time every call, even of functions that take less time than timing them",
     bp_option_flag, SETTING(run.exact)},
    {"brief", 0, NULL, "the report in 20 lines at most", bp_option_flag, SETTING(run.brief)},
    {"quiet", 'q', NULL, "print nothing but errors", bp_option_flag, SETTING(run.quiet)},
};

const struct bp_command bp_command_attach = {
    .name = "attach",
    .summary = "record a process that is already running",
    .usage = "[options] PID",
    .about =
        "Makes the process load libbattprof.so: Python 3.14 or later does so itself; else ptrace "
        "borrows one of its threads for some milliseconds, and the others run on. The process is "
        "recorded until it ends; what it did before is not in the report. If it cannot be attached "
        "to, the command says why and what would allow it, and the process goes on as it was.",
    .next = "Examples:\n"
            "  battprof attach 1234\n"
            "  battprof attach --for 30s --dsl solvers 1234\n"
            "Next: battprof top 1234",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_attach,
};

struct command {
    struct settings settings;
    struct bp_run_environment environment;
    struct bp_library library;
    struct bp_attach_request request;
    char *directory;
    char *word; /* what `stop` calls that which is recorded: a process, or the directory of a run */
    char *assignments[BP_RUN_ASSIGNMENTS + 3];
};

/* What the library reads, without what is for children alone. `tree` is the profile of the process
 * that was attached to first, or NULL. */
static void set_assignments(struct command *command, const char *tree) {
    size_t count = 0;
    bp_run_environment_profile(&command->environment, bp_library_get(&command->library),
                               command->directory, tree);
    for (char **text = command->environment.assignment; *text; text++)
        if (strncmp(*text, "BATTPROF_", 9) == 0)
            command->assignments[count++] = *text;
    command->assignments[count++] = (char *)"BATTPROF=on"; /* whatever its environment says */
    command->assignments[count] = NULL;
    command->request.assignments = command->assignments;
}

#define MOST_NAMES 1000 /* battprof.PID.2 … */

/* A directory of its own: those of other processes that are recorded may not be moved. */
static char *make_directory(pid_t pid, struct bp_error *error) {
    char *name = bp_make_text("battprof.%d", (int)pid);
    for (int i = 2; mkdir(name, 0777); i++) {
        if (errno != EEXIST || i > MOST_NAMES) {
            bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s; choose one with -o",
                         name, strerror(errno));
            free(name);
            return NULL;
        }
        free(name);
        name = bp_make_text("battprof.%d.%d", (int)pid, i);
    }
    char *whole = realpath(name, NULL);
    if (!whole)
        bp_error_set(error, BP_FAILED, "%s: %s", name, strerror(errno));
    free(name);
    return whole;
}

/* It is to write there, and may belong to somebody else. */
static int prepare_output(struct command *command, struct bp_error *error) {
    const char *wish = command->settings.run.output;
    long user = bp_trace_status(command->request.pid, "Uid:");
    long group = bp_trace_status(command->request.pid, "Gid:");
    command->directory =
        wish ? bp_output_prepare(wish, error) : make_directory(command->request.pid, error);
    command->request.directory = command->directory;
    if (!command->directory)
        return -1;
    if (geteuid() == 0 && user > 0 && chown(command->directory, (uid_t)user, (gid_t)group))
        return bp_error_set(error, BP_FAILED, "%s cannot be given to user %ld: %s",
                            command->directory, user, strerror(errno));
    return 0;
}

/* The profile of a process that has the library. */
struct recording {
    char since[32];
    bool paused;
};

static void look_at(struct recording *recording, const char *path) {
    struct bp_live_file file;
    *recording = (struct recording){.since = "its start"};
    if (bp_live_file_open(&file, path))
        return;
    const struct bp_header *header = bp_live_file_header(&file);
    time_t when = (time_t)(header->first.realtime_ns / 1000000000u);
    struct tm local;
    if (localtime_r(&when, &local))
        strftime(recording->since, sizeof(recording->since), "%F %T", &local);
    recording->paused = header->wanted & BP_WANTED_PAUSED;
    bp_live_file_close(&file);
}

static int say_recorded(pid_t pid, const char *path, const char *since, struct bp_error *error) {
    char *words[] = {(char *)path, NULL};
    char *quoted = bp_quote_words(words);
    bp_error_set(error, BP_FAILED,
                 "process %d is being recorded already, since %s, in %s; to watch it:\n%s top %d",
                 (int)pid, since, quoted, bp_invoked(), (int)pid);
    free(quoted);
    return -1;
}

/* The process has the library: a paused recording goes on, another one needs nothing. */
static int resume(struct command *command, const char *path, struct bp_error *error) {
    struct recording recording;
    pid_t pid = command->request.pid;
    look_at(&recording, path);
    if (!recording.paused)
        return say_recorded(pid, path, recording.since, error);
    command->word = bp_make_text("%d", (int)pid);
    command->directory = bp_make_text("%.*s", (int)(bp_base_name(path) - path), path);
    if (bp_control_switch(command->word, false, stderr, error))
        return -1;
    if (!command->settings.run.quiet)
        bp_note("process %d was paused; its recording goes on in %s", (int)pid, command->directory);
    return 0;
}

static void say_attached(const struct command *command, const struct bp_attach_result *result) {
    if (command->settings.run.quiet)
        return;
    double for_s = command->settings.for_s;
    char *until = for_s > 0 ? bp_make_text("for %g s", for_s) : bp_copy_text("until it ends");
    bp_note("process %d is being recorded %s, in %s; %s %d %s for %.1f ms",
            (int)command->request.pid, until, command->directory,
            result->by_script ? "its Python loaded the library, thread" : "thread",
            (int)result->tid, result->by_script ? "was busy with it" : "stood still",
            (double)result->stopped_ns * 1e-6);
    free(until);
}

/* Those that cannot be attached to are named, and the others are. */
static void attach_children(struct command *command) {
    struct bp_family family;
    char *tree = bp_find_profile(command->request.pid);
    bp_family_init(&family, command->request.pid);
    set_assignments(command, tree);
    for (uint32_t i = 0; i < family.count; i++) {
        struct bp_attach_result result;
        struct bp_error trouble = {0};
        char *path = bp_find_profile(family.pids[i]);
        command->request.pid = family.pids[i];
        if (!path && bp_attach(&command->request, &result, &trouble))
            bp_note("child left out: %s", trouble.text);
        else if (!path)
            say_attached(command, &result);
        free(path);
        bp_error_fini(&trouble);
    }
    bp_family_fini(&family);
    free(tree);
}

/* A command that was killed had the library loaded a moment ago: then it records to where that one
 * said, and ours was no more than another reference to it. */
static int check_directory(const struct command *command, struct bp_error *error) {
    struct recording recording;
    pid_t pid = command->request.pid;
    char *path = bp_find_profile(pid);
    char *ours = bp_make_text("%s/%s", command->directory, path ? bp_base_name(path) : "");
    int failed = 0;
    if (path && access(ours, F_OK) != 0) {
        rmdir(command->directory); /* nothing is in it */
        look_at(&recording, path);
        failed = say_recorded(pid, path, recording.since, error);
    }
    free(ours);
    free(path);
    return failed;
}

static int attach(struct command *command, struct bp_error *error) {
    struct bp_attach_result result;
    pid_t pid = command->request.pid;
    char *path = bp_find_profile(pid);
    int failed = path ? resume(command, path, error) : 0;
    bool had_library = path != NULL;
    free(path);
    if (failed || had_library)
        return failed;
    if (bp_library_open(&command->library, error))
        return -1;
    command->request.library = bp_library_get(&command->library);
    char *refusal = bp_attach_refusal(&command->request);
    if (refusal)
        failed = bp_error_set(error, BP_FAILED, "process %d: %s", (int)pid, refusal);
    free(refusal);
    if (failed || prepare_output(command, error))
        return -1;
    set_assignments(command, NULL);
    if (bp_attach(&command->request, &result, error)) {
        rmdir(command->directory); /* nothing is in it */
        return -1;
    }
    if (check_directory(command, error))
        return -1;
    say_attached(command, &result);
    if (command->settings.children)
        attach_children(command);
    command->request.pid = pid;
    command->word = bp_copy_text(command->directory);
    return 0;
}

/* A line that is written anew, for the person who waits. */
static void show_time(const struct command *command, double past_s) {
    if (isatty(STDERR_FILENO) && !command->settings.run.quiet)
        fprintf(stderr, "\rbattprof: %.0f of %.0f s ", past_s, command->settings.for_s);
}

static double now_s(void) {
    return (double)bp_clock_ns(CLOCK_MONOTONIC) * 1e-9;
}

static void wait_for_end(const struct command *command) {
    double begin = now_s(), past = 0;
    const struct timespec step = {.tv_nsec = 100000000};
    while (past < command->settings.for_s && kill(command->request.pid, 0) == 0) {
        show_time(command, past);
        nanosleep(&step, NULL);
        past = now_s() - begin;
    }
    if (isatty(STDERR_FILENO) && !command->settings.run.quiet)
        fputs("\r\033[K", stderr);
}

/* The time is over: the process goes on unrecorded. One that has ended needs no word. */
static void stop(const struct command *command) {
    struct bp_error error = {0};
    if (kill(command->request.pid, 0) == 0 &&
        bp_control_switch(command->word, true, stderr, &error))
        bp_error_print(&error);
}

static void report(const struct command *command) {
    struct bp_report_settings settings;
    struct bp_error error = {0};
    bp_report_defaults(&settings);
    settings.brief = command->settings.run.brief;
    settings.brief_if_long = true;
    settings.no_pager = true;
    if (bp_report_print(command->directory, &settings, stderr, &error))
        bp_error_print(&error);
    if (kill(command->request.pid, 0) == 0) {
        char *words[] = {command->word, NULL};
        char *quoted = bp_quote_words(words);
        bp_note(
            "process %d goes on and is not recorded any more; to record more of it:\n%s start %s",
            (int)command->request.pid, bp_invoked(), quoted);
        free(quoted);
    }
}

static void hint(const struct command *command) {
    if (!command->settings.run.quiet)
        fprintf(stderr, "battprof: watch it with: %s top %d\n", bp_invoked(),
                (int)command->request.pid);
}

int bp_cmd_attach(int argc, char **argv, struct bp_error *error) {
    static struct command command; /* zero; too big for the stack's taste */
    int first = bp_options_parse(&bp_command_attach, &command.settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    command.request.pid = argc - first == 1 ? bp_find_pid(argv[first]) : 0;
    if (!command.request.pid) {
        bp_error_set(error, BP_USAGE,
                     "attach: give the number of one process: battprof attach 1234");
        return BP_USAGE;
    }
    int failed = bp_run_environment_init(&command.environment, &command.settings.run, error) != 0 ||
                 attach(&command, error) != 0;
    if (!failed && command.settings.for_s > 0) {
        wait_for_end(&command);
        stop(&command);
        if (!command.settings.run.quiet)
            report(&command);
    } else if (!failed) {
        hint(&command);
    }
    bp_run_environment_fini(&command.environment);
    bp_library_close(&command.library);
    free(command.directory);
    free(command.word);
    return failed ? (error->status ? error->status : BP_FAILED) : BP_FINE;
}
