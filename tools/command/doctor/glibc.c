/* SPDX-License-Identifier: MIT
 *
 * The C library that programs of this machine use: the one of the command itself may be inside it.
 * Its version stands in its file, in the sentence that it prints when it is run as a program.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/text.h"
#include "tools/command/doctor/doctor.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2" /* every program names it */
#define NAME "libc.so.6"
#define NEEDED_GLIBC 17 /* 2.17, of 2012; the lint test "needed" compares it with the libraries */

/* 36 of "stable release version 2.36."; 0 if there is no such sentence. */
static int search_version(const char *data, size_t size) {
    static const char before[] = " release version 2.";
    const char *at = memmem(data, size, before, sizeof before - 1);
    int minor = 0;
    for (at = at ? at + sizeof before - 1 : data + size; at < data + size; at++) {
        if (*at < '0' || *at > '9' || minor > 999)
            break;
        minor = 10 * minor + (*at - '0');
    }
    return minor;
}

static int read_version(const char *path) {
    struct stat status;
    int minor = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            minor = search_version(data, size);
            munmap(data, size);
        }
    }
    close(fd);
    return minor;
}

/* Beside the loader that programs use, usually behind a link; or where systems have it. */
static int find_version(void) {
    static const char *const places[] = {"/lib/x86_64-linux-gnu/" NAME, "/lib64/" NAME,
                                         "/usr/lib64/" NAME, "/usr/lib/" NAME};
    char *loader = realpath(LOADER, NULL);
    char *path = loader ? bp_make_text("%.*s" NAME, (int)(bp_base_name(loader) - loader), loader)
                        : bp_make_text(NAME);
    int minor = read_version(path);
    for (size_t i = 0; !minor && i < sizeof places / sizeof places[0]; i++)
        minor = read_version(places[i]);
    free(path);
    free(loader);
    return minor;
}

void bp_doctor_glibc(struct bp_finding *finding) {
    if (access(LOADER, F_OK)) {
        bp_finding_set(finding, BP_BAD,
                       "none here (no " LOADER "): programs of another C library, such as musl, "
                       "cannot be profiled");
        bp_finding_cure(finding, "use a system or an image with glibc, such as Debian");
        return;
    }
    int minor = find_version();
    if (!minor)
        bp_finding_set(finding, BP_ABSENT, "of unknown version; 2.%d or newer needed",
                       NEEDED_GLIBC);
    else
        bp_finding_set(finding, minor >= NEEDED_GLIBC ? BP_GOOD : BP_BAD,
                       "2.%d (2.%d or newer needed)", minor, NEEDED_GLIBC);
    if (finding->mark == BP_BAD)
        bp_finding_cure(finding, "build libbattprof.so on this machine");
}
