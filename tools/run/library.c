/* SPDX-License-Identifier: MIT
 *
 * See library.h. An explicit BATTPROF_LIB that does not exist is an error and no reason to look
 * further: the user meant that file. What lies around is taken if it belongs to us, to root or to
 * whoever owns the command: in /tmp anybody may put a libbattprof.so beside it. A command that
 * carries a library knows its build id and takes no other.
 */
#include "tools/run/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/build_id.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/run/carried.h"
#include "tools/run/unpack.h"

#define NAME "libbattprof.so"
#define DEVICE "sim/libcudart.so.12" /* stands for all of the simulated device */

/* Relative to the directory of the command; an absolute one stands for itself. Without the build's
 * own folders, which come first. */
static const char *const folders[] = {
    "",
    "../lib/battprof/",
    "../lib/x86_64-linux-gnu/battprof/",
    "../lib64/battprof/",
#ifndef BP_STATIC /* which does not know where it will be */
    BP_LIBDIR "/battprof/",
#endif
};

/* The folder of the running command: a new text. */
static char *own_directory(void) {
    char *path = realpath(BP_OWN_FILE, NULL);
    if (!path)
        return bp_copy_text("");
    *strrchr(path, '/') = 0;
    return path;
}

static bool is_trusted(const char *path) {
    struct stat file, command;
    if (stat(path, &file))
        return false;
    return file.st_uid == 0 || file.st_uid == geteuid() ||
           (stat(BP_OWN_FILE, &command) == 0 && file.st_uid == command.st_uid);
}

/* Is it the one that we carry, if we do? */
static bool is_ours(const char *path, const char *name) {
    struct bp_carried file;
    if (!bp_carried_find(name, &file))
        return true;
    char *build_id = bp_build_id(path);
    bool same = build_id && strcmp(build_id, file.build_id) == 0;
    free(build_id);
    return same;
}

/* A new text, NULL if there is no such file. */
static char *look_at(const char *directory, const char *folder, const char *name,
                     const char *carried) {
    bool absolute = folder[0] == '/';
    char *candidate =
        bp_make_text("%s%s%s%s", absolute ? "" : directory, absolute ? "" : "/", folder, name);
    char *found = realpath(candidate, NULL);
    free(candidate);
    if (found && is_trusted(found) && is_ours(found, carried))
        return found;
    free(found);
    return NULL;
}

/* The first place where there is such a file, `built` in a build tree: a new text, NULL if there is
 * none. */
static char *search(const char *built, const char *name) {
    char *directory = own_directory();
    char *found = look_at(directory, "", built, name);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !found; i++)
        found = look_at(directory, folders[i], name, name);
    free(directory);
    return found;
}

char *bp_library_find_sim(struct bp_error *error) {
    struct bp_error refused = {0};
    struct bp_carried file;
    char *path = search("../cuda/" DEVICE, DEVICE);
    if (!path && bp_carried_find(DEVICE, &file)) {
        char *cache = bp_unpack("sim/", &refused);
        path = cache ? bp_make_text("%s/" DEVICE, cache) : NULL;
        free(cache);
    }
    if (path)
        *strrchr(path, '/') = 0;
    else if (bp_error_is_set(&refused))
        bp_error_set(error, BP_FAILED,
                     "the simulated device needs a directory for its libraries: %s; set "
                     "XDG_CACHE_HOME to another one",
                     refused.text);
    else
        bp_error_set(error, BP_FAILED,
                     "the simulated device is neither beside this command nor in " BP_LIBDIR
                     "/battprof/sim; build it: ninja -C BUILD sim");
    bp_error_fini(&refused);
    return path;
}

static int find_wish(struct bp_library *library, const char *wish, struct bp_error *error) {
    library->place = BP_LIBRARY_WISHED;
    library->path = realpath(wish, NULL);
    if (library->path)
        return 0;
    return bp_error_set(error, BP_FAILED, "BATTPROF_LIB=%s: %s; unset it or correct it", wish,
                        strerror(errno));
}

/* Where it stays when we are gone. */
static int find(struct bp_library *library, struct bp_error *error) {
    const char *wish = getenv("BATTPROF_LIB");
    struct bp_carried file;
    if (wish && wish[0])
        return find_wish(library, wish, error);
    library->place = BP_LIBRARY_FOUND;
    library->path = search("../interpose/" NAME, NAME);
    if (library->path)
        return 0;
    if (!bp_carried_find(NAME, &file))
        return bp_error_set(error, BP_FAILED,
                            NAME " is neither beside this command nor in " BP_LIBDIR
                                 "/battprof; build it (ninja) or set BATTPROF_LIB to its path");
    char *cache = bp_unpack(NAME, error);
    library->place = BP_LIBRARY_CACHED;
    library->path = cache ? bp_make_text("%s/" NAME, cache) : NULL;
    free(cache);
    return library->path ? 0 : -1;
}

static bool has_blanks(const char *path) {
    return strpbrk(path, " \t:");
}

static int make_link(struct bp_library *library, struct bp_error *error) {
    char directory[] = "/tmp/battprof-XXXXXX";
    char *link = mkdtemp(directory) ? bp_make_text("%s/" NAME, directory) : NULL;
    if (link && symlink(library->path, link) == 0) {
        library->link = link;
        return 0;
    }
    free(link);
    return bp_error_set(error, BP_FAILED,
                        "%s cannot be preloaded: its path has a blank or colon; copy it to "
                        "another place and set BATTPROF_LIB",
                        library->path);
}

/* Takes over from a place that cannot be used. */
static int hold(struct bp_library *library, struct bp_error *refused, struct bp_error *error) {
    struct bp_carried file;
    bp_carried_find(NAME, &file);
    int fd = bp_carried_hold(&file);
    int failed = fd < 0 ? fd : bp_holder_start(&library->holder, fd);
    if (failed)
        return bp_error_set(error, BP_FAILED, "no place for " NAME ": %s; nor in memory: %s",
                            refused->text, strerror(-failed));
    free(library->path);
    library->place = BP_LIBRARY_HELD;
    library->path = bp_copy_text(library->holder.path);
    library->refused = bp_copy_text(refused->text);
    return 0;
}

int bp_library_open(struct bp_library *library, struct bp_error *error) {
    struct bp_error refused = {0};
    *library = (struct bp_library){0};
    int failed = find(library, &refused);
    if (!failed && library->place == BP_LIBRARY_CACHED && has_blanks(library->path))
        failed =
            bp_error_set(&refused, BP_FAILED, "%s: a blank or colon in the path", library->path);
    if (failed && library->place == BP_LIBRARY_CACHED)
        failed = hold(library, &refused, error);
    else if (failed)
        bp_error_set(error, refused.status, "%s", refused.text);
    else if (has_blanks(library->path))
        failed = make_link(library, error);
    bp_error_fini(&refused);
    if (failed)
        bp_library_close(library);
    return failed;
}

const char *bp_library_get(const struct bp_library *library) {
    return library->link ? library->link : library->path;
}

void bp_library_close(struct bp_library *library) {
    if (library->link) {
        unlink(library->link);
        *strrchr(library->link, '/') = 0;
        rmdir(library->link);
    }
    bp_holder_fini(&library->holder);
    free(library->path);
    free(library->refused);
    free(library->link);
    *library = (struct bp_library){0};
}

char *bp_library_find(struct bp_error *error) {
    struct bp_library library = {0};
    struct bp_error refused = {0};
    if (find(&library, &refused))
        bp_error_set(error, refused.status, "%s%s", refused.text,
                     library.place == BP_LIBRARY_CACHED
                         ? "; set XDG_CACHE_HOME to a directory of yours"
                         : "");
    bp_error_fini(&refused);
    return library.path;
}
