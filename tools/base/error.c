/* SPDX-License-Identifier: MIT
 *
 * See error.h. Lines go out in one write: during `run` the target writes to the same stderr.
 */
#include "tools/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/text.h"
#include "tools/base/wrap.h"

int bp_error_set(struct bp_error *error, int status, const char *format, ...) {
    if (error->status)
        return -1;
    va_list args;
    va_start(args, format);
    struct bp_text text = {0};
    bp_text_add_list(&text, format, args);
    va_end(args);
    error->text = bp_text_take(&text);
    error->status = status;
    return -1;
}

void bp_error_fini(struct bp_error *error) {
    free(error->text);
    *error = (struct bp_error){0};
}

void bp_error_print(struct bp_error *error) {
    if (error->status && error->text[0])
        bp_note("%s", error->text);
    bp_error_fini(error);
}

/* A file or a program gets one line, to be searched. */
static void print_line(char *line) {
    char *command = strchr(line, '\n');
    if (command)
        *command = ' ';
    fprintf(stderr, "battprof: %s\n", line);
}

/* For eyes. What follows a line end is a command to copy, and never wrapped. */
static void print_wrapped(char *line) {
    char *text = NULL;
    size_t size;
    char *command = strchr(line, '\n');
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    if (command)
        *command++ = 0;
    bp_wrap_print(line, fprintf(memory, "battprof:"), 2, memory);
    if (command)
        fprintf(memory, "  %s\n", command);
    fclose(memory);
    fputs(text, stderr);
    free(text);
}

void bp_note(const char *format, ...) {
    struct bp_text line = {0};
    va_list args;
    va_start(args, format);
    bp_text_add_list(&line, format, args);
    va_end(args);
    fflush(stdout);
    char *text = bp_text_take(&line);
    if (isatty(STDERR_FILENO))
        print_wrapped(text);
    else
        print_line(text);
    fflush(stderr);
    free(text);
}
