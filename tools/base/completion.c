/* SPDX-License-Identifier: MIT
 *
 * `battprof --completion bash`. One case per command: what an option's argument is completed with,
 * then the option names, then files; after `run`'s options the words are the target's own.
 */
#include "tools/base/completion.h"

#include <string.h>

/* The compgen arguments for one option's value. */
static void print_argument(const struct bp_option *option, FILE *out) {
    fprintf(out, "      --%s", option->name);
    if (option->letter)
        fprintf(out, "|-%c", option->letter);
    if (strcmp(option->argument, "DIR") == 0)
        fprintf(out, ") how=(-d) ;;\n");
    else if (strcmp(option->argument, "FILE") == 0)
        fprintf(out, ") how=(-f) ;;\n");
    else if (strchr(option->argument, '|')) {
        fprintf(out, ") how=(-W '");
        for (const char *c = option->argument; *c; c++)
            fputc(*c == '|' ? ' ' : *c, out);
        fprintf(out, "') ;;\n");
    } else
        fprintf(out, ") how=(-W '') ;;\n");
}

static void print_names(const struct bp_command *command, FILE *out) {
    for (size_t i = 0; i < command->option_count; i++)
        fprintf(out, "--%s ", command->options[i].name);
    fprintf(out, "--help");
}

static void print_command(const struct bp_command *command, FILE *out) {
    fprintf(out, "  %s)\n    case $previous in\n", command->name);
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].argument)
            print_argument(&command->options[i], out);
    fprintf(out, "      *) if [[ $current == -* ]]; then how=(-W '");
    print_names(command, out);
    fprintf(out, "'); else how=(%s); fi ;;\n    esac ;;\n",
            command->options_first ? "-c -f" : "-f");
}

void bp_completion_bash(const struct bp_command *const *commands, FILE *out) {
    fprintf(out, "# battprof completion for bash\n"
                 "_battprof() {\n"
                 "  local current=${COMP_WORDS[COMP_CWORD]}\n"
                 "  local previous=${COMP_WORDS[COMP_CWORD-1]} how\n"
                 "  if ((COMP_CWORD == 1)); then\n"
                 "    how=(-W '");
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s ", commands[i]->name);
    fprintf(out, "help --help --version --library --licenses --completion')\n"
                 "  else case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i]; i++)
        print_command(commands[i], out);
    fprintf(out, "  help) how=(-W '");
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fprintf(out, "') ;;\n"
                 "  --completion) how=(-W 'bash fish zsh') ;;\n"
                 "  *) how=(-f) ;;\n"
                 "  esac; fi\n"
                 "  mapfile -t COMPREPLY < <(compgen \"${how[@]}\" -- \"$current\")\n"
                 "}\n"
                 "complete -o filenames -F _battprof battprof\n");
}
