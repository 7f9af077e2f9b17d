/* SPDX-License-Identifier: MIT
 *
 * `battprof doctor`: what this machine has, what works because of it, and how to fix what does not.
 * Exit status 1 only if profiling cannot work at all.
 */
#include "tools/command/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/build_id.h"
#include "tools/base/invoked.h"
#include "tools/base/text.h"
#include "tools/base/wrap.h"
#include "tools/command/commands.h"

struct settings {
    struct bp_words tasks;
};

static const struct bp_option options[] = {
    {"task", 0, "FUNCTION",
     "whether calls of this function will be seen in COMMAND, as run --task takes it; may be "
     "repeated",
     bp_option_list, offsetof(struct settings, tasks)},
};

const struct bp_command bp_command_doctor = {
    .name = "doctor",
    .summary = "what works on this machine, and how to fix what does not",
    .usage = "[options] [--] [COMMAND [ARGUMENT]...] | attach [PID]",
    .about =
        "Looks at kernel, C library, CPU, clock, permissions, disk, Python and CUDA, and runs "
        "/bin/true under the profiler. Marks: ok works; -- not there or not needed; !! wrong. "
        "The exit status is 1 if profiling cannot work. With COMMAND it looks at that program, "
        "without running it. With attach it says whether running processes, or process PID, can "
        "be attached to; the exit status is 1 if not.",
    .next = "Examples:\n"
            "  battprof doctor\n"
            "  battprof doctor --task 'libbatt.so:batt' -- ./run_batt\n"
            "  battprof doctor --task 'solvers:solve' -- python run_batt.py\n"
            "  battprof doctor attach 1234",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .options_first = true,
    .main = bp_cmd_doctor,
};

static const struct {
    const char *name;
    bp_doctor_check *check;
    int needed; /* bad here means that nothing can be profiled */
} checks[] = {
    {"architecture", bp_doctor_architecture, 1},
    {"kernel", bp_doctor_kernel, 0},
    {"glibc", bp_doctor_glibc, 1},
    {"clock", bp_doctor_clock, 0},
    {"shadow stack", bp_doctor_shadow_stack, 0},
    {"permissions", bp_doctor_permissions, 0},
    {"container", bp_doctor_container, 0},
    {"library", bp_doctor_library, 1},
    {"preloading", bp_doctor_preload, 1},
    {"output", bp_doctor_output, 0},
    {"sampling", bp_doctor_sampling, 0},
    {"Python", bp_doctor_python, 0},
    {"CUDA driver", bp_doctor_cuda_driver, 0},
    {"CUPTI", bp_doctor_cupti, 0},
    {"perf_event", bp_doctor_perf_event, 0},
    {"ptrace", bp_doctor_ptrace, 0},
};

void bp_finding_set(struct bp_finding *finding, enum bp_mark mark, const char *format, ...) {
    va_list args;
    va_start(args, format);
    bp_text_add_list(&finding->text, format, args);
    va_end(args);
    finding->mark = mark;
}

void bp_finding_cure(struct bp_finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    bp_text_add_list(&finding->cure, format, args);
    va_end(args);
}

static void finding_fini(struct bp_finding *finding) {
    bp_text_fini(&finding->text);
    bp_text_fini(&finding->cure);
}

void bp_doctor_print(const char *name, const struct bp_finding *finding) {
    static const char *const marks[] = {[BP_GOOD] = "ok", [BP_ABSENT] = "--", [BP_BAD] = "!!"};
    int column = printf("%s  %-13s ", marks[finding->mark], name);
    bp_wrap_print(bp_text_get(&finding->text), column, column, stdout);
    if (finding->cure.length) {
        printf("%*s", column, "");
        bp_wrap_print(finding->cure.data, column + printf("-> ") - 1, column + 3, stdout);
    }
}

/* Tasks that run looks for by itself: said only where the program has such a function. */
static const char *const usual[] = {"batt", "check_batt", "run_one"};

static int examine_task(const char *rule, const struct bp_probe *probe, char **command,
                        bool asked) {
    struct bp_finding finding = {0};
    bp_doctor_task(rule, probe, command, &finding);
    char *name = bp_make_text("task %s", rule);
    if (asked || finding.mark != BP_ABSENT)
        bp_doctor_print(name, &finding);
    free(name);
    finding_fini(&finding);
    return finding.mark == BP_BAD;
}

/* How much of the command cannot be profiled as one would expect; -1: nothing of it can. */
static int examine_command(const struct bp_words *tasks, char **command) {
    struct bp_finding finding = {0};
    struct bp_probe probe;
    int bad = 0;
    bp_probe_command(command[0], &probe);
    bp_doctor_program(&probe, &finding);
    bp_doctor_print("program", &finding);
    finding_fini(&finding);
    bool fine = finding.mark != BP_BAD;
    for (size_t i = 0; fine && i < tasks->count; i++)
        bad += examine_task(tasks->word[i], &probe, command, true);
    for (size_t i = 0; fine && tasks->count == 0 && i < sizeof usual / sizeof usual[0]; i++)
        bad += examine_task(usual[i], &probe, command, false);
    bp_probe_fini(&probe);
    return fine ? bad : -1;
}

static int run_checks(int *fatal) {
    int bad = 0;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        struct bp_finding finding = {0};
        checks[i].check(&finding);
        bp_doctor_print(checks[i].name, &finding);
        finding_fini(&finding);
        fflush(stdout);
        bad += finding.mark == BP_BAD;
        *fatal += finding.mark == BP_BAD && checks[i].needed;
    }
    return bad;
}

static int examine_variables(void) {
    struct bp_variable_match match;
    int bad = 0;
    for (char **text = environ; *text; text++) {
        struct bp_finding finding = {0};
        if (!bp_variable_match(*text, &match))
            continue;
        bp_doctor_variable(*text + strcspn(*text, "=") + 1, &match, &finding);
        bp_doctor_print(match.name, &finding);
        finding_fini(&finding);
        bad += finding.mark == BP_BAD;
    }
    return bad;
}

static void print_next(int bad, char **command) {
    char *text = bp_quote_words(command);
    printf("\nProfiling works%s. Next: %s %s%s\n", bad ? ", apart from what is marked !!" : "",
           bp_invoked(), *text ? "run -- " : "help run", text);
    free(text);
}

int bp_cmd_doctor(int argc, char **argv, struct bp_error *error) {
    struct settings settings = {0};
    int first = bp_options_parse(&bp_command_doctor, &settings, argc, argv, error), fatal = 0;
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (first == argc && settings.tasks.count) {
        bp_error_set(error, BP_USAGE, "doctor: --task needs a command: doctor --task '%s' -- CMD",
                     settings.tasks.word[0]);
        return BP_USAGE;
    }
    if (first < argc && strcmp(argv[first], "attach") == 0)
        return bp_doctor_attach(argc - first - 1, argv + first + 1, error);
    char *version = bp_version();
    printf("battprof %s\n\n", version);
    free(version);
    int bad = run_checks(&fatal) + examine_variables();
    int of_command = first < argc ? examine_command(&settings.tasks, argv + first) : 0;
    if (fatal)
        printf("\nProfiling cannot work here until what is marked !! is fixed.\n");
    else if (of_command < 0)
        printf("\nProfiling works here, but not of this program.\n");
    else
        print_next(bad + of_command, argv + first);
    return fatal ? BP_FAILED : BP_FINE;
}
