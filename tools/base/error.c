/* SPDX-License-Identifier: MIT
 *
 * See error.h. Lines go out in one write: during `run` the target writes to the same stderr.
 */
#include "tools/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/wrap.h"

int bp_error_set(struct bp_error *error, int status, const char *format, ...) {
    if (error->status)
        return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->status = status;
    return -1;
}

void bp_error_print(struct bp_error *error) {
    if (error->status && error->text[0])
        bp_note("%s", error->text);
    memset(error, 0, sizeof *error);
}

/* For eyes; a file or a program gets one line, to be searched. */
static void print_wrapped(const char *line) {
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    bp_wrap_print(line, fprintf(memory, "battprof:"), 2, memory);
    fclose(memory);
    fputs(text, stderr);
    free(text);
}

void bp_note(const char *format, ...) {
    char line[640];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        print_wrapped(line);
    else
        fprintf(stderr, "battprof: %s\n", line);
    fflush(stderr);
}
