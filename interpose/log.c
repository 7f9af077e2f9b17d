/* SPDX-License-Identifier: MIT */
#include "interpose/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

void bp_log(const char *format, ...) {
    va_list arguments;
    char line[512] = "battprof: ";
    size_t used = strlen(line);
    int saved = errno;
    va_start(arguments, format);
    int length = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    used += length < 0 ? 0 : (size_t)length;
    if (used > sizeof line - 2)
        used = sizeof line - 2;
    line[used++] = '\n';
    if (still_stderr())
        BP_SYS3(SYS_write, 2, line, used);
    errno = saved;
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
