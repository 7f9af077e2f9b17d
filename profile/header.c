/* SPDX-License-Identifier: MIT */
#include "profile/header.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "profile/clock.h"

/* One line, with blanks in place of the ends of strings within it. */
static void make_line(char *text, long length) {
    while (length && (text[length - 1] == '\n' || text[length - 1] == '\0'))
        length--;
    text[length] = '\0';
    for (long i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
}

static void read_text(const char *path, char *text, size_t size) {
    int fd = (int)BP_SYS3(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long length = fd < 0 ? 0 : BP_SYS3(SYS_read, fd, text, size - 1);
    if (fd >= 0)
        BP_SYS1(SYS_close, fd);
    make_line(text, length < 0 ? 0 : length);
}

/* What the kernel has in /proc/self/cmdline: the arguments, each with its end. */
static void join(char **arguments, char *text, size_t size) {
    size_t used = 0;
    for (; *arguments && used < size - 1; arguments++) {
        size_t length = strlen(*arguments) + 1, room = size - 1 - used;
        memcpy(text + used, *arguments, length < room ? length : room);
        used += length < room ? length : room;
    }
    make_line(text, (long)used);
}

static void read_link(const char *path, char *text, size_t size) {
    long length = BP_SYS4(SYS_readlinkat, AT_FDCWD, path, text, size - 1);
    text[length < 0 ? 0 : length] = '\0';
}

void bp_header_begin(struct bp_header *header, uint32_t clock) {
    header->major = BP_MAJOR;
    header->minor = BP_MINOR;
    header->header_size = BP_PAGE;
    header->byte_order = BP_BYTE_ORDER;
    header->clock = clock;
    header->exit_status = -1;
    _Static_assert(sizeof BP_VERSION <= sizeof header->version, "no room for the version");
    memcpy(header->version, BP_VERSION, sizeof BP_VERSION);
}

/* CPUs that the calling thread may run on. The mask has room for 8192. */
static uint32_t count_cpus(void) {
    uint64_t mask[128] = {0};
    uint32_t count = 0;
    long size = BP_SYS3(SYS_sched_getaffinity, 0, sizeof mask, mask);
    for (long i = 0; i < size / (long)sizeof mask[0]; i++)
        for (uint64_t rest = mask[i]; rest; rest &= rest - 1)
            count++;
    return count;
}

void bp_header_set_process(struct bp_header *header, uint64_t start) {
    header->pid = (int32_t)BP_SYS0(SYS_getpid);
    header->parent_pid = (int32_t)BP_SYS0(SYS_getppid);
    header->exit_status = -1;
    header->state = BP_RUNNING;
    header->cpus = count_cpus();
    header->start = start;
    header->end = header->end_v = 0;
    header->first = bp_clock_pair_now(header->clock);
    memset(&header->last, 0, sizeof header->last);
}

void bp_header_set_place(struct bp_header *header) {
    struct utsname names = {.nodename = ""};
    /* A directory that was deleted, or is not below the root, has no name for getcwd. */
    if (BP_SYS2(SYS_getcwd, header->directory, sizeof header->directory) <= 0 ||
        header->directory[0] != '/')
        read_link("/proc/self/cwd", header->directory, sizeof header->directory);
    read_text("/proc/sys/kernel/random/boot_id", header->boot_id, sizeof header->boot_id);
    BP_SYS1(SYS_uname, &names);
    memcpy(header->host, names.nodename, strnlen(names.nodename, sizeof header->host - 1));
}

void bp_header_set_program(struct bp_header *header, char **arguments) {
    read_link("/proc/self/exe", header->executable, sizeof header->executable);
    if (arguments)
        join(arguments, header->command, sizeof header->command);
    else
        read_text("/proc/self/cmdline", header->command, sizeof header->command);
}

void bp_header_publish(struct bp_header *header) {
    memcpy(header->magic, BP_MAGIC, sizeof header->magic);
}
