/* SPDX-License-Identifier: MIT
 *
 * `battprof run`: the target and all its children under libbattprof.so, then the report. Whatever
 * is wrong with the profiling — no library, no space, no rights — is said in one sentence and the
 * target runs all the same; only a mistyped command line keeps it from starting. Everything goes to
 * stderr: stdout is the target's.
 */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/commands.h"
#include "tools/elf_probe.h"
#include "tools/library.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/rules.h"
#include "tools/session.h"
#include "tools/target.h"
#include "tools/task_rules.h"

struct settings {
    const char *output;
    struct bp_words hooks;
    bool no_wait;
    struct bp_words python;
    bool python_all;
    struct bp_words count;
    struct bp_words tasks;
    struct bp_words phases;
    struct bp_words samples;
    struct bp_words generators;
    bool progress;
    unsigned rate;
    bool no_sample;
    const char *device;
    const char *cuda;
    bool check_transfers;
    const char *rules;
    bool quiet;
    unsigned repeat; /* 0: once, and no series */
};

static const struct bp_option options[] = {
    {"output", 'o', "DIR",
     "write the profile to DIR (default " BP_DEFAULT_OUTPUT "); one that is there is kept as "
     "DIR.old",
     bp_option_text, offsetof(struct settings, output)},
    {"hook", 0, "PATTERN",
     "also intercept the exported functions of libraries that match, as 'lib*.so*', or single "
     "functions, as 'lib.so:sym*'; may be repeated",
     bp_option_list, offsetof(struct settings, hooks)},
    {"no-wait", 0, NULL, "do not intercept blocking calls and file I/O", bp_option_flag,
     offsetof(struct settings, no_wait)},
    {"python", 0, "GLOB",
     "measure the functions of the Python modules that match (default dsl); none: no Python "
     "functions; may be repeated",
     bp_option_list, offsetof(struct settings, python)},
    {"python-all", 0, NULL, "measure every Python function", bp_option_flag,
     offsetof(struct settings, python_all)},
    {"count", 0, "PATTERN",
     "also measure every call of these functions, without making them DSL: 'logging:*', "
     "'json.*:dump*' of Python modules, 'libm.so*:sin*' of libraries; may be repeated",
     bp_option_list, offsetof(struct settings, count)},
    {"task", 0, "FUNCTION",
     "a call of this function is a task, told apart by an argument: 'batt', 'batt(task_id)', "
     "'libbatt.so:batt(1)', 'nvtx:task *'; none: no tasks; may be repeated",
     bp_option_list, offsetof(struct settings, tasks)},
    {"phase", 0, "NAME=FUNCTION", "the time of this function is a phase; may be repeated",
     bp_option_list, offsetof(struct settings, phases)},
    {"sample", 0, "FUNCTION", "a call of this function is a sample of a task; may be repeated",
     bp_option_list, offsetof(struct settings, samples)},
    {"generator", 0, "FUNCTION",
     "this function generates code: calls for the same input are looked for; may be repeated",
     bp_option_list, offsetof(struct settings, generators)},
    {"progress", 0, NULL, "print a line for every task that ends", bp_option_flag,
     offsetof(struct settings, progress)},
    {"rate", 0, "N",
     "look N times a second of its CPU time at what each thread is doing (default 200)",
     bp_option_number, offsetof(struct settings, rate)},
    {"no-sample", 0, NULL, "do not look: no functions that are not intercepted", bp_option_flag,
     offsetof(struct settings, no_sample)},
    {"device", 0, "DEVICE",
     "give the target a stand-in GPU: sim:t4, sim:p100 or sim:l4; needs a program with a dynamic "
     "libcudart",
     bp_option_text, offsetof(struct settings, device)},
    {"cuda", 0, "MODE",
     "how much to record of CUDA: full (default), transfers (no kernels), wrappers (calls only) or "
     "off",
     bp_option_text, offsetof(struct settings, cuda)},
    {"check-transfers", 0, NULL,
     "compare the contents of copies, to find data that is copied twice or comes back unchanged",
     bp_option_flag, offsetof(struct settings, check_transfers)},
    {"rules", 0, "FILE", "categories and groups for the report from FILE (JSON)", bp_option_text,
     offsetof(struct settings, rules)},
    {"quiet", 'q', NULL, "print no report", bp_option_flag, offsetof(struct settings, quiet)},
    {"repeat", 0, "N",
     "run COMMAND N times, into DIR/1 to DIR/N; the report shows means and how far they move",
     bp_option_number, offsetof(struct settings, repeat)},
};

const struct bp_command bp_command_run = {
    .name = "run",
    .summary = "run a command and its children under the profiler, then report",
    .usage = "[options] [--] COMMAND [ARGUMENT]...",
    .about = "Runs COMMAND with libbattprof.so preloaded, in it and in all its children, and "
             "prints the report on stderr. The exit status is COMMAND's; 125 to 127 if it could "
             "not be started.",
    .next = "Examples:\n"
            "  battprof run -- ./run_batt -c 100\n"
            "  battprof run --hook 'libjansson.so*' -o first -- ./run_batt\n"
            "  battprof run --python 'dsl' --python 'solvers.*' -- python run_batt.py\n"
            "  battprof run --count 'logging:*' --count 'json.*' -- python run_batt.py\n"
            "Next: battprof report",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .options_first = true,
    .main = bp_cmd_run,
};

#define ENVIRONMENT 24
#define MOST_SAMPLES 10000   /* a second: the finest clock tick of any kernel is 1 ms */
#define LONGEST_VARIABLE 600 /* that the library takes */

struct run {
    struct settings settings;
    struct bp_target target;
    struct bp_probe probe;
    char *environment[ENVIRONMENT + 1];
    size_t assigned;
    char hooks[4096];              /* comma separated, for BATTPROF_HOOK */
    char python[LONGEST_VARIABLE]; /* the same for BATTPROF_PYTHON */
    char count[LONGEST_VARIABLE];  /* and BATTPROF_COUNT */
    struct bp_task_rules tasks;
    char rate[16]; /* for BATTPROF_SAMPLE */
    char library[PATH_MAX];
    char output[PATH_MAX];
    char directory[PATH_MAX]; /* of this repetition; without any, `output` */
    size_t common;            /* assignments that all repetitions share */
    int worst;                /* status of the repetition that ended worst, as from wait(2) */
    struct bp_session session;
    bool profiled;
    uint64_t ended; /* ticks */
};

/* Words behind what is there, with commas between. Whether they fit. */
static bool join(char *text, size_t size, const struct bp_words *words) {
    size_t used = strlen(text);
    for (size_t i = 0; i < words->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", words->word[i]);
    return used < size;
}

/* Nothing before its colon, or behind. */
static bool is_half(const char *word) {
    const char *colon = strchr(word, ':');
    return colon == word || (colon && !colon[1]);
}

static int check_hooks(struct run *run, struct bp_error *error) {
    const char *inherited = getenv("BATTPROF_HOOK");
    const struct bp_words *words = &run->settings.hooks;
    for (size_t i = 0; i < words->count; i++)
        if (is_half(words->word[i]))
            return bp_error_set(error, BP_USAGE,
                                "run: --hook '%s': write 'lib*.so*' or 'lib.so:sym*'",
                                words->word[i]);
    size_t used = (size_t)snprintf(run->hooks, sizeof run->hooks, "%s", inherited ? inherited : "");
    if (used >= sizeof run->hooks || !join(run->hooks, sizeof run->hooks, words))
        return bp_error_set(error, BP_USAGE, "run: the --hook patterns are too long together");
    return 0;
}

static int check_python(struct run *run, struct bp_error *error) {
    const struct bp_words *words = &run->settings.python;
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->word[i], "none") == 0 && words->count > 1)
            return bp_error_set(error, BP_USAGE, "run: --python none goes with no other --python");
    if (!join(run->python, sizeof run->python, words))
        return bp_error_set(error, BP_USAGE, "run: the --python globs are too long together");
    return 0;
}

static int check_count(struct run *run, struct bp_error *error) {
    const struct bp_words *words = &run->settings.count;
    for (size_t i = 0; i < words->count; i++)
        if (is_half(words->word[i]) || strpbrk(words->word[i], ", \t\n"))
            return bp_error_set(error, BP_USAGE,
                                "run: --count '%s': write 'module:function*' or 'lib.so:sym*'",
                                words->word[i]);
    if (!join(run->count, sizeof run->count, words))
        return bp_error_set(error, BP_USAGE, "run: the --count patterns are too long together");
    return 0;
}

static int check_tasks(struct run *run, struct bp_error *error) {
    const struct settings *settings = &run->settings;
    struct bp_task_rules *rules = &run->tasks;
    return bp_task_rules_add_words(rules, BP_RULE_TASK, &settings->tasks, "run: --task", error) ||
           bp_task_rules_add_words(rules, BP_RULE_PHASE, &settings->phases, "run: --phase",
                                   error) ||
           bp_task_rules_add_words(rules, BP_RULE_SAMPLE, &settings->samples, "run: --sample",
                                   error) ||
           bp_task_rules_add_words(rules, BP_RULE_GENERATOR, &settings->generators,
                                   "run: --generator", error);
}

/* What the command line says comes first. */
static void take_file_tasks(struct run *run, const struct bp_rules *rules) {
    const char *text = bp_rules_tasks(rules);
    size_t room = sizeof run->tasks.text - run->tasks.used;
    if (strlen(text) + 1 >= room)
        bp_note("%s: no room for its tasks beside those of the command line", run->settings.rules);
    else if (*text)
        run->tasks.used += (size_t)snprintf(run->tasks.text + run->tasks.used, room, "%s%s",
                                            run->tasks.used ? ";" : "", text);
}

/* A rule file with a slip must not cost an hour of profiling: said before, left out after. */
static void check_rules(struct run *run) {
    struct bp_error error = {0};
    if (!run->settings.rules)
        return;
    struct bp_rules *rules = bp_rules_new(run->settings.rules, &error);
    if (!rules) {
        bp_note("%s; the report will use the built-in rules", error.text);
        run->settings.rules = NULL;
    } else {
        take_file_tasks(run, rules);
    }
    bp_rules_free(rules);
}

static void assign(struct run *run, const char *name, const char *value) {
    char *text;
    if (run->assigned < ENVIRONMENT && asprintf(&text, "%s=%s", name, value) >= 0)
        run->environment[run->assigned++] = text;
}

static void assign_before(struct run *run, const char *name, const char *value) {
    const char *others = getenv(name);
    char *text = NULL;
    if (others && others[0] && asprintf(&text, "%s:%s", value, others) < 0)
        text = NULL;
    assign(run, name, text ? text : value);
    free(text);
}

/* The stand-in libraries have the names of the real ones and are found before them. */
static int use_device(struct run *run, struct bp_error *error) {
    static const char *const known[] = {"t4", "p100", "l4"};
    const char *device = run->settings.device;
    char folder[PATH_MAX];
    if (!device)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(device, "sim:", 4) || strcmp(device + 4, known[i]))
            continue;
        if (bp_library_find_sim(folder, error))
            return -1;
        assign(run, "BATTPROF_SIM", known[i]);
        assign_before(run, "LD_LIBRARY_PATH", folder);
        return 0;
    }
    return bp_error_set(error, BP_USAGE, "run: --device '%s': write sim:t4, sim:p100 or sim:l4",
                        device);
}

static int check_cuda(const struct run *run, struct bp_error *error) {
    static const char *const modes[] = {"full", "transfers", "wrappers", "off"};
    for (size_t i = 0; run->settings.cuda && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(run->settings.cuda, modes[i]) == 0)
            return 0;
    if (!run->settings.cuda)
        return 0;
    return bp_error_set(error, BP_USAGE, "run: --cuda '%s': write full, transfers, wrappers or off",
                        run->settings.cuda);
}

static int check_rate(struct run *run, struct bp_error *error) {
    if (run->settings.rate > MOST_SAMPLES)
        return bp_error_set(error, BP_USAGE, "run: --rate %u: at most %u a second",
                            run->settings.rate, MOST_SAMPLES);
    snprintf(run->rate, sizeof run->rate, "%u", run->settings.rate);
    return 0;
}

/* The driver opens what the variable names and tells it when CUDA starts. */
static void assign_cuda(struct run *run) {
    const char *mode = run->settings.cuda, *other = getenv("CUDA_INJECTION64_PATH");
    if (mode)
        assign(run, "BATTPROF_CUDA", mode);
    if (run->settings.check_transfers)
        assign(run, "BATTPROF_CUDA_HASH", "1");
    if (!(other && other[0]) && (!mode || !strcmp(mode, "full") || !strcmp(mode, "transfers")))
        assign(run, "CUDA_INJECTION64_PATH", run->library);
}

/* The same for programs that announce ranges with NVTX. */
static void assign_nvtx(struct run *run) {
    const char *other = getenv("NVTX_INJECTION64_PATH");
    if (!(other && other[0]))
        assign(run, "NVTX_INJECTION64_PATH", run->library);
}

static void fill_environment(struct run *run) {
    assign_before(run, "LD_PRELOAD", run->library);
    assign(run, "BATTPROF_DIR", run->directory);
    assign(run, "BATTPROF_TREE", run->session.path);
    assign(run, "BATTPROF_QUIET", "1");
    if (run->hooks[0])
        assign(run, "BATTPROF_HOOK", run->hooks);
    if (run->settings.no_wait)
        assign(run, "BATTPROF_WAIT", "0");
    if (run->python[0])
        assign(run, "BATTPROF_PYTHON", run->python);
    if (run->settings.python_all)
        assign(run, "BATTPROF_PYTHON_ALL", "1");
    if (run->count[0])
        assign(run, "BATTPROF_COUNT", run->count);
    if (run->tasks.used)
        assign(run, "BATTPROF_TASKS", run->tasks.text);
    if (run->settings.no_sample)
        assign(run, "BATTPROF_SAMPLE", "0");
    else if (run->settings.rate)
        assign(run, "BATTPROF_SAMPLE", run->rate);
    assign_cuda(run);
    assign_nvtx(run);
}

static int prepare(struct run *run, struct bp_error *error) {
    const char *output = run->settings.output ? run->settings.output : BP_DEFAULT_OUTPUT;
    if (bp_library_find(run->library, error) || bp_library_avoid_blanks(run->library, error))
        return -1;
    return bp_output_prepare(output, run->output, error);
}

static void forget_assignments(struct run *run, size_t keep) {
    while (run->assigned > keep)
        free(run->environment[--run->assigned]);
    run->environment[keep] = NULL;
}

/* `number` is 0 if there is one run only. */
static int prepare_run(struct run *run, unsigned number, struct bp_error *error) {
    struct bp_session_about about = {run->directory, run->target.argv, run->probe.path, run->hooks};
    snprintf(run->directory, sizeof run->directory, "%s", run->output);
    if (number && bp_output_add_run(run->output, number, run->directory, error))
        return -1;
    if (bp_session_init(&run->session, &about, error))
        return -1;
    forget_assignments(run, run->common);
    fill_environment(run);
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
            forget_assignments(run, run->common);
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
    run->target.environment = run->environment;
    if (check_hooks(run, error) || check_python(run, error) || check_count(run, error) ||
        check_tasks(run, error) || use_device(run, error) || check_cuda(run, error) ||
        check_rate(run, error))
        return -1;
    bp_probe_command(command[0], &run->probe);
    check_rules(run);
    run->common = run->assigned;
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
    forget_assignments(&run, 0);
    return bp_target_leave(&run.target);
}
