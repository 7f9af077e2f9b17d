/* SPDX-License-Identifier: MIT
 *
 * See output.h. A directory is one of ours if it holds run.bp, or nothing, or runs of a series
 * (directories named by number). While a run goes on it
 * holds a lock on its run.bp (session.c): moving that directory away would send the files of its
 * later children into the new one.
 */
#include "tools/run/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/runs.h"
#include "tools/base/text.h"

#define KEPT_LIMIT 100 /* names DIR.old.1 … tried for a directory with files of others */

enum content { ABSENT, EMPTY, OURS, FOREIGN, NOT_A_DIRECTORY };

struct survey {
    enum content content;
    int profiles; /* *.bp apart from run.bp */
    int series;   /* directories with a run of a series */
    int others;
};

static bool is_profile(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".bp") == 0;
}

static bool is_run(int parent, const char *name) {
    if (!bp_runs_is_number(name))
        return false;
    char *path = bp_make_text("%s/" BP_SESSION_FILE, name);
    bool there = faccessat(parent, path, F_OK, 0) == 0;
    free(path);
    return there;
}

static struct survey survey(const char *path) {
    struct survey s = {ABSENT, 0, 0, 0};
    DIR *dir = opendir(path);
    if (!dir) {
        s.content = errno == ENOENT ? ABSENT : errno == ENOTDIR ? NOT_A_DIRECTORY : FOREIGN;
        return s;
    }
    bool session = false;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (strcmp(entry->d_name, BP_SESSION_FILE) == 0)
            session = true;
        else if (is_profile(entry->d_name))
            s.profiles++;
        else if (is_run(dirfd(dir), entry->d_name))
            s.series++;
        else
            s.others++;
    }
    closedir(dir);
    bool ours = session || (s.series && !s.others);
    s.content = ours ? OURS : s.profiles + s.series + s.others ? FOREIGN : EMPTY;
    return s;
}

int bp_output_count(const char *directory) {
    struct survey s = survey(directory);
    return s.content == EMPTY || s.content == OURS || s.content == FOREIGN ? s.profiles : -1;
}

static bool is_locked(const char *directory) {
    char *path = bp_make_text("%s/" BP_SESSION_FILE, directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (fd < 0)
        return false;
    bool locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

static bool is_in_use(const char *directory) {
    struct bp_runs runs;
    bool locked = false;
    bp_runs_init(&runs, directory);
    for (uint32_t i = 0; i < runs.count; i++)
        locked |= is_locked(runs.path[i]);
    bp_runs_fini(&runs);
    return locked;
}

/* Removes the profiles in it and, if nothing else is left, the directory. */
static int remove_profiles(const char *path) {
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *name = bp_make_text("%s/%s", path, entry->d_name);
        if (is_profile(entry->d_name))
            unlink(name);
        else if (is_run(dirfd(dir), entry->d_name))
            remove_profiles(name);
        free(name);
    }
    closedir(dir);
    return rmdir(path);
}

/* DIR.old with files of others: it stays, under a name of its own. */
static int keep(const char *old) {
    int result = -1;
    bool taken = true;
    for (int i = 1; taken && i < KEPT_LIMIT; i++) {
        char *kept = bp_make_text("%s.%d", old, i);
        taken = access(kept, F_OK) == 0;
        if (!taken && (result = rename(old, kept)) == 0)
            bp_note("kept %s as %s: it holds files that battprof did not write", old, kept);
        free(kept);
    }
    return result;
}

static int clear_old(const char *old, struct bp_error *error) {
    struct survey s = survey(old);
    int failed = 0;
    if (s.content == FOREIGN || s.content == NOT_A_DIRECTORY)
        return bp_error_set(error, BP_FAILED,
                            "%s is in the way and is not a profile; move it, or choose another "
                            "directory with -o",
                            old);
    if (s.content == EMPTY)
        failed = rmdir(old);
    else if (s.content == OURS)
        failed = s.others ? keep(old) : remove_profiles(old);
    if (failed)
        return bp_error_set(error, BP_FAILED, "%s: cannot be replaced: %s; remove it", old,
                            strerror(errno));
    return 0;
}

static int move_away(const char *wish, struct bp_error *error) {
    if (is_in_use(wish))
        return bp_error_set(error, BP_FAILED,
                            "%s is being written by another battprof run; choose another "
                            "directory with -o",
                            wish);
    char *old = bp_make_text("%s.old", wish);
    int result = clear_old(old, error);
    if (result == 0 && rename(wish, old))
        result = bp_error_set(error, BP_FAILED, "%s: cannot be renamed to %s: %s", wish, old,
                              strerror(errno));
    free(old);
    return result;
}

static int make(const char *wish, struct bp_error *error) {
    const char *advice = "; choose another directory with -o";
    if (mkdir(wish, 0777) == 0)
        return 0;
    if (errno == ENOENT)
        advice = "; make its parent directory first";
    return bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s%s", wish,
                        strerror(errno), advice);
}

char *bp_output_add_run(const char *output, unsigned number, struct bp_error *error) {
    char *directory = bp_make_text("%s/%u", output, number);
    if (make(directory, error) == 0)
        return directory;
    free(directory);
    return NULL;
}

/* A new, empty directory; 0, or -1 with the error set. */
static int make_room(const char *name, struct bp_error *error) {
    struct survey s = survey(name);
    if (s.content == NOT_A_DIRECTORY)
        return bp_error_set(error, BP_FAILED, "%s is not a directory; choose another with -o",
                            name);
    if (s.content == FOREIGN)
        return bp_error_set(error, BP_FAILED,
                            "%s holds files that are not a profile; choose another directory "
                            "with -o",
                            name);
    if (s.content == OURS && move_away(name, error))
        return -1;
    return s.content == EMPTY ? 0 : make(name, error);
}

char *bp_output_prepare(const char *wish, struct bp_error *error) {
    char *directory = NULL;
    char *name = bp_copy_text(wish);
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
        name[n - 1] = 0;
    if (make_room(name, error) == 0 &&
        (access(name, W_OK | X_OK) || !(directory = realpath(name, NULL))))
        bp_error_set(error, BP_FAILED, "%s: %s; choose another directory with -o", name,
                     strerror(errno));
    free(name);
    return directory;
}
