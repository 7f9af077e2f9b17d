/* SPDX-License-Identifier: MIT
 *
 * Does the thing itself work: the library is there, /bin/true runs under it and leaves a profile,
 * and the current directory can hold one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/format.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/command/doctor/doctor.h"
#include "tools/run/library.h"
#include "tools/symbols/elf_probe.h"

#define SUBJECT "/bin/true"

static const struct {
    unsigned long magic;
    const char *name;
} file_systems[] = {
    {0x01021994, "tmpfs"}, {0x58465342, "xfs"}, {0x5346544e, "ntfs"},      {0x61756673, "aufs"},
    {0x65735546, "fuse"},  {0x6969, "nfs"},     {0x794c7630, "overlayfs"}, {0x9123683e, "btrfs"},
    {0x2fc12fc1, "zfs"},   {0xef53, "ext4"},    {0xff534d42, "cifs"},      {0x01021997, "9p"},
};

static void describe_library(const struct bp_library *library, struct bp_finding *finding) {
    static const char *const places[] = {
        [BP_LIBRARY_WISHED] = ", which BATTPROF_LIB names",
        [BP_LIBRARY_FOUND] = "",
        [BP_LIBRARY_CACHED] = ", unpacked from this command",
    };
    if (library->place == BP_LIBRARY_HELD)
        bp_finding_set(finding, BP_GOOD, "in memory, from this command, for each run anew: %s",
                       library->refused);
    else
        bp_finding_set(finding, BP_GOOD, "%s%s", library->path, places[library->place]);
}

void bp_doctor_library(struct bp_finding *finding) {
    struct bp_error error = {0};
    struct bp_text loader = {0};
    struct bp_library library;
    if (bp_library_open(&library, &error)) {
        bp_finding_set(finding, BP_BAD, "%s", error.text);
        bp_error_fini(&error);
        return;
    }
    enum bp_probe_kind kind = bp_probe_elf(library.path, &loader);
    if (kind != BP_PROBE_FINE && kind != BP_PROBE_STATIC) /* a library names no loader */
        bp_finding_set(finding, BP_BAD, "%s %s", library.path, bp_probe_reason(kind));
    else
        describe_library(&library, finding);
    bp_text_fini(&loader);
    bp_library_close(&library);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs SUBJECT, stderr into `log`; returns the seconds, or -1 if it did not exit with 0. */
static double run_subject(const char *library, const char *directory, const char *log) {
    double start = now();
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        dup2(fd, STDERR_FILENO);
        unsetenv("BATTPROF_TREE");
        if (library) {
            setenv("LD_PRELOAD", library, 1);
            setenv("BATTPROF_DIR", directory, 1);
            setenv("BATTPROF_QUIET", "1", 1);
        }
        execl(SUBJECT, SUBJECT, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? now() - start : -1;
}

/* Removes what the trial left; returns 1 if there was a profile with a good beginning. */
static int collect(const char *directory) {
    DIR *dir = opendir(directory);
    int found = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char magic[8] = "";
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (entry->d_name[0] != '.' && fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic)
            found |= memcmp(magic, BP_MAGIC, sizeof magic) == 0;
        if (fd >= 0)
            close(fd);
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    rmdir(directory);
    return found;
}

/* A new text. */
static char *read_first_line(const char *path) {
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    if (!file || getline(&line, &size, file) < 0) {
        free(line);
        line = bp_copy_text("");
    }
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static void try_library(const char *library, struct bp_finding *finding) {
    char directory[] = "/tmp/battprof-doctor-XXXXXX";
    if (!mkdtemp(directory)) {
        bp_finding_set(finding, BP_BAD, "not tried: /tmp: %s", strerror(errno));
        return;
    }
    char *log = bp_make_text("%s/log", directory);
    double bare = run_subject(NULL, directory, log);
    double seconds = run_subject(library, directory, log);
    char *line = read_first_line(log);
    int found = collect(directory);
    if (found && seconds >= 0)
        bp_finding_set(finding, BP_GOOD,
                       SUBJECT " ran under it and left a profile: %.1f ms, "
                               "without it %.1f",
                       seconds * 1e3, bare * 1e3);
    else
        bp_finding_set(finding, BP_BAD, SUBJECT " %s%s%s",
                       seconds < 0 ? "failed under it" : "left no profile", line[0] ? ": " : "",
                       line);
    if (finding->mark == BP_BAD)
        bp_finding_cure(finding, "rebuild libbattprof.so on this machine: tools/demo");
    free(log);
    free(line);
}

void bp_doctor_preload(struct bp_finding *finding) {
    struct bp_error error = {0};
    struct bp_library library;
    struct bp_probe probe;
    bp_probe_command(SUBJECT, &probe);
    if (probe.kind != BP_PROBE_FINE)
        bp_finding_set(finding, BP_ABSENT, "not tried: " SUBJECT " %s",
                       bp_probe_reason(probe.kind));
    else if (bp_library_open(&library, &error))
        bp_finding_set(finding, BP_BAD, "not tried: there is no library");
    else {
        try_library(bp_library_get(&library), finding);
        bp_library_close(&library);
    }
    bp_probe_fini(&probe);
    bp_error_fini(&error);
}

/* A profile is a file mapped MAP_SHARED: what is stored must be in the file. */
static int try_mapping(void) {
    char name[] = "battprof-doctor-XXXXXX", back = 0;
    int fd = mkstemp(name), result;
    if (fd < 0)
        return errno;
    unlink(name);
    result = posix_fallocate(fd, 0, BP_PAGE);
    char *memory =
        result ? MAP_FAILED : mmap(NULL, BP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        result = result ? result : errno;
    } else {
        memory[100] = 'b';
        result = pread(fd, &back, 1, 100) == 1 && back == 'b' ? 0 : EIO;
        munmap(memory, BP_PAGE);
    }
    close(fd);
    return result;
}

void bp_doctor_output(struct bp_finding *finding) {
    struct statfs fs;
    const char *name = "a file system";
    int failed = try_mapping();
    if (statfs(".", &fs))
        memset(&fs, 0, sizeof fs);
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++)
        if (file_systems[i].magic == (unsigned long)fs.f_type)
            name = file_systems[i].name;
    double megabytes = (double)fs.f_bavail * (double)fs.f_bsize / 1e6;
    if (failed) {
        bp_finding_set(finding, BP_BAD,
                       "this directory (%s, %.0f MB free) cannot hold a profile: "
                       "%s",
                       name, megabytes, strerror(failed));
        bp_finding_cure(finding, "run elsewhere, or with -o and a directory that has room");
        return;
    }
    bp_finding_set(finding, megabytes < 100 ? BP_BAD : BP_GOOD,
                   "this directory: %s, %.0f MB free, shared mappings work", name, megabytes);
    if (megabytes < 100)
        bp_finding_cure(finding, "free some space; each thread takes up to 1 MB");
}
