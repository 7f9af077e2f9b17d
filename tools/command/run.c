/* SPDX-License-Identifier: MIT
 *
 * `battprof run`: the target and all its children under libbattprof.so, then the report. Whatever
 * is wrong and can be mended — no library, no space, no rights, a mistake in the rules — is said
 * before the target starts, and keeps it from starting: an hour of work must not end without its
 * profile. With --keep-going it runs all the same. Everything goes to stderr: stdout is the
 * target's.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/command/page.h"
#include "tools/command/suggest.h"
#include "tools/render/report.h"
#include "tools/rules/rules.h"
#include "tools/run/environment.h"
#include "tools/run/library.h"
#include "tools/run/output.h"
#include "tools/run/progress.h"
#include "tools/run/project.h"
#include "tools/run/session.h"
#include "tools/run/target.h"
#include "tools/symbols/elf_probe.h"

struct run {
    struct bp_run_settings settings;
    struct bp_run_environment environment;
    struct bp_target target;
    struct bp_probe probe;
    struct bp_library library;
    char *output;
    char *directory; /* of this repetition; without any, `output` */
    char *project;
    char *rules; /* to be kept in the profile, or NULL */
    int worst;   /* status of the repetition that ended worst, as from wait(2) */
    struct bp_session session;
    bool profiled;
    uint64_t ended; /* ticks */
};

/* Takes the trouble: an error of ours or, with --keep-going, a note with what happens `instead`. */
static int refuse(const struct run *run, struct bp_error *trouble, const char *instead,
                  struct bp_error *error) {
    int result = 0;
    if (run->settings.keep_going)
        bp_note("%s; %s", trouble->text, instead);
    else
        result = bp_error_set(error, BP_RUN_FAILED, "%s. Nothing was run; with --keep-going %s",
                              trouble->text, instead);
    bp_error_fini(trouble);
    return result;
}

static int check_rules(struct run *run, struct bp_error *error) {
    struct bp_error trouble = {0};
    if (!run->settings.rules)
        return 0;
    struct bp_rules *rules = bp_rules_new(run->settings.rules, &trouble);
    if (rules && bp_run_environment_add_dsl(&run->environment, bp_rules_dsl(rules)))
        bp_error_set(&trouble, BP_FAILED,
                     "%s: its dsl patterns and those of the command line are too long together",
                     run->settings.rules);
    if (rules)
        run->rules = bp_rules_print(rules);
    if (rules && bp_run_environment_add_tasks(&run->environment, bp_rules_tasks(rules)))
        bp_error_set(&trouble, BP_FAILED,
                     "%s: its tasks and those of the command line are too long together",
                     run->settings.rules);
    bp_rules_free(rules);
    if (!bp_error_is_set(&trouble))
        return 0;
    run->settings.rules = NULL;
    return refuse(run, &trouble, "the report uses the built-in rules", error);
}

/* A page that cannot be written is known now, not after an hour. */
static int check_page(struct run *run, struct bp_error *error) {
    const char *path = run->settings.html;
    const char *name = path ? bp_base_name(path) : "";
    struct bp_error trouble = {0};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    char *folder =
        name == path ? bp_copy_text(".") : bp_make_text("%.*s", (int)(name - path), path);
    if (access(access(path, F_OK) == 0 ? path : folder, W_OK))
        bp_error_set(&trouble, BP_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    free(folder);
    if (!bp_error_is_set(&trouble))
        return 0;
    run->settings.html = NULL;
    return refuse(run, &trouble, "there is no page", error);
}

#define UNPROFILED "the target runs unprofiled"

static int prepare(struct run *run, struct bp_error *error) {
    const char *output = run->settings.output ? run->settings.output : BP_DEFAULT_OUTPUT;
    run->project = bp_project_find();
    if (bp_library_open(&run->library, error) == 0)
        run->output = bp_output_prepare(output, error);
    return run->output ? 0 : -1;
}

/* BATTPROF=paused says the same without the command. */
static bool begins_paused(const struct run *run) {
    const char *given = getenv("BATTPROF");
    return run->settings.paused || (given && strcmp(given, "paused") == 0);
}

/* `number` is 0 if there is one run only. */
static int prepare_run(struct run *run, unsigned number, struct bp_error *error) {
    free(run->directory);
    run->directory =
        number ? bp_output_add_run(run->output, number, error) : bp_copy_text(run->output);
    if (!run->directory)
        return -1;
    struct bp_session_about about = {.directory = run->directory,
                                     .command = run->target.argv,
                                     .executable = bp_text_get(&run->probe.path),
                                     .hooks = bp_text_get(&run->environment.hooks),
                                     .project = run->project,
                                     .rules = run->settings.rules ? run->rules : "",
                                     .paused = begins_paused(run)};
    if (bp_session_init(&run->session, &about, error))
        return -1;
    bp_run_environment_profile(&run->environment, bp_library_get(&run->library), run->directory,
                               run->session.path);
    return 0;
}

/* True if it is worth preparing a profile. A foreign loader would only complain about our library,
 * or, musl's, refuse to run the program. */
static bool check_program(const struct run *run) {
    enum bp_probe_kind kind = run->probe.kind;
    if (kind == BP_PROBE_FINE)
        return true;
    bp_note("%s %s%s", bp_text_get(&run->probe.program), bp_probe_reason(kind),
            kind == BP_PROBE_UNREADABLE ? "" : ". It runs unprofiled");
    return kind != BP_PROBE_32BIT && kind != BP_PROBE_MACHINE && kind != BP_PROBE_LIBC;
}

static void explain_empty(const struct run *run) {
    enum bp_probe_kind kind = run->probe.kind;
    if (kind != BP_PROBE_FINE && kind != BP_PROBE_UNREADABLE)
        bp_note("nothing was recorded in %s, as announced", run->directory);
    else
        bp_note("nothing was recorded: no process loaded %s or could write to %s (sudo, env -i and "
                "containers hide both); what this machine can do:\n%s doctor",
                bp_library_get(&run->library), run->directory, bp_invoked());
}

/* A page that cannot be written does not change the target's status. */
static void write_page(const struct run *run) {
    struct bp_report_settings settings;
    struct bp_error error = {0};
    bp_report_defaults(&settings);
    settings.rules = run->settings.rules;
    settings.html = run->settings.html;
    if (bp_page_write(run->directory, NULL, &settings, &error))
        bp_error_print(&error);
}

static void print_report(const struct run *run, const char *directory) {
    struct bp_report_settings settings;
    struct bp_error error = {0};
    bp_report_defaults(&settings);
    settings.rules = run->settings.rules;
    settings.brief = run->settings.brief;
    settings.brief_if_long = true;
    settings.no_pager = true;
    if (bp_report_print(directory, &settings, stderr, &error))
        bp_error_print(&error);
}

static void tell_running(const struct run *run, unsigned running) {
    char *command = bp_hint_report(run->directory, "");
    bp_note("%u process%s of the run %s not ended; see them later with:\n%s", running,
            running == 1 ? "" : "es", running == 1 ? "has" : "have", command);
    free(command);
}

static void report(struct run *run, unsigned running) {
    if (bp_output_count(run->directory) <= 0) {
        explain_empty(run);
        return;
    }
    /* First: whoever reads the report may go away (| head), and this process with it. */
    if (run->settings.html && !run->settings.repeat)
        write_page(run);
    if (!run->settings.quiet && !run->settings.repeat)
        print_report(run, run->directory);
    if (running)
        tell_running(run, running);
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

/* For the person who waits at a terminal; a log needs no such line. Not wrapped: it has a command
 * to copy. */
static void announce(const struct run *run) {
    if (!isatty(STDERR_FILENO) || run->settings.quiet)
        return;
    char *words[] = {run->directory, NULL};
    char *quoted = bp_quote_words(words);
    fprintf(stderr, "battprof: recording; watch it with: %s top %s\n", bp_invoked(), quoted);
    free(quoted);
}

static int run_target(struct run *run, struct bp_error *error) {
    unsigned running = 0;
    if (run->profiled)
        announce(run);
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
            if (refuse(run, &trouble, UNPROFILED, error)) {
                rmdir(run->output); /* nothing is in it, unless earlier runs are */
                return -1;
            }
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
    if (run->profiled && run->settings.repeat && !run->settings.quiet)
        print_report(run, run->output);
    return 0;
}

static int start(struct run *run, const struct bp_typed *typed, struct bp_error *error) {
    struct bp_error trouble = {0};
    run->target.argv = (char **)typed->words;
    run->target.environment = run->environment.assignment;
    if (bp_run_environment_init(&run->environment, &run->settings, error))
        return -1;
    bp_probe_command(typed->words[0], &run->probe);
    if (bp_suggest_instead(&run->probe, typed, error) || check_rules(run, error) ||
        check_page(run, error))
        return -1;
    if (check_program(run)) {
        run->profiled = prepare(run, &trouble) == 0;
        if (!run->profiled && refuse(run, &trouble, UNPROFILED, error))
            return -1;
    }
    int result = run_all(run, error);
    bp_library_close(&run->library);
    return result;
}

static void run_fini(struct run *run) {
    bp_run_environment_fini(&run->environment);
    bp_probe_fini(&run->probe);
    free(run->output);
    free(run->directory);
    free(run->project);
    free(run->rules);
}

static void end_before_start(void) {
    exit(BP_RUN_FAILED);
}

int bp_cmd_run(int argc, char **argv, struct bp_error *error) {
    static struct run run; /* zero; too big for the stack's taste */
    bp_memory_at_end("; nothing was run", end_before_start);
    int first = bp_options_parse(&bp_command_run, &run.settings, argc, argv, error);
    if (first == 0)
        return BP_FINE;
    if (first == argc)
        bp_error_set(error, BP_USAGE, "run: no command; try:\n%s run -- ./run_batt", bp_invoked());
    struct bp_typed typed = {argv + 1, argv + first};
    if (first < 0 || first == argc || start(&run, &typed, error)) {
        if (error->status < BP_RUN_FAILED) /* less would pass for the target's own */
            error->status = BP_RUN_FAILED;
        return error->status;
    }
    run_fini(&run);
    return bp_target_leave(&run.target);
}
