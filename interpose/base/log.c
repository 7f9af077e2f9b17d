/* SPDX-License-Identifier: MIT */
#include "interpose/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include "profile/sys.h"

static struct { uint64_t device, inode; } state;

static int descriptor(struct stat *status) {
    return BP_SYS2(SYS_fstat, 2, status) == 0;
}

void bp_log_init(void) {
    struct stat status;
    if (descriptor(&status)) {
        state.device = status.st_dev;
        state.inode = status.st_ino;
    }
}

static int still_stderr(void) {
    struct stat status;
    return descriptor(&status) && status.st_dev == state.device && status.st_ino == state.inode;
}

#define WIDTH 80
#define LONGEST 512 /* bytes of a message */
#define PREFIX "battprof: "

/* Text that becomes lines; what does not fit any more is left out. */
struct lines {
    char text[2 * LONGEST];
    size_t used;
    size_t column;
};

static void put(struct lines *lines, const char *text, size_t length) {
    for (size_t i = 0; i < length && lines->used < sizeof lines->text - 1; i++) {
        lines->text[lines->used++] = text[i];
        lines->column += (text[i] & 0xc0) != 0x80; /* a character of UTF-8 has one such byte */
    }
}

static size_t columns(const char *text, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += (text[i] & 0xc0) != 0x80;
    return count;
}

/* Every line says whose it is. A word that is longer than a line, a path, stays whole. */
static void wrap(struct lines *lines, const char *text) {
    while (*text) {
        size_t spaces = strspn(text, " "), word = strcspn(text + spaces, " ");
        if (spaces && lines->column + columns(text, spaces + word) > WIDTH) {
            put(lines, "\n", 1);
            lines->column = 0;
            put(lines, PREFIX "  ", sizeof PREFIX + 1);
            text += spaces;
            spaces = 0;
        }
        put(lines, text, spaces + word);
        text += spaces + word;
    }
}

static int is_terminal(void) {
    struct termios ignored;
    return BP_SYS3(SYS_ioctl, 2, TCGETS, &ignored) == 0;
}

static void print(const char *format, va_list arguments, int wrapped) {
    char text[LONGEST];
    struct lines lines = {.used = 0};
    int saved = errno;
    vsnprintf(text, sizeof text, format, arguments);
    put(&lines, PREFIX, sizeof PREFIX - 1);
    if (wrapped)
        wrap(&lines, text);
    else
        put(&lines, text, strlen(text));
    lines.text[lines.used++] = '\n'; /* put leaves room for it */
    if (still_stderr())
        BP_SYS3(SYS_write, 2, lines.text, lines.used);
    errno = saved;
}

void bp_log(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments, is_terminal());
    va_end(arguments);
}

void bp_log_wrapped(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments, 1);
    va_end(arguments);
}

void bp_log_command(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments, 0);
    va_end(arguments);
}

/* strerror may translate, which takes locks and memory. */
const char *bp_log_reason(int error) {
    switch (error) {
    case EACCES:
    case EPERM:
        return "permission denied";
    case ENOENT:
    case ENOTDIR:
        return "there is no such directory";
    case EROFS:
        return "the file system is read-only";
    case ENOSPC:
    case EDQUOT:
        return "no space left";
    case EFBIG:
        return "the limit on file size is too small";
    case ENAMETOOLONG:
        return "its name is too long";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    case ENODEV:
        return "the file system cannot map files";
    default:
        return "the system refused";
    }
}
