/* SPDX-License-Identifier: MIT */
#include "tools/base/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/text.h"

/* A new file that would replace this one as the user has it: a link, a device or a file that is not
 * his to make anew is written to as it is. */
static bool can_replace(const char *path) {
    struct stat status;
    if (lstat(path, &status))
        return errno == ENOENT;
    return S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == geteuid() &&
           access(path, W_OK) == 0;
}

/* The new file has the rights of the old one, or what the umask leaves. */
static FILE *open_beside(struct bp_destination *destination) {
    struct stat status;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(destination->path, &status) ? 0666 & ~mask : status.st_mode & 07777;
    destination->beside = bp_make_text("%s.XXXXXX", destination->path);
    int file = mkostemp(destination->beside, O_CLOEXEC);
    if (file >= 0 && fchmod(file, mode) == 0)
        return fdopen(file, "w");
    int reason = errno;
    if (file >= 0) {
        close(file);
        unlink(destination->beside);
    }
    free(destination->beside);
    destination->beside = NULL;
    errno = reason;
    return NULL;
}

int bp_destination_open(struct bp_destination *destination, const char *path, FILE *otherwise,
                        struct bp_error *error) {
    *destination = (struct bp_destination){.path = path, .out = otherwise};
    if (!path)
        return 0;
    destination->out = can_replace(path) ? open_beside(destination) : NULL;
    if (!destination->out) /* it may be that only the folder is not ours */
        destination->out = fopen(path, "we");
    if (destination->out)
        return 0;
    return bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
}

/* 0, or the reason; the file is in its place, or gone. */
static int settle(struct bp_destination *destination, int reason) {
    if (fclose(destination->out) && !reason)
        reason = errno;
    if (!destination->beside)
        return reason;
    if (!reason && rename(destination->beside, destination->path))
        reason = errno;
    if (reason)
        unlink(destination->beside);
    free(destination->beside);
    destination->beside = NULL;
    return reason;
}

int bp_destination_close(struct bp_destination *destination, int result, const char *what,
                         struct bp_error *error) {
    const char *path = destination->path;
    bool failed = result || fflush(destination->out) || ferror(destination->out);
    int reason = failed ? (errno ? errno : EIO) : 0;
    if (path)
        reason = settle(destination, reason);
    if (reason)
        return bp_error_set(error, BP_FAILED, "%s could not be written%s%s: %s", what,
                            path ? " to " : "", path ? path : "", strerror(reason));
    if (path && !destination->quiet)
        bp_note("wrote %s", path);
    return 0;
}
