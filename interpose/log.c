/* SPDX-License-Identifier: MIT */
#include "interpose/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "interpose/thread.h"

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

static void write_line(const char *format, va_list arguments) {
    char line[512] = "battprof: ";
    size_t used = strlen(line);
    int saved = errno;
    int length = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    used += length < 0 ? 0 : (size_t)length;
    if (used > sizeof line - 2)
        used = sizeof line - 2;
    line[used++] = '\n';
    if (still_stderr())
        BP_SYS3(SYS_write, 2, line, used);
    errno = saved;
}

void bp_log(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void bp_switch_off(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bp_process.on = 0;
    struct bp_header *header = bp_process.writer.header;
    if (header) {
        va_list copy;
        va_copy(copy, arguments);
        vsnprintf(header->reason, sizeof header->reason, format, copy);
        va_end(copy);
        header->flags |= BP_OFF;
    }
    write_line(format, arguments);
    va_end(arguments);
}
