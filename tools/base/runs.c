/* SPDX-License-Identifier: MIT */
#include "tools/base/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

/* Six digits: more repetitions than anybody waits for, and no year or date by accident. */
#define MOST_DIGITS 6

bool bp_runs_is_number(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length <= MOST_DIGITS && name[0] != '0' &&
           strspn(name, "0123456789") == length;
}

static bool has_run(const char *path, uint32_t number) {
    char *file = bp_make_text("%s/%u/" BP_SESSION_FILE, path, number);
    bool there = access(file, R_OK) == 0;
    free(file);
    return there;
}

void bp_runs_init(struct bp_runs *runs, const char *path) {
    *runs = (struct bp_runs){0};
    for (uint32_t i = 1; has_run(path, i); i++)
        *BP_APPEND(runs->path, runs->count) = bp_make_text("%s/%u", path, i);
    runs->repeated = runs->count > 0;
    if (!runs->repeated)
        *BP_APPEND(runs->path, runs->count) = bp_copy_text(path);
}

void bp_runs_fini(struct bp_runs *runs) {
    for (uint32_t i = 0; i < runs->count; i++)
        free(runs->path[i]);
    free(runs->path);
}

static bool on_this_boot(const struct bp_header *header) {
    char here[64] = "";
    char host[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file)
        return false;
    if (!fgets(here, sizeof(here), file))
        here[0] = 0;
    fclose(file);
    here[strcspn(here, "\n")] = 0;
    gethostname(host, sizeof(host) - 1);
    return header->boot_id[0] && strncmp(here, header->boot_id, sizeof(header->boot_id) - 1) == 0 &&
           strncmp(host, header->host, sizeof(header->host) - 1) == 0;
}

/* Start of a process in ns of CLOCK_MONOTONIC; UINT64_MAX if there is none, or a zombie. */
static uint64_t process_start(int pid) {
    char path[64];
    char line[1024];
    char state = 'Z';
    unsigned long long start = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    size_t got = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[got] = 0;
    const char *after_name = strrchr(line, ')');
    if (!after_name || sscanf(after_name + 1,
                              " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                              "%*s %*s %*s %llu",
                              &state, &start) != 2)
        return UINT64_MAX;
    if (state == 'Z' || state == 'X')
        return UINT64_MAX;
    uint64_t asleep = bp_clock_ns(CLOCK_BOOTTIME) - bp_clock_ns(CLOCK_MONOTONIC);
    uint64_t since_boot = start * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    return since_boot > asleep ? since_boot - asleep : 0;
}

/* A process with a number that was given away again began after our first clock pair. The kernel's
 * start times are coarse, hence the slack. */
bool bp_runs_is_alive(const struct bp_header *header) {
    uint64_t slack = 100000000;
    return header->state == BP_RUNNING && on_this_boot(header) &&
           process_start(header->pid) <= header->first.monotonic_ns + slack;
}
