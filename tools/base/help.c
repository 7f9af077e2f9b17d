/* SPDX-License-Identifier: MIT
 *
 * --help from an option table: two columns, 80 wide, so that it can be read on any terminal and
 * pasted into any mail.
 */
#include <string.h>

#include "tools/base/options.h"
#include "tools/base/wrap.h"

#define HELP_COLUMN 26
#define LIST_COLUMN 15
#define HELP_WIDTH 79

/* Behind the option; words "a|b|c" go on below it where a line is full. Returns the column. */
static int print_argument(const char *argument, int column, FILE *out) {
    int first = column + 1;
    column += fprintf(out, " ");
    while (*argument) {
        int length = (int)strcspn(argument, "|");
        length += argument[length] == '|';
        if (column > first && column + length > HELP_WIDTH)
            column = fprintf(out, "\n%*s", first, "") - 1;
        column += fprintf(out, "%.*s", length, argument);
        argument += length;
    }
    return column;
}

static void print_option(const struct bp_option *option, FILE *out) {
    int column = option->letter ? fprintf(out, "  -%c, --%s", option->letter, option->name)
                                : fprintf(out, "      --%s", option->name);
    if (option->argument)
        column = print_argument(option->argument, column, out);
    if (column + 2 > HELP_COLUMN) {
        fprintf(out, "\n");
        column = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - column, "");
    bp_wrap_print(option->help, HELP_COLUMN, HELP_COLUMN, out);
}

void bp_options_help(const struct bp_command *command, FILE *out) {
    static const struct bp_option help = {.name = "help", .letter = 'h', .help = "show this text"};
    int column = fprintf(out, "Usage: battprof %s", command->name);
    bp_wrap_print(command->usage, column, 7, out);
    if (command->about) {
        fprintf(out, "\n");
        bp_wrap_print(command->about, 0, 0, out);
    }
    fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++)
        print_option(&command->options[i], out);
    print_option(&help, out);
    if (command->list_title)
        fprintf(out, "\n%s:\n", command->list_title);
    for (size_t i = 0; i < command->list_count; i++) {
        fprintf(out, "  %-*s", LIST_COLUMN - 2, command->list[i].word);
        bp_wrap_print(command->list[i].text, LIST_COLUMN, LIST_COLUMN, out);
    }
    if (command->next)
        fprintf(out, "\n%s\n", command->next);
}
