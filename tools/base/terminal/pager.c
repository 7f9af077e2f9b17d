/* SPDX-License-Identifier: MIT
 *
 * A text is whole before it is shown: only then is it known whether it fits. A pager is a child
 * that reads it; whoever leaves the pager early has seen enough, so a broken pipe is no error.
 */
#include "tools/base/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/page.h"

#define USUAL "less"
/* For less: end at once if all fits, keep colours, leave the text on the screen. As git has it. */
#define LESS "FRX"
/* For lv, which some have instead. */
#define LV "-c"
/* What a shell says where it found no program, or one that cannot be started. */
#define NOT_FOUND 127
#define NOT_STARTED 126
/* Lines that a line goes on in are indented by so many more. */
#define DEEPER 4

extern char **environ;

int bp_pager_open(struct bp_pager *pager, FILE *out) {
    *pager = (struct bp_pager){.out = out};
    pager->memory = open_memstream(&pager->text, &pager->size);
    if (!pager->memory)
        return -1;
    bp_page_stand_in(pager->memory, out);
    return 0;
}

/* Bytes of a colour that begins here; 0 if none does. */
static size_t escape_length(const char *text) {
    if (text[0] != '\033')
        return 0;
    size_t length = strcspn(text, "m\n");
    return text[length] == 'm' ? length + 1 : 0;
}

/* Columns of the first `length` bytes. */
static int columns_of(const char *line, size_t length) {
    int columns = 0;
    for (size_t i = 0; i < length;) {
        size_t escape = escape_length(line + i);
        columns += escape ? 0 : bp_page_columns_at(line + i);
        i += escape ? escape : 1;
    }
    return columns;
}

/* The last blank before the column, behind the indent; 0 if there is none. */
static size_t break_at(const char *line, size_t length, int width) {
    size_t best = 0;
    for (size_t i = strspn(line, " "); i < length; i++)
        if (line[i] == ' ' && line[i - (i > 0)] != ' ' && columns_of(line, i) <= width)
            best = i;
    return best;
}

static bool goes_on(const char *line, size_t length) {
    return length > 0 && line[length - 1] == '\\';
}

static void write_line(FILE *out, const char *line, size_t length, int width, bool whole) {
    int indent = (int)strspn(line, " ") + DEEPER;
    for (bool begun = false;; begun = true) {
        int left = width - (begun ? indent : 0);
        size_t at = whole || columns_of(line, length) <= left ? 0 : break_at(line, length, left);
        fprintf(out, "%*s%.*s\n", begun ? indent : 0, "", (int)(at ? at : length), line);
        if (!at)
            return;
        line += at;
        length -= at;
        size_t blanks = strspn(line, " ");
        line += blanks;
        length -= blanks;
    }
}

/* A command must stay as it is: where it may be broken it was, and a blank in its last line may be
 * within quotes. */
static void write_lines(FILE *out, const char *line, int width) {
    bool command = false;
    while (*line) {
        size_t length = strcspn(line, "\n");
        bool more = goes_on(line, length);
        write_line(out, line, length, width, command || more || strncmp(line, "next: ", 6) == 0);
        command = more;
        line += length + (line[length] == '\n');
    }
}

void bp_pager_end(struct bp_pager *pager) {
    struct bp_page page;
    char *text;
    size_t size;
    bp_page_init(&page, pager->memory);
    fclose(pager->memory);
    pager->memory = NULL;
    bp_page_stand_in(NULL, NULL);
    FILE *fitted = pager->text ? open_memstream(&text, &size) : NULL;
    if (!fitted)
        return;
    write_lines(fitted, pager->text, page.width);
    fclose(fitted);
    free(pager->text);
    pager->text = text;
    pager->size = size;
}

bool bp_pager_is_long(const struct bp_pager *pager) {
    struct winsize size;
    unsigned lines = 1; /* the prompt's */
    if (!isatty(fileno(pager->out)) || ioctl(fileno(pager->out), TIOCGWINSZ, &size) ||
        size.ws_row == 0)
        return false;
    for (size_t i = 0; i < pager->size; i++)
        lines += pager->text[i] == '\n';
    return lines > size.ws_row;
}

static bool is_wanted(void) {
    const char *none = getenv("NO_PAGER");
    return !(none && none[0]);
}

/* The command, NULL for none: an empty PAGER and cat are ways to say so. */
static const char *choose(void) {
    const char *pager = getenv("PAGER");
    const char *terminal = getenv("TERM");
    if (terminal && strcmp(terminal, "dumb") == 0)
        return NULL;
    if (!pager)
        return USUAL;
    return pager[0] && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* What the pager reads; its pid, or -1. */
static pid_t start(const char *command, int input, int out) {
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    setenv("LESS", LESS, 0);
    setenv("LV", LV, 0);
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) ||
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) ||
        posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t wrote = write(fd, text, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return; /* it was left: whoever has seen enough needs no more */
        text += wrote;
        size -= (size_t)wrote;
    }
}

/* False if there is none, and nothing was shown. */
static bool page_text(const struct bp_pager *pager, const char *command) {
    int ends[2];
    int status = 0;
    if (fflush(pager->out) || pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = start(command, ends[0], fileno(pager->out));
    close(ends[0]);
    if (pid > 0)
        write_all(ends[1], pager->text, pager->size);
    close(ends[1]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && !(WIFEXITED(status) &&
                        (WEXITSTATUS(status) == NOT_FOUND || WEXITSTATUS(status) == NOT_STARTED));
}

/* The pager has the terminal: ^C is for it, and its end must not be ours. */
static bool page(const struct bp_pager *pager, const char *command) {
    static const int signals[] = {SIGINT, SIGQUIT, SIGPIPE};
    struct sigaction before[3];
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &ignore, &before[i]);
    bool shown = page_text(pager, command);
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &before[i], NULL);
    return shown;
}

int bp_pager_show(struct bp_pager *pager, bool paged) {
    const char *command = paged && is_wanted() && bp_pager_is_long(pager) ? choose() : NULL;
    if (command && page(pager, command))
        return 0;
    fwrite(pager->text, 1, pager->size, pager->out);
    return fflush(pager->out) || ferror(pager->out) ? -1 : 0;
}

void bp_pager_fini(struct bp_pager *pager) {
    if (pager->memory) {
        fclose(pager->memory);
        bp_page_stand_in(NULL, NULL);
    }
    free(pager->text);
    *pager = (struct bp_pager){0};
}
