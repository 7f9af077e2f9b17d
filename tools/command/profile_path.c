/* SPDX-License-Identifier: MIT */
#include "tools/command/profile_path.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "profile/reader.h"
#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/paths.h"
#include "tools/base/runs.h"
#include "tools/run/output.h"

/* When the run of a root began; 0 if the file cannot be read, or belongs to a root. */
static uint64_t start_of(const char *path) {
    struct bp_header header;
    struct bp_read_error ignored;
    if (bp_profile_read_header(path, &header, &ignored) || header.tree[0])
        return 0;
    return header.first.realtime_ns;
}

/* The newest file that is the root of its run: it holds the wall page. */
static char *find_newest(uint64_t *start) {
    struct bp_paths found = {0};
    char *best = NULL;
    bp_paths_add(&found, "battprof.*.bp");
    for (uint32_t i = 0; i < found.count; i++) {
        uint64_t time = start_of(found.path[i]);
        if (time == 0 || time < *start)
            continue;
        free(best);
        best = bp_copy_text(found.path[i]);
        *start = time;
    }
    bp_paths_fini(&found);
    return best;
}

/* A run with the command alone, or of a series its first one. */
static uint64_t start_of_output(void) {
    uint64_t start = start_of(BP_DEFAULT_OUTPUT "/" BP_SESSION_FILE);
    return start ? start : start_of(BP_DEFAULT_OUTPUT "/1/" BP_SESSION_FILE);
}

/* Where there are runs of both sorts, a line names the one that is shown. */
char *bp_profile_path(struct bp_error *error) {
    struct stat status;
    uint64_t start = 0;
    char *path = find_newest(&start);
    bool output = stat(BP_DEFAULT_OUTPUT, &status) == 0;
    if (!path && !output)
        bp_error_set(error, BP_FAILED,
                     "no profile here (neither " BP_DEFAULT_OUTPUT
                     " nor battprof.*.bp); how to make one:\n%s help run",
                     bp_invoked());
    if (!output)
        return path;
    uint64_t output_start = start_of_output();
    if (path && output_start && start > output_start) {
        bp_note("%s is newer than " BP_DEFAULT_OUTPUT
                ": it is shown; for the other:\n%s report " BP_DEFAULT_OUTPUT,
                path, bp_invoked());
        return path;
    }
    free(path);
    return bp_copy_text(BP_DEFAULT_OUTPUT);
}
