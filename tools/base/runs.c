/* SPDX-License-Identifier: MIT */
#include "tools/runs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/memory.h"
#include "tools/output.h"

/* Six digits: more repetitions than anybody waits for, and no year or date by accident. */
#define MOST_DIGITS 6

bool bp_runs_is_number(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length <= MOST_DIGITS && name[0] != '0' &&
           strspn(name, "0123456789") == length;
}

static void add(struct bp_runs *runs, const char *path) {
    char **item = BP_APPEND(runs->path, runs->count);
    *item = bp_copy_text(path);
}

void bp_runs_init(struct bp_runs *runs, const char *path) {
    char file[PATH_MAX];
    *runs = (struct bp_runs){0};
    for (unsigned i = 1; i < UINT_MAX; i++) {
        int length = snprintf(file, sizeof(file), "%s/%u/" BP_SESSION_FILE, path, i);
        if (length >= (int)sizeof(file) || access(file, R_OK))
            break;
        file[length - (int)sizeof("/" BP_SESSION_FILE) + 1] = 0;
        add(runs, file);
    }
    runs->repeated = runs->count > 0;
    if (!runs->repeated)
        add(runs, path);
}

void bp_runs_fini(struct bp_runs *runs) {
    for (uint32_t i = 0; i < runs->count; i++)
        free(runs->path[i]);
    free(runs->path);
}
