/* SPDX-License-Identifier: MIT
 *
 * `battprof run`: the target and all its children under libbattprof.so, then the report. Whatever
 * is wrong with the profiling — no library, no space, no rights — is said in one sentence and the
 * target runs all the same; only a mistyped command line keeps it from starting. Everything goes to
 * stderr: stdout is the target's.
 */
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#include "tools/commands.h"
#include "tools/elf_probe.h"
#include "tools/library.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/rules.h"
#include "tools/run_environment.h"
#include "tools/session.h"
#include "tools/target.h"

struct run {
    struct bp_run_settings settings;
    struct bp_run_environment environment;
    struct bp_target target;
    struct bp_probe probe;
    char library[PATH_MAX];
    char output[PATH_MAX];
    char directory[PATH_MAX]; /* of this repetition; without any, `output` */
    int worst;                /* status of the repetition that ended worst, as from wait(2) */
    struct bp_session session;
    bool profiled;
    uint64_t ended; /* ticks */
};

/* A rule file with a slip must not cost an hour of profiling: said before, left out after. */
static void check_rules(struct run *run) {
    struct bp_error error = {0};
    if (!run->settings.rules)
        return;
    struct bp_rules *rules = bp_rules_new(run->settings.rules, &error);
    if (!rules) {
        bp_note("%s; the report will use the built-in rules", error.text);
        run->settings.rules = NULL;
    } else if (bp_run_environment_add_tasks(&run->environment, bp_rules_tasks(rules))) {
        bp_note("%s: no room for its tasks beside those of the command line", run->settings.rules);
    }
    bp_rules_free(rules);
}

static int prepare(struct run *run, struct bp_error *error) {
    const char *output = run->settings.output ? run->settings.output : BP_DEFAULT_OUTPUT;
    if (bp_library_find(run->library, error) || bp_library_avoid_blanks(run->library, error))
        return -1;
    return bp_output_prepare(output, run->output, error);
}

/* `number` is 0 if there is one run only. */
static int prepare_run(struct run *run, unsigned number, struct bp_error *error) {
    struct bp_session_about about = {run->directory, run->target.argv, run->probe.path,
                                     run->environment.hooks};
    snprintf(run->directory, sizeof run->directory, "%s", run->output);
    if (number && bp_output_add_run(run->output, number, run->directory, error))
        return -1;
    if (bp_session_init(&run->session, &about, error))
        return -1;
    bp_run_environment_profile(&run->environment, run->library, run->directory, run->session.path);
    return 0;
}

/* True if it is worth preparing a profile. A foreign loader would only complain about our library,
 * or, musl's, refuse to run the program. */
static bool check_program(const struct run *run) {
    enum bp_probe_kind kind = run->probe.kind;
    if (kind == BP_PROBE_FINE)
        return true;
    if (kind == BP_PROBE_NOT_FOUND || kind == BP_PROBE_NOT_EXECUTABLE)
        return false; /* exec is about to say so */
    bp_note("%s %s%s", run->probe.program, bp_probe_reason(kind),
            kind == BP_PROBE_UNREADABLE ? "" : ". It runs unprofiled");
    return kind != BP_PROBE_32BIT && kind != BP_PROBE_MACHINE && kind != BP_PROBE_LIBC;
}

static void explain_empty(const struct run *run) {
    enum bp_probe_kind kind = run->probe.kind;
    if (kind != BP_PROBE_FINE && kind != BP_PROBE_UNREADABLE)
        bp_note("nothing was recorded in %s, as announced", run->directory);
    else
        bp_note("nothing was recorded: no process loaded %s or could write to %s (sudo, env -i and "
                "containers hide both); battprof doctor tests this machine",
                run->library, run->directory);
}

static void report(struct run *run, unsigned running) {
    struct bp_error error = {0};
    if (bp_output_count(run->directory) <= 0) {
        explain_empty(run);
        return;
    }
    if (!run->settings.quiet && !run->settings.repeat &&
        bp_report_print(run->directory, run->settings.rules, stderr, &error))
        bp_error_print(&error);
    if (running)
        bp_note("%u process%s of the run %s not ended; see them later with: battprof report %s",
                running, running == 1 ? "" : "es", running == 1 ? "has" : "have", run->directory);
}

#define PROGRESS_MS 500

/* Where the kernel cannot wait for a time, all lines come at the end. */
static void wait_for_target(struct run *run) {
    struct bp_progress *progress = NULL;
    if (run->profiled && run->settings.progress)
        progress = bp_progress_new(run->directory, run->session.header->ticks_per_s);
    while (progress && bp_target_wait_for(&run->target, PROGRESS_MS) == 0)
        bp_progress_poll(progress);
    bp_target_wait(&run->target);
    if (run->profiled)
        run->ended = bp_session_now(&run->session);
    if (progress)
        bp_progress_poll(progress);
    bp_progress_free(progress);
}

static int run_target(struct run *run, struct bp_error *error) {
    unsigned running = 0;
    if (run->profiled)
        bp_session_begin(&run->session);
    int failed = bp_target_start(&run->target, error);
    if (!failed) {
        if (run->profiled)
            bp_session_started(&run->session);
        wait_for_target(run);
        bp_target_reap(&run->target);
    }
    if (run->profiled) {
        if (!failed)
            running =
                bp_session_end(&run->session, run->target.pid, run->target.status, run->ended);
        bp_session_fini(&run->session);
        if (!failed)
            report(run, running);
    }
    return failed ? -1 : 0;
}

/* Any signal is worse than any exit, and a higher number worse than a lower. */
static void keep_worst(struct run *run) {
    int status = run->target.status;
    bool worse = WIFSIGNALED(status) != WIFSIGNALED(run->worst)
                     ? WIFSIGNALED(status)
                     : WEXITSTATUS(status) > WEXITSTATUS(run->worst) ||
                           WTERMSIG(status) > WTERMSIG(run->worst);
    if (worse)
        run->worst = status;
}

/* Who interrupts one repetition means all. */
static bool was_interrupted(int status) {
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT ||
                                   WTERMSIG(status) == SIGTERM);
}

static int run_all(struct run *run, struct bp_error *error) {
    unsigned count = run->settings.repeat ? run->settings.repeat : 1;
    struct bp_error trouble = {0};
    for (unsigned i = 1; i <= count; i++) {
        if (run->profiled && prepare_run(run, run->settings.repeat ? i : 0, &trouble)) {
            bp_note("%s. The target runs unprofiled", trouble.text);
            run->profiled = false;
            bp_run_environment_keep(&run->environment, run->environment.lasting);
        }
        if (run_target(run, error))
            return -1;
        keep_worst(run);
        if (was_interrupted(run->target.status))
            break;
    }
    run->target.status = run->worst;
    if (run->profiled && run->settings.repeat && !run->settings.quiet &&
        bp_report_print(run->output, run->settings.rules, stderr, &trouble))
        bp_error_print(&trouble);
    return 0;
}

static int start(struct run *run, char **command, struct bp_error *error) {
    struct bp_error trouble = {0};
    run->target.argv = command;
    run->target.environment = run->environment.assignment;
    if (bp_run_environment_init(&run->environment, &run->settings, error))
        return -1;
    bp_probe_command(command[0], &run->probe);
    check_rules(run);
    if (check_program(run)) {
        run->profiled = prepare(run, &trouble) == 0;
        if (!run->profiled)
            bp_note("%s. The target runs unprofiled", trouble.text);
    }
    int result = run_all(run, error);
    bp_library_unlink(run->library);
    return result;
}

int bp_cmd_run(int argc, char **argv, struct bp_error *error) {
    static struct run run; /* zero; too big for the stack's taste */
    int first = bp_options_parse(&bp_command_run, &run.settings, argc, argv, error);
    if (first == 0)
        return BP_FINE;
    if (first == argc)
        bp_error_set(error, BP_USAGE, "run: no command; try: battprof run -- ./run_batt");
    if (first < 0 || first == argc || start(&run, argv + first, error)) {
        if (error->status < BP_RUN_FAILED) /* less would pass for the target's own */
            error->status = BP_RUN_FAILED;
        return error->status;
    }
    bp_run_environment_keep(&run.environment, 0);
    return bp_target_leave(&run.target);
}
