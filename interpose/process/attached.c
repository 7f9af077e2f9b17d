/* SPDX-License-Identifier: MIT */
#include "interpose/process/attached.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "interpose/base/safe.h"
#include "interpose/ledger/timer.h"
#include "interpose/process/lifetime.h"
#include "profile/attach.h"

#define LISTING 4096 /* bytes of a directory that are read at a time */

/* One that the kernel writes into the listing of a directory. */
struct listed {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* The place depends on the stack alone: any other one has something else there, or nothing. */
static const struct bp_attach *find(void) {
    struct bp_safe safe = {.low = 0};
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    uint64_t end = (here | (BP_ATTACH_STACK - 1)) + 1;
    const struct bp_attach *attach = (const void *)(end - sizeof *attach);
    if (!bp_safe_range(&safe, (uint64_t)attach, sizeof *attach) ||
        attach->magic[0] != BP_ATTACH_MAGIC_0 || attach->magic[1] != BP_ATTACH_MAGIC_1)
        return NULL;
    return attach;
}

static int waits;

int bp_attached_waits(void) {
    return waits;
}

char **bp_attached_settings(void) {
    static char text[BP_ATTACH_TEXT];
    static char *settings[BP_ATTACH_SETTINGS + 1];
    const struct bp_attach *attach = find();
    if (!attach)
        return NULL;
    waits = attach->waits != 0;
    memcpy(text, attach->settings, sizeof text - 1);
    char *at = text;
    for (unsigned i = 0; i < BP_ATTACH_SETTINGS && *at; i++, at += strlen(at) + 1)
        settings[i] = at;
    return settings;
}

static int32_t number_of(const char *name) {
    int32_t number = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        number = 10 * number + (*name - '0');
    return *name ? 0 : number;
}

static void call_listed(const char *listing, long size, int32_t self) {
    for (long at = 0; at < size;) {
        const struct listed *entry = (const void *)(listing + at);
        int32_t tid = number_of(entry->name);
        if (tid && !(tid == self && bp_self))
            bp_timer_call(tid);
        at += entry->size;
    }
}

void bp_attached_threads(void) {
    _Alignas(8) char listing[LISTING];
    long size;
    if (!bp_sampling.signal || !bp_lifetime_arms_anywhere())
        return;
    long fd = BP_SYS3(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    int32_t self = (int32_t)BP_SYS0(SYS_gettid);
    while ((size = BP_SYS3(SYS_getdents64, fd, listing, sizeof listing)) > 0)
        call_listed(listing, size, self);
    BP_SYS1(SYS_close, fd);
}
