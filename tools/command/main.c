/* SPDX-License-Identifier: MIT
 *
 * The battprof command: finds the subcommand, prints the one error, exits with its status.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/invoked.h"
#include "tools/base/nearest.h"
#include "tools/command/about.h"
#include "tools/command/commands.h"
#include "tools/command/suggest.h"

/* In the order in which one needs them. */
#ifdef __SANITIZE_ADDRESS__
/* elfutils 0.188 loses a frame whose CFI it cannot execute; what it gives us is freed. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void) {
    return "leak:libdw.so\n";
}

const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}
#endif

static const struct bp_command *const commands[] = {
    &bp_command_run,    &bp_command_report,
    &bp_command_top,    &bp_command_attach,
    &bp_command_stacks, &bp_command_start,
    &bp_command_stop,   &bp_command_mark,
    &bp_command_diff,   &bp_command_export,
    &bp_command_merge,  &bp_command_import,
    &bp_command_doctor, NULL,
};

/* If the target is to see a standard file closed, ours must not take its number; a placeholder that
 * exec closes again keeps it. Writing to a closed stdout fails as it would without one: what was
 * asked for did not go anywhere. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", (fd == 1 ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

static void print_help(FILE *out) {
    fprintf(out, "Usage: battprof COMMAND [ARGUMENT]...\n\n"
                 "Where did every wall-second of a program go: DSL, framework, or CPU-GPU\n"
                 "transfer? Without recompiling it, without root, ptrace or perf_event.\n\n"
                 "Commands:\n");
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "  %-10s %s\n", "help", "this text, or that of one command: battprof help run");
    fprintf(out, "  %-10s %s\n", "", "what the words of a report mean: battprof help concepts");
    fprintf(out, "\nOptions:\n%s\nStart with: battprof run -- ./run_batt\n", bp_about_help);
}

static const struct bp_command *find(const char *name, struct bp_error *error) {
    struct bp_nearest nearest = {.word = name};
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        bp_nearest_offer(&nearest, commands[i]->name);
    }
    bp_nearest_offer(&nearest, "help");
    const char *kind = name[0] == '-' ? "option" : "command";
    if (nearest.best && name[0] != '-')
        bp_error_set(error, BP_USAGE, "no %s '%s'; did you mean '%s'?", kind, name, nearest.best);
    else
        bp_error_set(error, BP_USAGE, "no %s '%s'; to list all:\n%s help", kind, name,
                     bp_invoked());
    return NULL;
}

static int help(int argc, char **argv, struct bp_error *error) {
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return BP_FINE;
    }
    if (strcmp(argv[1], "concepts") == 0) {
        bp_concepts_print(stdout);
        return BP_FINE;
    }
    const struct bp_command *command = find(argv[1], error);
    if (command)
        bp_options_help(command, stdout);
    return BP_FINE;
}

static bool is_command(const char *name) {
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return true;
    return false;
}

static int dispatch(int argc, char **argv, struct bp_error *error) {
    if (argc < 2) {
        print_help(stderr);
        return BP_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return help(argc - 1, argv + 1, error);
    int status;
    if (bp_about(argc - 1, argv + 1, commands, &status, error))
        return status;
    if (!is_command(name) && name[0] != '-' && bp_suggest_command(argv + 1, error))
        return BP_USAGE;
    const struct bp_command *command = find(name, error);
    return command ? command->main(argc - 1, argv + 1, error) : BP_USAGE;
}

int main(int argc, char **argv) {
    struct bp_error error = {0};
    bp_invoked_set(argv[0]);
    occupy_standard_files();
    int status = dispatch(argc, argv, &error);
    if (fflush(stdout) == EOF || ferror(stdout))
        bp_error_set(&error, BP_FAILED, "cannot write to stdout; is the disk full?");
    if (bp_error_is_set(&error)) {
        status = error.status;
        bp_error_print(&error);
    }
    return status;
}
