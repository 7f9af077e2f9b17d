/* SPDX-License-Identifier: MIT
 *
 * See library.h. An explicit BATTPROF_LIB that does not exist is an error and no reason to look
 * further: the user meant that file.
 */
#include "tools/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "libbattprof.so"
#define LINK_PREFIX "/tmp/battprof-"

/* Relative to the directory of the command; an absolute one stands for itself. */
static const char *const places[] = {
    "../interpose/" NAME, /* build tree */
    NAME,
    "../lib/" NAME,
    "../lib/x86_64-linux-gnu/" NAME,
    "../lib64/" NAME,
    BP_LIBDIR "/" NAME,
};

/* Likewise, the folder of the stand-in device. */
static const char *const sim_places[] = {
    "../cuda/sim", /* build tree */
    "../lib/battprof-sim",   "../lib/x86_64-linux-gnu/battprof-sim",
    "../lib64/battprof-sim", BP_LIBDIR "/battprof-sim",
};

static int own_directory(char directory[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    if (length <= 0)
        return -1;
    directory[length] = 0;
    *strrchr(directory, '/') = 0;
    return 0;
}

/* The first place where there is such a file. */
static bool search(const char *const *place, size_t count, const char *file,
                   char directory[PATH_MAX], char path[PATH_MAX]) {
    char candidate[2 * PATH_MAX];
    if (own_directory(directory))
        directory[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (place[i][0] == '/')
            snprintf(candidate, sizeof candidate, "%s%s", place[i], file);
        else
            snprintf(candidate, sizeof candidate, "%s/%s%s", directory, place[i], file);
        if (realpath(candidate, path))
            return true;
    }
    return false;
}

int bp_library_find_sim(char path[PATH_MAX], struct bp_error *error) {
    char directory[PATH_MAX];
    if (!search(sim_places, sizeof sim_places / sizeof sim_places[0], "/libcudart.so.12", directory,
                path))
        return bp_error_set(error, BP_FAILED,
                            "the stand-in device is neither beside %s nor in " BP_LIBDIR
                            "/battprof-sim; build it: ninja -C BUILD sim",
                            directory);
    *strrchr(path, '/') = 0;
    return 0;
}

int bp_library_find(char path[PATH_MAX], struct bp_error *error) {
    const char *wish = getenv("BATTPROF_LIB");
    if (wish && wish[0]) {
        if (realpath(wish, path))
            return 0;
        return bp_error_set(error, BP_FAILED, "BATTPROF_LIB=%s: %s; unset it or correct it", wish,
                            strerror(errno));
    }
    char directory[PATH_MAX];
    if (search(places, sizeof places / sizeof places[0], "", directory, path))
        return 0;
    return bp_error_set(error, BP_FAILED,
                        NAME " is neither beside %s nor in " BP_LIBDIR
                             "; build it (ninja) or set BATTPROF_LIB to its path",
                        directory);
}

int bp_library_avoid_blanks(char path[PATH_MAX], struct bp_error *error) {
    if (!strpbrk(path, " \t:"))
        return 0;
    char link[PATH_MAX] = LINK_PREFIX "XXXXXX";
    if (mkdtemp(link)) {
        strcat(link, "/" NAME);
        if (symlink(path, link) == 0) {
            memcpy(path, link, sizeof link);
            return 0;
        }
    }
    return bp_error_set(error, BP_FAILED,
                        "%s cannot be preloaded: its path has a blank or colon; copy it to "
                        "another place and set BATTPROF_LIB",
                        path);
}

void bp_library_unlink(const char *path) {
    char directory[PATH_MAX];
    if (strncmp(path, LINK_PREFIX, strlen(LINK_PREFIX)))
        return;
    int length = (int)(strrchr(path, '/') - path);
    snprintf(directory, sizeof directory, "%.*s", length, path);
    if (readlink(path, (char[1]){0}, 1) == 1) {
        unlink(path);
        rmdir(directory);
    }
}
