/* SPDX-License-Identifier: MIT
 *
 * Files that a static command has inside: libbattprof.so, the simulated device, licences. Each is
 * compressed by itself. Other commands carry nothing.
 */
#ifndef BP_TOOLS_RUN_CARRIED_H
#define BP_TOOLS_RUN_CARRIED_H

#include <stdbool.h>
#include <stddef.h>

struct bp_carried {
    const char *name;     /* with folders: "sim/libcudart.so.12" */
    const char *build_id; /* "" if the file has none */
    const void *packed;
    size_t packed_size;
    size_t size;
};

/* The file number `number`, from 0; false behind the last one. */
bool bp_carried_get(size_t number, struct bp_carried *file);
bool bp_carried_find(const char *name, struct bp_carried *file);

/* Writes the file to a descriptor; 0 or -errno. */
int bp_carried_write(const struct bp_carried *file, int fd);

/* A sealed file in memory, closed on exec: its descriptor, or -errno. */
int bp_carried_hold(const struct bp_carried *file);

#endif
