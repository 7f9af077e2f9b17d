/* SPDX-License-Identifier: MIT
 *
 * See unpack.h. Everything below the cache's own directory is reached through descriptors of
 * directories that were looked at, so nobody can put a link in between.
 */
#include "tools/run/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/build_id.h"
#include "tools/base/text.h"
#include "tools/run/carried.h"

#define OURS "battprof"
#define LEVELS 3 /* OURS, the build id, and a folder of the files */

/* The directories on the way to a file, outermost first. */
struct way {
    int fd[LEVELS + 1]; /* of the cache's own directory first */
    const char *name[LEVELS];
    bool made[LEVELS];
    unsigned depth;
};

/* A new text, NULL if neither variable has an absolute path. */
static char *cache_directory(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return bp_make_text("%s", cache);
    return home && home[0] == '/' ? bp_make_text("%s/.cache", home) : NULL;
}

static int enter(struct way *way, const char *name, struct bp_error *error) {
    struct stat status;
    int parent = way->fd[way->depth];
    bool made = mkdirat(parent, name, 0700) == 0;
    if (!made && errno != EEXIST)
        return bp_error_set(error, BP_FAILED, "%s cannot be made: %s", name, strerror(errno));
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return bp_error_set(error, BP_FAILED, "%s is no directory of yours", name);
    way->name[way->depth] = name;
    way->made[way->depth] = made;
    way->fd[++way->depth] = fd;
    if (fstat(fd, &status) || status.st_uid != geteuid() || (status.st_mode & 07777) != 0700)
        return bp_error_set(error, BP_FAILED, "%s does not belong to you alone (owner, mode 0700)",
                            name);
    return 0;
}

/* Directories that we made and that have remained empty go. */
static void leave(struct way *way, bool keep) {
    for (; way->depth; way->depth--) {
        close(way->fd[way->depth]);
        if (!keep && way->made[way->depth - 1])
            unlinkat(way->fd[way->depth - 1], way->name[way->depth - 1], AT_REMOVEDIR);
    }
    close(way->fd[0]);
}

static bool is_there(int directory, const char *name, const struct bp_carried *file) {
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && !(status.st_mode & 022) &&
           (size_t)status.st_size == file->size;
}

static int write_file(int directory, const char *name, const struct bp_carried *file,
                      struct bp_error *error) {
    char *fresh = bp_make_text(".%s.%d", name, getpid());
    int fd = openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int failed = fd < 0 ? -errno : bp_carried_write(file, fd);
    if (fd >= 0 && close(fd) && !failed)
        failed = -errno;
    if (!failed && renameat(directory, fresh, directory, name))
        failed = -errno;
    if (failed && fd >= 0)
        unlinkat(directory, fresh, 0);
    free(fresh);
    return failed ? bp_error_set(error, BP_FAILED, "%s: %s", name, strerror(-failed)) : 0;
}

/* A loader will map it the same way. */
static int check_mapping(int directory, const char *name, struct bp_error *error) {
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return bp_error_set(error, BP_FAILED, "no library can be loaded from there%s%s",
                            reason == EPERM ? " (noexec)" : ": ",
                            reason == EPERM ? "" : strerror(reason));
    munmap(memory, 1);
    return 0;
}

/* Into the folder of its name below the one of the build. */
static int unpack_file(struct way *way, const struct bp_carried *file, struct bp_error *error) {
    const char *name = bp_base_name(file->name);
    unsigned depth = way->depth;
    char *folder =
        bp_make_text("%.*s", (int)(name > file->name ? name - file->name - 1 : 0), file->name);
    int failed = folder[0] ? enter(way, folder, error) : 0;
    int directory = way->fd[way->depth];
    if (!failed && !is_there(directory, name, file))
        failed = write_file(directory, name, file, error);
    if (!failed)
        failed = check_mapping(directory, name, error);
    if (failed)
        unlinkat(directory, name, 0);
    if (way->depth > depth) {
        close(directory);
        way->depth--;
        if (failed && way->made[way->depth])
            unlinkat(way->fd[way->depth], folder, AT_REMOVEDIR);
    }
    free(folder);
    return failed;
}

static int unpack_all(struct way *way, const char *build_id, const char *prefix,
                      struct bp_error *error) {
    struct bp_carried file;
    if (enter(way, OURS, error) || enter(way, build_id, error))
        return -1;
    for (size_t i = 0; bp_carried_get(i, &file); i++)
        if (strncmp(file.name, prefix, strlen(prefix)) == 0 && unpack_file(way, &file, error))
            return -1;
    return 0;
}

static int unpack_into(const char *cache, const char *build_id, const char *prefix,
                       struct bp_error *error) {
    struct way way = {0};
    int made = mkdir(cache, 0700) ? errno : 0; /* as the XDG specification has it */
    way.fd[0] = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (way.fd[0] < 0) { /* because it is not there: why it could not be made says more */
        int reason = errno == ENOENT && made && made != EEXIST ? made : errno;
        return bp_error_set(error, BP_FAILED, "%s: %s", cache, strerror(reason));
    }
    int failed = unpack_all(&way, build_id, prefix, error);
    leave(&way, !failed);
    return failed;
}

char *bp_unpack(const char *prefix, struct bp_error *error) {
    struct bp_error reason = {0};
    char *path = NULL, *cache = cache_directory(), *build_id = bp_build_id_own();
    if (!cache)
        bp_error_set(error, BP_FAILED, "neither XDG_CACHE_HOME nor HOME names a directory");
    else if (!build_id)
        bp_error_set(error, BP_FAILED, BP_OWN_FILE " cannot be read");
    else if (unpack_into(cache, build_id, prefix, &reason))
        bp_error_set(error, BP_FAILED, "%s/" OURS ": %s", cache, reason.text);
    else
        path = bp_make_text("%s/" OURS "/%s", cache, build_id);
    bp_error_fini(&reason);
    free(cache);
    free(build_id);
    return path;
}
