/* SPDX-License-Identifier: MIT */
#include "tools/base/runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

/* Six digits: more repetitions than anybody waits for, and no year or date by accident. */
#define MOST_DIGITS 6

bool bp_runs_is_number(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length <= MOST_DIGITS && name[0] != '0' &&
           strspn(name, "0123456789") == length;
}

static bool has_run(const char *path, uint32_t number) {
    char *file = bp_make_text("%s/%u/" BP_SESSION_FILE, path, number);
    bool there = access(file, R_OK) == 0;
    free(file);
    return there;
}

void bp_runs_init(struct bp_runs *runs, const char *path) {
    *runs = (struct bp_runs){0};
    for (uint32_t i = 1; has_run(path, i); i++)
        *BP_APPEND(runs->path, runs->count) = bp_make_text("%s/%u", path, i);
    runs->repeated = runs->count > 0;
    if (!runs->repeated)
        *BP_APPEND(runs->path, runs->count) = bp_copy_text(path);
}

void bp_runs_fini(struct bp_runs *runs) {
    for (uint32_t i = 0; i < runs->count; i++)
        free(runs->path[i]);
    free(runs->path);
}
