/* SPDX-License-Identifier: MIT
 *
 * Options are tables. The same table parses the command line, prints --help and makes the shell
 * completion; a lint test compares it with the man page. A subcommand has a struct for its
 * settings, a table whose rows name a member of that struct, and a `struct bp_command` in
 * commands.h:
 *
 *     struct settings { bool tree; const char *rules; };
 *     static const struct bp_option options[] = {
 *         {"rules", 0, "FILE", "categories and groups from FILE", bp_option_text,
 *          offsetof(struct settings, rules)},
 *         {"tree", 't', NULL, "show calling contexts", bp_option_flag,
 *          offsetof(struct settings, tree)},
 *     };
 *
 * `--help` is understood by every command and stands in no table.
 */
#ifndef BP_TOOLS_BASE_OPTIONS_H
#define BP_TOOLS_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/base/error.h"

struct bp_option;

/* Stores one value at `to`. `value` is NULL for an option without argument, else borrowed from
 * argv. Returns 0, or -1 with the error set (its status BP_USAGE). */
typedef int bp_option_store(const struct bp_option *option, const char *value, void *to,
                            struct bp_error *error);

struct bp_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: no short form */
    /* NULL: takes none. "[NAME]": may have one; the next word is it unless it is an option or
     * the name of a file: then it is an operand. Completion knows FILE and DIR, and offers the
     * words of "a|b|c". */
    const char *argument;
    const char *help; /* one phrase, wrapped as needed */
    bp_option_store *store;
    size_t offset; /* of the member in the command's settings */
};

bp_option_store bp_option_flag;   /* bool, becomes true */
bp_option_store bp_option_text;   /* const char *, may not be empty; the last one wins */
bp_option_store bp_option_choice; /* const char *, one of the words "a|b|c" in `argument` */
bp_option_store bp_option_number; /* unsigned, from 1 on */
bp_option_store bp_option_time;   /* double, seconds: 8h, 90m, 300s */
bp_option_store bp_option_list;   /* struct bp_words, each use adds one */

struct bp_words {
    const char *word[64];
    size_t count;
};

/* A word and what it stands for. */
struct bp_help_item {
    const char *word;
    const char *text;
};

struct bp_command {
    const char *name;
    const char *summary; /* one line for `battprof help` */
    const char *usage;   /* what follows the name: "[options] [--] COMMAND [ARGUMENT]..." */
    const char *about;   /* --help, below the usage; may be NULL */
    const char *next;    /* --help, the last line: examples; may be NULL */
    const struct bp_option *options;
    size_t option_count;
    const char *list_title; /* --help, below the options; NULL: there is no list */
    const struct bp_help_item *list;
    size_t list_count;
    bool options_first; /* options end at the first operand, which may have its own */
    /* argv[0] is the command's name. Returns the exit status unless the error is set. */
    int (*main)(int argc, char **argv, struct bp_error *error);
};

#define BP_OPTION_COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Parses argv[1..]; moves the operands to the end and returns the index of the first (argc if there
 * is none), 0 if --help was asked for and printed on stdout (return BP_FINE then), or -1 with the
 * error set. */
int bp_options_parse(const struct bp_command *command, void *settings, int argc, char **argv,
                     struct bp_error *error);

/* The --help text: at most 80 columns. */
void bp_options_help(const struct bp_command *command, FILE *out);

#endif
