/* SPDX-License-Identifier: MIT
 *
 * `battprof --completion zsh`, as a file _battprof in a directory of $fpath or for eval. Each
 * command is a list of what _arguments(1) takes; after `run`'s options the words are the target's.
 */
#include <string.h>

#include "tools/base/completion.h"

/* Inside '…[…]': quotes and brackets would end it. */
static void print_phrase(const char *text, FILE *out) {
    for (; *text; text++) {
        if (*text == '\'')
            fprintf(out, "'\\''");
        else if (strchr("[]\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

/* ":what:how" behind the phrase. */
static void print_argument(const char *argument, FILE *out) {
    if (strcmp(argument, "DIR") == 0)
        fprintf(out, ":directory:_files -/");
    else if (strcmp(argument, "FILE") == 0)
        fprintf(out, ":file:_files");
    else if (strchr(argument, '|')) {
        fprintf(out, ":word:(");
        for (const char *c = argument; *c; c++)
            fputc(*c == '|' ? ' ' : *c, out);
        fprintf(out, ")");
    } else if (argument[0] == '[')
        fprintf(out, "::%.*s: ", (int)strcspn(argument + 1, "]"), argument + 1);
    else
        fprintf(out, ":%s: ", argument);
}

static void print_option(const struct bp_option *option, FILE *out) {
    fprintf(out, "      ");
    if (option->letter)
        fprintf(out, "'*'{-%c,--%s}'[", option->letter, option->name);
    else
        fprintf(out, "'*--%s[", option->name);
    print_phrase(option->help, out);
    fprintf(out, "]");
    if (option->argument)
        print_argument(option->argument, out);
    fprintf(out, "' \\\n");
}

static void print_command(const struct bp_command *command, FILE *out) {
    fprintf(out, "    (%s)\n    _arguments -s \\\n", command->name);
    for (size_t i = 0; i < command->option_count; i++)
        print_option(&command->options[i], out);
    fprintf(out, "      '--help[show its options]' \\\n      %s ;;\n",
            command->options_first ? "'*::command: _normal'" : "'*:file:_files'");
}

void bp_completion_zsh(const struct bp_command *const *commands, FILE *out) {
    fprintf(out, "#compdef battprof\n"
                 "# battprof completion for zsh\n"
                 "_battprof() {\n"
                 "  local -a commands=(\n");
    for (size_t i = 0; commands[i]; i++) {
        fprintf(out, "    '%s:", commands[i]->name);
        print_phrase(commands[i]->summary, out);
        fprintf(out, "'\n");
    }
    fprintf(out, "    'help:the options of a command')\n"
                 "  if (( CURRENT == 2 )); then\n"
                 "    _describe command commands\n"
                 "    compadd -- --help --version --library --licenses --completion\n"
                 "    return\n"
                 "  fi\n"
                 "  local command=$words[2]\n"
                 "  shift words\n"
                 "  (( CURRENT-- ))\n"
                 "  case $command in\n");
    for (size_t i = 0; commands[i]; i++)
        print_command(commands[i], out);
    fprintf(out, "    (help) (( CURRENT == 2 )) && _describe command commands ;;\n"
                 "    (--completion) compadd bash fish zsh ;;\n"
                 "  esac\n"
                 "}\n"
                 "if [[ $funcstack[1] == _battprof ]]; then _battprof \"$@\"\n"
                 "else compdef _battprof battprof; fi\n");
}
