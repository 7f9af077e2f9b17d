/* SPDX-License-Identifier: MIT
 *
 * The option parser (see options.h): GNU manners — --name=value, --name value, -nvalue, -n value,
 * flags bundled, `--` ends the options — without getopt's abbreviations, which turn every new
 * option into a possible change of meaning.
 */
#include "tools/base/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/nearest.h"
#include "tools/base/text.h"

struct parse {
    const struct bp_command *command;
    char *settings;
    int argc;
    char **argv;
    int next;    /* the argument to look at next */
    bool helped; /* --help was asked for, and printed */
    struct bp_error *error;
};

static int store(struct parse *parse, const struct bp_option *option, const char *value) {
    return option->store(option, value, parse->settings + option->offset, parse->error);
}

static int unknown(struct parse *parse, const char *name) {
    const struct bp_command *command = parse->command;
    struct bp_nearest nearest = {.word = name};
    for (size_t i = 0; i < command->option_count; i++)
        bp_nearest_offer(&nearest, command->options[i].name);
    bp_nearest_offer(&nearest, "help");
    if (nearest.best)
        return bp_error_set(parse->error, BP_USAGE, "%s: no option --%s; did you mean --%s?",
                            command->name, name, nearest.best);
    return bp_error_set(parse->error, BP_USAGE, "%s: no option --%s; to list all:\n%s %s --help",
                        command->name, name, bp_invoked(), command->name);
}

/* Whether the next word is the argument of an option that needs none. */
static bool takes_next(const struct parse *parse) {
    const char *next = parse->next < parse->argc ? parse->argv[parse->next] : "-";
    return next[0] != '-' && access(next, F_OK) != 0;
}

/* `value` is what follows an equals sign, NULL without one. */
static int parse_named(struct parse *parse, const char *name, const char *value) {
    const struct bp_option *option = NULL;
    for (size_t i = 0; i < parse->command->option_count; i++)
        if (strcmp(parse->command->options[i].name, name) == 0)
            option = &parse->command->options[i];
    if (!option)
        return unknown(parse, name);
    if (!option->argument && value)
        return bp_error_set(parse->error, BP_USAGE, "%s: --%s takes no argument",
                            parse->command->name, name);
    if (option->argument && option->argument[0] == '[' && !value)
        return store(parse, option, takes_next(parse) ? parse->argv[parse->next++] : NULL);
    if (option->argument && !value) {
        if (parse->next == parse->argc)
            return bp_error_set(parse->error, BP_USAGE, "%s: --%s needs an argument: --%s %s",
                                parse->command->name, name, name, option->argument);
        value = parse->argv[parse->next++];
    }
    return store(parse, option, value);
}

/* `text` is what follows the two dashes. */
static int parse_long(struct parse *parse, const char *text) {
    size_t length = strcspn(text, "=");
    char *name = bp_make_text("%.*s", (int)length, text);
    int result = parse_named(parse, name, text[length] ? text + length + 1 : NULL);
    free(name);
    return result;
}

static const struct bp_option *find_letter(const struct bp_command *command, char letter) {
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].letter == letter)
            return &command->options[i];
    return NULL;
}

/* `text` is what follows the dash: letters, the last of which may be followed by its argument. */
static int parse_short(struct parse *parse, const char *text) {
    for (; *text; text++) {
        const struct bp_option *option = find_letter(parse->command, *text);
        if (!option)
            return bp_error_set(parse->error, BP_USAGE,
                                "%s: no option -%c; to list all:\n%s %s --help",
                                parse->command->name, *text, bp_invoked(), parse->command->name);
        if (!option->argument) {
            if (store(parse, option, NULL))
                return -1;
            continue;
        }
        const char *value = text[1] ? text + 1 : NULL;
        if (!value && parse->next == parse->argc)
            return bp_error_set(parse->error, BP_USAGE, "%s: -%c needs an argument: -%c %s",
                                parse->command->name, *text, *text, option->argument);
        return store(parse, option, value ? value : parse->argv[parse->next++]);
    }
    return 0;
}

static bool is_help(const struct bp_command *command, const char *argument) {
    return strcmp(argument, "--help") == 0 ||
           (strcmp(argument, "-h") == 0 && !find_letter(command, 'h'));
}

/* 1 if an operand or `--` ends the options, 0 to go on, -1 with the error set. */
static int parse_argument(struct parse *parse, char **operands, int *count) {
    char *argument = parse->argv[parse->next];
    if (argument[0] != '-' || !argument[1]) {
        if (parse->command->options_first)
            return 1;
        operands[(*count)++] = argument;
        parse->next++;
        return 0;
    }
    parse->next++;
    if (strcmp(argument, "--") == 0)
        return 1;
    if (is_help(parse->command, argument)) {
        bp_options_help(parse->command, stdout);
        parse->helped = true;
        return 1;
    }
    return argument[1] == '-' ? parse_long(parse, argument + 2) : parse_short(parse, argument + 1);
}

int bp_options_parse(const struct bp_command *command, void *settings, int argc, char **argv,
                     struct bp_error *error) {
    struct parse parse = {command, settings, argc, argv, 1, false, error};
    char **operands = calloc((size_t)argc + 1, sizeof *operands);
    int count = 0, result = 0;
    if (!operands)
        return bp_error_set(error, BP_FAILED, "out of memory");
    while (parse.next < argc && result == 0)
        result = parse_argument(&parse, operands, &count);
    if (parse.helped) {
        result = 0;
    } else if (result >= 0) { /* operands seen so far go directly before those that are left */
        result = parse.next - count;
        memcpy(argv + result, operands, (size_t)count * sizeof *operands);
    }
    free(operands);
    return result;
}

int bp_option_flag(const struct bp_option *option, const char *value, void *to,
                   struct bp_error *error) {
    (void)option, (void)value, (void)error;
    *(bool *)to = true;
    return 0;
}

int bp_option_text(const struct bp_option *option, const char *value, void *to,
                   struct bp_error *error) {
    if (!value[0])
        return bp_error_set(error, BP_USAGE, "--%s: the argument is empty; give a %s", option->name,
                            option->argument);
    *(const char **)to = value;
    return 0;
}

int bp_option_choice(const struct bp_option *option, const char *value, void *to,
                     struct bp_error *error) {
    struct bp_nearest nearest = {.word = value};
    char *words = bp_copy_text(option->argument);
    int result = -1;
    for (char *rest = words, *word; result && (word = strsep(&rest, "|"));) {
        result = strcmp(word, value) ? -1 : 0;
        bp_nearest_offer(&nearest, word);
    }
    if (result == 0)
        *(const char **)to = value;
    else if (nearest.best)
        bp_error_set(error, BP_USAGE, "--%s: no '%s'; did you mean '%s'?", option->name, value,
                     nearest.best);
    else
        bp_error_set(error, BP_USAGE, "--%s: no '%s'; give one of %s", option->name, value,
                     option->argument);
    free(words);
    return result;
}

int bp_option_number(const struct bp_option *option, const char *value, void *to,
                     struct bp_error *error) {
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || number < 1 || number > 1000000000)
        return bp_error_set(error, BP_USAGE, "--%s: '%s' is not a number from 1 on", option->name,
                            value);
    *(unsigned *)to = (unsigned)number;
    return 0;
}

int bp_option_time(const struct bp_option *option, const char *value, void *to,
                   struct bp_error *error) {
    static const struct {
        const char *unit;
        double s;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    double number = strtod(value, &end);
    for (size_t i = 0; end != value && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].unit) == 0 && number > 0 && number < 1e9) {
            *(double *)to = number * units[i].s;
            return 0;
        }
    return bp_error_set(error, BP_USAGE, "--%s: '%s' is not a time; write 8h, 90m or 300s",
                        option->name, value);
}

int bp_option_list(const struct bp_option *option, const char *value, void *to,
                   struct bp_error *error) {
    struct bp_words *words = to;
    if (!value[0])
        return bp_error_set(error, BP_USAGE, "--%s: the argument is empty; give a %s", option->name,
                            option->argument);
    if (words->count == BP_OPTION_COUNT(words->word))
        return bp_error_set(error, BP_USAGE, "--%s: given more than %zu times", option->name,
                            BP_OPTION_COUNT(words->word));
    words->word[words->count++] = value;
    return 0;
}
