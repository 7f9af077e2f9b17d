/* SPDX-License-Identifier: MIT */
#include "tools/base/destination.h"

#include <errno.h>
#include <string.h>

int bp_destination_open(struct bp_destination *destination, const char *path, FILE *otherwise,
                        struct bp_error *error) {
    destination->path = path;
    destination->out = path ? fopen(path, "we") : otherwise;
    if (destination->out)
        return 0;
    return bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
}

int bp_destination_close(struct bp_destination *destination, int result, const char *what,
                         struct bp_error *error) {
    const char *path = destination->path;
    bool failed = result || fflush(destination->out) || ferror(destination->out);
    int reason = errno;
    if (path && fclose(destination->out) && !failed) {
        failed = true;
        reason = errno;
    }
    if (failed)
        return bp_error_set(error, BP_FAILED, "%s could not be written%s%s: %s", what,
                            path ? " to " : "", path ? path : "", strerror(reason));
    if (path)
        bp_note("wrote %s", path);
    return 0;
}
