/* SPDX-License-Identifier: MIT
 *
 * See elf_probe.h. Reads a few hundred bytes with pread and believes none of the offsets in them.
 * The rules for setuid and capabilities are the kernel's (cap_bprm_creds_from_file): only a program
 * that really gains privileges is run in the loader's secure mode.
 */
#include "tools/symbols/elf_probe.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_SCRIPTS 5 /* interpreters that are scripts; the kernel allows four */
#define MAX_PROGRAM_HEADERS 512

#if defined(__x86_64__)
#    define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#    define OUR_MACHINE EM_AARCH64
#else
#    define OUR_MACHINE EM_NONE
#endif

static const char *const reasons[] = {
    [BP_PROBE_FINE] = "can be profiled",
    [BP_PROBE_NOT_FOUND] = "is not there",
    [BP_PROBE_NOT_EXECUTABLE] = "is not executable; try chmod +x",
    [BP_PROBE_UNREADABLE] =
        "cannot be read, so it is unknown whether it can be profiled; chmod +r makes it readable",
    [BP_PROBE_STATIC] = "is statically linked, so nothing can be preloaded into it; "
                        "link it dynamically",
    [BP_PROBE_SETID] = "is setuid or setgid, so the loader ignores LD_PRELOAD; "
                       "profile a copy without that bit, or run as its owner",
    [BP_PROBE_CAPABILITIES] = "has file capabilities, so the loader ignores LD_PRELOAD; "
                              "profile a copy of it (cp drops them)",
    [BP_PROBE_32BIT] = "is a 32-bit program and libbattprof.so is not; build it for 64 bits",
    [BP_PROBE_MACHINE] = "is built for another architecture than libbattprof.so",
    [BP_PROBE_LIBC] = "does not use the GNU C library, which libbattprof.so needs; "
                      "build it against glibc",
};

const char *bp_probe_reason(enum bp_probe_kind kind) {
    return reasons[kind];
}

static bool is_executable_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* As execvp does: a name without a slash is looked for in PATH. */
static enum bp_probe_kind find_in_path(const char *command, struct bp_text *found) {
    const char *path = getenv("PATH");
    enum bp_probe_kind kind = BP_PROBE_NOT_FOUND;
    if (strchr(command, '/')) {
        bp_text_set(found, "%s", command);
        if (is_executable_file(command))
            return BP_PROBE_FINE;
        return access(command, F_OK) ? BP_PROBE_NOT_FOUND : BP_PROBE_NOT_EXECUTABLE;
    }
    for (const char *from = path ? path : "/bin:/usr/bin"; command[0];) {
        int length = (int)strcspn(from, ":");
        bp_text_set(found, "%.*s%s%s", length, from, length ? "/" : "./", command);
        if (is_executable_file(found->data))
            return BP_PROBE_FINE;
        if (access(found->data, F_OK) == 0)
            kind = BP_PROBE_NOT_EXECUTABLE;
        if (!from[length])
            break;
        from += length + 1;
    }
    bp_text_set(found, "%s", command);
    return kind;
}

/* Would the kernel raise AT_SECURE for us? */
static enum bp_probe_kind check_privileges(int fd) {
    struct stat status;
    struct statvfs fs;
    char capability[64];
    if (fstat(fd, &status) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return BP_PROBE_FINE;
    if (fstatvfs(fd, &fs) == 0 && fs.f_flag & ST_NOSUID)
        return BP_PROBE_FINE;
    bool setgid = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
    if ((status.st_mode & S_ISUID && status.st_uid != getuid()) ||
        (setgid && status.st_gid != getgid()))
        return BP_PROBE_SETID;
    if (getuid() != 0 && fgetxattr(fd, "security.capability", capability, sizeof capability) > 0)
        return BP_PROBE_CAPABILITIES;
    return BP_PROBE_FINE;
}

/* At most PATH_MAX of it: the kernel takes no more. */
static void read_loader(int fd, const Elf64_Phdr *segment, struct bp_text *loader) {
    char text[PATH_MAX];
    size_t size = segment->p_filesz < sizeof text ? segment->p_filesz : sizeof text - 1;
    ssize_t got = pread(fd, text, size, (off_t)segment->p_offset);
    text[got > 0 ? got : 0] = 0;
    bp_text_set(loader, "%s", text);
}

static enum bp_probe_kind check_loader(int fd, const Elf64_Ehdr *header, struct bp_text *loader) {
    unsigned count = header->e_phnum < MAX_PROGRAM_HEADERS ? header->e_phnum : MAX_PROGRAM_HEADERS;
    for (unsigned i = 0; i < count; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header->e_phoff + (uint64_t)i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            break;
        if (segment.p_type != PT_INTERP)
            continue;
        read_loader(fd, &segment, loader);
        break;
    }
    if (!loader->length)
        return BP_PROBE_STATIC;
    bool glibc = strstr(loader->data, "ld-linux") || strstr(loader->data, "ld64.so");
    return glibc ? BP_PROBE_FINE : BP_PROBE_LIBC;
}

static enum bp_probe_kind check_elf(int fd, const Elf64_Ehdr *header, struct bp_text *loader) {
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return BP_PROBE_32BIT;
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != OUR_MACHINE ||
        header->e_phentsize != sizeof(Elf64_Phdr))
        return BP_PROBE_MACHINE;
    enum bp_probe_kind kind = check_loader(fd, header, loader);
    return kind != BP_PROBE_FINE ? kind : check_privileges(fd);
}

static bool is_elf(const char *head, ssize_t size) {
    return size >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0;
}

enum bp_probe_kind bp_probe_elf(const char *path, struct bp_text *loader) {
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bp_text_fini(loader);
    if (fd < 0)
        return errno == ENOENT ? BP_PROBE_NOT_FOUND : BP_PROBE_UNREADABLE;
    ssize_t got = pread(fd, &header, sizeof header, 0);
    enum bp_probe_kind kind =
        is_elf((char *)&header, got) ? check_elf(fd, &header, loader) : BP_PROBE_MACHINE;
    close(fd);
    return kind;
}

/* The interpreter of a "#!" line; `#!/usr/bin/env python3` means python3 for our purpose. False if
 * the file is no script. */
static bool read_shebang(const char *path, struct bp_text *interpreter) {
    char line[256] = "", *rest;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : pread(fd, line, sizeof line - 1, 0);
    if (fd >= 0)
        close(fd);
    if (got < 2 || memcmp(line, "#!", 2))
        return false;
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    const char *program = strtok_r(line + 2, " \t\r", &rest);
    if (!program)
        return false;
    bp_text_set(interpreter, "%s", program);
    const char *base = strrchr(program, '/');
    if (!base || strcmp(base, "/env"))
        return true;
    const char *word = strtok_r(NULL, " \t\r", &rest);
    while (word && (word[0] == '-' || strchr(word, '=')))
        word = strtok_r(NULL, " \t\r", &rest);
    if (word)
        find_in_path(word, interpreter);
    return true;
}

static bool has_elf_magic(const char *path) {
    char head[sizeof(Elf64_Ehdr)];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true; /* let the probe of the file say why */
    ssize_t got = pread(fd, head, sizeof head, 0);
    close(fd);
    return is_elf(head, got);
}

void bp_probe_command(const char *command, struct bp_probe *probe) {
    memset(probe, 0, sizeof *probe);
    probe->kind = find_in_path(command, &probe->path);
    bp_text_set(&probe->program, "%s", probe->path.data);
    if (probe->kind != BP_PROBE_FINE)
        return;
    for (int i = 0; i < MAX_SCRIPTS && read_shebang(probe->program.data, &probe->program); i++)
        ;
    /* Neither ELF nor script: execvp hands it to the shell. */
    if (!has_elf_magic(probe->program.data))
        bp_text_set(&probe->program, "/bin/sh");
    probe->kind = bp_probe_elf(probe->program.data, &probe->loader);
}

void bp_probe_fini(struct bp_probe *probe) {
    bp_text_fini(&probe->path);
    bp_text_fini(&probe->program);
    bp_text_fini(&probe->loader);
}
