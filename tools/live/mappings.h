/* SPDX-License-Identifier: MIT
 *
 * What a process has mapped, and the names of its functions by their addresses.
 */
#ifndef BP_TOOLS_LIVE_MAPPINGS_H
#define BP_TOOLS_LIVE_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bp_symbols;

struct bp_mapping {
    uint64_t low, high;
    const char *path; /* as this process opens it, the same text for the same file; NULL: of none */
    uint64_t base;    /* address - base is that in the file */
    uint32_t file;    /* of the symbols */
    bool code;
    bool kernel; /* code that the kernel gives to each process: clocks */
};

struct bp_mappings {
    struct bp_mapping *rows;
    uint32_t count;
    struct bp_symbols *symbols;
};

/* Empty if the process is gone. */
void bp_mappings_init(struct bp_mappings *mappings, pid_t pid);
void bp_mappings_fini(struct bp_mappings *mappings);

/* NULL if nothing is mapped there. */
const struct bp_mapping *bp_mappings_at(const struct bp_mappings *mappings, uint64_t address);

/* The function's name, or the address: borrowed until the next one is asked for. */
const char *bp_mappings_label(const struct bp_mappings *mappings, uint64_t address);

#endif
