/* SPDX-License-Identifier: MIT
 *
 * The battprof command: finds the subcommand, prints the one error, exits with its status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/completion.h"
#include "tools/nearest.h"

/* In the order in which one needs them. */
static const struct bp_command *const commands[] = {
    &bp_command_run,
    &bp_command_report,
    &bp_command_diff,
    &bp_command_merge,
    &bp_command_import,
    &bp_command_doctor,
    NULL,
};

/* If the target is to see a standard file closed, ours must not take its number; a placeholder that
 * exec closes again keeps it. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void print_help(FILE *out) {
    fprintf(out, "Usage: battprof COMMAND [ARGUMENT]...\n\n"
                 "Where did every wall-second of a program go: DSL, framework, or CPU-GPU\n"
                 "transfer? Without recompiling it, without root, ptrace or perf_event.\n\n"
                 "Commands:\n");
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "  %-10s %s\n", "help", "this text, or that of one command: battprof help run");
    fprintf(out, "\nOptions:\n"
                 "  -h, --help              show this text\n"
                 "  -V, --version           show the version\n"
                 "      --completion SHELL  print the completion for bash: put\n"
                 "                          eval \"$(battprof --completion bash)\" in ~/.bashrc\n"
                 "\nStart with: battprof run -- ./run_batt\n");
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
        bp_error_set(error, BP_USAGE, "no %s '%s'; 'battprof help' lists what there is", kind,
                     name);
    return NULL;
}

static int help(int argc, char **argv, struct bp_error *error) {
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return BP_FINE;
    }
    const struct bp_command *command = find(argv[1], error);
    if (command)
        bp_options_help(command, stdout);
    return BP_FINE;
}

static int completion(int argc, char **argv, struct bp_error *error) {
    if (argc < 2 || strcmp(argv[1], "bash"))
        return bp_error_set(error, BP_USAGE,
                            "--completion: only bash is known; bash's completion "
                            "serves zsh too, after bashcompinit");
    bp_completion_bash(commands, stdout);
    return BP_FINE;
}

static int dispatch(int argc, char **argv, struct bp_error *error) {
    if (argc < 2) {
        print_help(stderr);
        return BP_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return help(argc - 1, argv + 1, error);
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        return printf("battprof " BP_VERSION "\n") < 0;
    if (!strcmp(name, "--completion"))
        return completion(argc - 1, argv + 1, error);
    const struct bp_command *command = find(name, error);
    return command ? command->main(argc - 1, argv + 1, error) : BP_USAGE;
}

int main(int argc, char **argv) {
    struct bp_error error = {0};
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
