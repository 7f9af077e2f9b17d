/* SPDX-License-Identifier: MIT
 *
 * See paths.h. One name of the pattern after the other; a name without marks needs no look into its
 * directory, which may be one that cannot be read.
 */
#include "tools/base/paths.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

/* Continues `parent` (which ends with a slash or is empty) with the names that are left. */
static void expand(struct bp_paths *paths, const char *parent, const char *names);

static void expand_name(struct bp_paths *paths, const char *parent, const char *name,
                        const char *names) {
    char *path = bp_make_text("%s%s%s", parent, name, names[0] ? "/" : "");
    if (names[0])
        expand(paths, path, names);
    else if (access(path, F_OK) == 0)
        *BP_APPEND(paths->path, paths->count) = bp_copy_text(path);
    free(path);
}

static void expand(struct bp_paths *paths, const char *parent, const char *names) {
    size_t length = strcspn(names, "/");
    char *name = bp_make_text("%.*s", (int)length, names);
    names += length + strspn(names + length, "/");
    if (!strpbrk(name, "*?[")) {
        expand_name(paths, parent, name, names);
        free(name);
        return;
    }
    DIR *directory = opendir(parent[0] ? parent : ".");
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (fnmatch(name, entry->d_name, FNM_PERIOD) == 0)
            expand_name(paths, parent, entry->d_name, names);
    if (directory)
        closedir(directory);
    free(name);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void bp_paths_add(struct bp_paths *paths, const char *pattern) {
    uint32_t before = paths->count;
    size_t slashes = strspn(pattern, "/");
    expand(paths, slashes ? "/" : "", pattern + slashes);
    if (paths->count > before)
        qsort(paths->path + before, paths->count - before, sizeof(*paths->path), compare);
}

void bp_paths_fini(struct bp_paths *paths) {
    for (uint32_t i = 0; i < paths->count; i++)
        free(paths->path[i]);
    free(paths->path);
    *paths = (struct bp_paths){0};
}
