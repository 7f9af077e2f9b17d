/* SPDX-License-Identifier: MIT
 *
 * See suggest.h. A script is given to the interpreter of its first line, or else to the one that
 * files of its name usually have.
 */
#include "tools/command/suggest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/runs.h"
#include "tools/run/output.h"

#define BLANKS " \t\n"
#define SCRIPT "__main__.py"

struct suggestion {
    struct bp_text why;     /* continues a sentence that begins with the word: "is a directory" */
    struct bp_text command; /* to type; meaningless without one that is known */
};

/* The first one of an ending that is installed. */
static const struct {
    const char *ending;
    const char *program;
} interpreters[] = {
    {".py", "python3"}, {".py", "python"}, {".sh", "bash"}, {".sh", "sh"},
    {".pl", "perl"},    {".rb", "ruby"},   {".js", "node"}, {".R", "Rscript"},
};

static bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name);
    size_t end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static bool is_no_program(enum bp_probe_kind kind) {
    return kind == BP_PROBE_NOT_FOUND || kind == BP_PROBE_NOT_EXECUTABLE;
}

static bool is_program(const char *name) {
    struct bp_probe probe;
    bp_probe_command(name, &probe);
    bool found = !is_no_program(probe.kind);
    bp_probe_fini(&probe);
    return found;
}

/* NULL where no name tells it. */
static const char *usual_interpreter(const char *name) {
    for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++)
        if (ends_in(name, interpreters[i].ending) && is_program(interpreters[i].program))
            return interpreters[i].program;
    return NULL;
}

/* What follows "#!": "python3 -u" for "/usr/bin/env -S python3 -u", else all of it. */
static void take_interpreter(const char *line, struct bp_text *interpreter) {
    line += strspn(line, BLANKS);
    size_t length = strcspn(line, BLANKS);
    bool env = length >= 4 && strncmp(line + length - 4, "/env", 4) == 0;
    while (env) {
        line += length;
        line += strspn(line, BLANKS);
        length = strcspn(line, BLANKS);
        env = line[0] == '-';
    }
    bp_text_set(interpreter, "%s", line);
}

static bool read_first_line(const char *path, struct bp_text *interpreter) {
    char line[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    if (fd >= 0)
        close(fd);
    if (got < 3 || memcmp(line, "#!", 2) != 0)
        return false;
    line[got] = 0;
    line[strcspn(line, "\r\n")] = 0;
    take_interpreter(line + 2, interpreter);
    return interpreter->length > 0;
}

static bool is_elf(const char *path) {
    struct bp_text loader = {0};
    enum bp_probe_kind kind = bp_probe_elf(path, &loader);
    bp_text_fini(&loader);
    return kind != BP_PROBE_MACHINE && kind != BP_PROBE_UNREADABLE;
}

static void add_words(struct bp_text *command, char *const *words) {
    char *quoted = bp_quote_words(words);
    bp_text_add(command, "%s", quoted);
    free(quoted);
}

static void begin_run(struct bp_text *command, const struct bp_typed *typed) {
    bp_text_set(command, "%s run ", bp_invoked());
    for (char *const *option = typed->options; option && option != typed->words; option++)
        if (strcmp(*option, "--") != 0) {
            add_words(command, (char *[]){*option, NULL});
            bp_text_add(command, " ");
        }
    bp_text_add(command, "-- ");
}

static bool suggest_report(char *path, struct suggestion *suggestion) {
    bp_text_set(&suggestion->why, "is a profile");
    bp_text_set(&suggestion->command, "%s report ", bp_invoked());
    add_words(&suggestion->command, (char *[]){path, NULL});
    return true;
}

static bool has_file(const char *directory, const char *name) {
    char *path = bp_make_text("%s/%s", directory, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static bool suggest_directory(const struct bp_typed *typed, struct suggestion *suggestion) {
    char *path = typed->words[0];
    const char *python = usual_interpreter(SCRIPT);
    if (has_file(path, BP_SESSION_FILE) || bp_output_count(path) > 0)
        return suggest_report(path, suggestion);
    bp_text_set(&suggestion->why, "is a directory");
    if (!has_file(path, SCRIPT) || !python)
        return false;
    begin_run(&suggestion->command, typed);
    bp_text_add(&suggestion->command, "%s ", python);
    add_words(&suggestion->command, typed->words);
    return true;
}

/* In front of the command that needs it. */
static void add_permission(struct bp_text *command, char *path) {
    char *run = bp_text_take(command);
    bp_text_set(command, "chmod +x ");
    add_words(command, (char *[]){path, NULL});
    bp_text_add(command, " && %s%s", run, strchr(path, '/') ? "" : "./");
    free(run);
}

/* What has to stand in front of a file that cannot be executed as it is. */
static bool add_start(const struct bp_typed *typed, struct bp_text *command) {
    char *path = typed->words[0];
    struct bp_text interpreter = {0};
    const char *usual = usual_interpreter(path);
    bool known = true;
    if (access(path, X_OK) == 0)
        bp_text_add(command, "./");
    else if (read_first_line(path, &interpreter))
        bp_text_add(command, "%s ", interpreter.data);
    else if (usual)
        bp_text_add(command, "%s ", usual);
    else if ((known = is_elf(path)))
        add_permission(command, path);
    bp_text_fini(&interpreter);
    return known;
}

static bool suggest_file(const struct bp_typed *typed, struct suggestion *suggestion) {
    char *path = typed->words[0];
    if (ends_in(path, ".bp"))
        return suggest_report(path, suggestion);
    bp_text_set(&suggestion->why, "%s",
                access(path, X_OK) == 0 ? "is not in PATH" : "has no x permission");
    begin_run(&suggestion->command, typed);
    if (!add_start(typed, &suggestion->command))
        return false;
    add_words(&suggestion->command, typed->words);
    return true;
}

/* The first part of a quoted command line, as it has to begin. */
static bool begin_split(const struct bp_typed *typed, char *first, struct bp_text *command) {
    struct bp_typed part = {.words = (char *[]){first, NULL}};
    begin_run(command, typed);
    return is_program(first) || (access(first, F_OK) == 0 && add_start(&part, command));
}

/* Without the quotes it is a command line. */
static bool suggest_split(const struct bp_typed *typed, struct suggestion *suggestion) {
    char *const *words = typed->words;
    char *first = bp_make_text("%.*s", (int)strcspn(words[0], BLANKS), words[0]);
    bool known = begin_split(typed, first, &suggestion->command);
    if (known) {
        bp_text_set(&suggestion->why, "is one word, a command line in quotes");
        bp_text_add(&suggestion->command, "%s%s", words[0], words[1] ? " " : "");
        add_words(&suggestion->command, words + 1);
    }
    free(first);
    return known;
}

/* True if there is something to type. */
static bool suggest(const struct bp_typed *typed, struct suggestion *suggestion) {
    const char *name = typed->words[0];
    struct stat status;
    if (stat(name, &status) == 0)
        return S_ISDIR(status.st_mode) ? suggest_directory(typed, suggestion)
                                       : suggest_file(typed, suggestion);
    bp_text_set(&suggestion->why, "%s", strchr(name, '/') ? "is not there" : "is not in PATH");
    return strpbrk(name, BLANKS) && suggest_split(typed, suggestion);
}

static void suggestion_fini(struct suggestion *suggestion) {
    bp_text_fini(&suggestion->why);
    bp_text_fini(&suggestion->command);
}

bool bp_suggest_command(char *const *words, struct bp_error *error) {
    struct bp_typed typed = {.words = words};
    struct suggestion suggestion = {0};
    bool known = is_program(words[0]);
    if (known) {
        bp_text_set(&suggestion.why, "is a program");
        begin_run(&suggestion.command, &typed);
        add_words(&suggestion.command, words);
    } else {
        known = suggest(&typed, &suggestion);
    }
    if (known)
        bp_error_set(error, BP_USAGE, "'%s' is no command of battprof; it %s. Type:\n%s", words[0],
                     bp_text_get(&suggestion.why), bp_text_get(&suggestion.command));
    suggestion_fini(&suggestion);
    return known;
}

int bp_suggest_instead(const struct bp_probe *probe, const struct bp_typed *typed,
                       struct bp_error *error) {
    struct suggestion suggestion = {0};
    bool missing = probe->kind == BP_PROBE_NOT_FOUND;
    int status = missing ? BP_RUN_NOT_FOUND : BP_RUN_NOT_EXECUTABLE;
    if (!is_no_program(probe->kind))
        return 0;
    if (strcmp(bp_text_get(&probe->path), bp_text_get(&probe->program)) != 0)
        return bp_error_set(error, status, "%s: its interpreter %s %s; nothing was run",
                            typed->words[0], bp_text_get(&probe->program),
                            bp_probe_reason(probe->kind));
    if (suggest(typed, &suggestion))
        bp_error_set(error, status, "%s %s; nothing was run. Type:\n%s", typed->words[0],
                     bp_text_get(&suggestion.why), bp_text_get(&suggestion.command));
    else
        bp_error_set(error, status, "%s %s%s; nothing was run", typed->words[0],
                     bp_text_get(&suggestion.why),
                     access(typed->words[0], F_OK) ? " (check its spelling)" : "");
    suggestion_fini(&suggestion);
    return -1;
}
