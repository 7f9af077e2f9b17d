/* SPDX-License-Identifier: MIT
 *
 * `battprof doctor`: what this machine has, what works because of it, and how to fix what does not.
 * Exit status 1 only if profiling cannot work at all.
 */
#include "tools/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "tools/commands.h"
#include "tools/wrap.h"

const struct bp_command bp_command_doctor = {
    .name = "doctor",
    .summary = "what works on this machine, and how to fix what does not",
    .usage = "[--help]",
    .about = "Looks at kernel, C library, CPU, clock, permissions, disk, Python and CUDA, and runs "
             "/bin/true under the profiler. Marks: ok works; -- not there or not needed; !! wrong. "
             "The exit status is 1 if profiling cannot work.",
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
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
    finding->mark = mark;
}

void bp_finding_cure(struct bp_finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(finding->cure, sizeof finding->cure, format, args);
    va_end(args);
}

static void print_finding(const char *name, const struct bp_finding *finding) {
    static const char *const marks[] = {[BP_GOOD] = "ok", [BP_ABSENT] = "--", [BP_BAD] = "!!"};
    int column = printf("%s  %-13s ", marks[finding->mark], name);
    bp_wrap_print(finding->text, column, column, stdout);
    if (!finding->cure[0])
        return;
    printf("%*s", column, "");
    bp_wrap_print(finding->cure, column + printf("-> ") - 1, column + 3, stdout);
}

int bp_cmd_doctor(int argc, char **argv, struct bp_error *error) {
    int first = bp_options_parse(&bp_command_doctor, NULL, argc, argv, error), fatal = 0, bad = 0;
    if (first <= 0)
        return first;
    if (first < argc) {
        bp_error_set(error, BP_USAGE, "doctor: takes no argument '%s'", argv[first]);
        return BP_USAGE;
    }
    printf("battprof " BP_VERSION "\n\n");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        struct bp_finding finding = {BP_GOOD, "", ""};
        checks[i].check(&finding);
        print_finding(checks[i].name, &finding);
        fflush(stdout);
        bad += finding.mark == BP_BAD;
        fatal += finding.mark == BP_BAD && checks[i].needed;
    }
    if (fatal)
        printf("\nProfiling cannot work here until what is marked !! is fixed.\n");
    else
        printf("\nProfiling works%s. Next: battprof run -- COMMAND\n",
               bad ? ", apart from what is marked !!" : "");
    return fatal ? BP_FAILED : BP_FINE;
}
