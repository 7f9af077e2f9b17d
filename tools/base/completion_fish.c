/* SPDX-License-Identifier: MIT
 *
 * `battprof --completion fish`: one line for each option of each command. Beside the options are
 * files, and after `run` and `doctor` commands.
 */
#include <string.h>

#include "tools/base/completion.h"

static void print_phrase(const char *text, FILE *out) {
    fputc('\'', out);
    for (; *text; text++) {
        if (strchr("'\\", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void print_argument(const char *argument, FILE *out) {
    if (strcmp(argument, "DIR") == 0)
        fprintf(out, " -x -a '(__fish_complete_directories)'");
    else if (strcmp(argument, "FILE") == 0)
        fprintf(out, " -r -F");
    else if (strchr(argument, '|')) {
        fprintf(out, " -x -a '");
        for (const char *c = argument; *c; c++)
            fputc(*c == '|' ? ' ' : *c, out);
        fprintf(out, "'");
    } else if (argument[0] != '[')
        fprintf(out, " -x");
}

static void print_command(const struct bp_command *command, FILE *out) {
    fprintf(out, "complete -c battprof -n __fish_use_subcommand -f -a %s -d ", command->name);
    print_phrase(command->summary, out);
    fprintf(out, "\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct bp_option *option = &command->options[i];
        fprintf(out, "complete -c battprof -n '__fish_seen_subcommand_from %s' -l %s",
                command->name, option->name);
        if (option->letter)
            fprintf(out, " -s %c", option->letter);
        if (option->argument)
            print_argument(option->argument, out);
        fprintf(out, " -d ");
        print_phrase(option->help, out);
        fprintf(out, "\n");
    }
    fprintf(out, "complete -c battprof -n '__fish_seen_subcommand_from %s' -l help\n",
            command->name);
    if (command->options_first)
        fprintf(out,
                "complete -c battprof -n '__fish_seen_subcommand_from %s' "
                "-a '(__fish_complete_subcommand)'\n",
                command->name);
}

void bp_completion_fish(const struct bp_command *const *commands, FILE *out) {
    static const char *const about[] = {"help", "version", "library", "licenses"};
    fprintf(out, "# battprof completion for fish\n");
    for (size_t i = 0; commands[i]; i++)
        print_command(commands[i], out);
    fprintf(out, "complete -c battprof -n __fish_use_subcommand -f -a help\n"
                 "complete -c battprof -n '__fish_seen_subcommand_from help' -f -a '");
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fprintf(out, "'\n");
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++)
        fprintf(out, "complete -c battprof -n __fish_use_subcommand -f -l %s\n", about[i]);
    fprintf(out, "complete -c battprof -n __fish_use_subcommand -x -l completion "
                 "-a 'bash fish zsh'\n");
}
