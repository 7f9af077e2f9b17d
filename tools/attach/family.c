/* SPDX-License-Identifier: MIT */
#include "tools/attach/family.h"

#include <dirent.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/live/find.h"
#include "tools/live/trace.h"

static void add_children(struct bp_family *family, pid_t parent) {
    const struct dirent *entry;
    DIR *folder = opendir("/proc");
    while (folder && (entry = readdir(folder)) != NULL) {
        pid_t pid = bp_find_pid(entry->d_name);
        if (pid > 0 && bp_trace_status(pid, "PPid:") == parent)
            *BP_APPEND(family->pids, family->count) = pid;
    }
    if (folder)
        closedir(folder);
}

void bp_family_init(struct bp_family *family, pid_t pid) {
    *family = (struct bp_family){0};
    add_children(family, pid);
    for (uint32_t i = 0; i < family->count; i++)
        add_children(family, family->pids[i]);
}

void bp_family_fini(struct bp_family *family) {
    free(family->pids);
    *family = (struct bp_family){0};
}
