/* SPDX-License-Identifier: MIT
 *
 * For tests and benchmarks of the unwinder outside of the library: the tables of all objects that
 * are loaded.
 */
#ifndef BP_TESTS_UNIT_OBJECTS_H
#define BP_TESTS_UNIT_OBJECTS_H

#include <link.h>

#include "interpose/unwind/tables.h"
#include "interpose/unwind/walk.h"

static uint64_t objects_own_low; /* of the program; 0 before it was added */

static inline int objects_add(struct dl_phdr_info *info, size_t size, void *unused) {
    struct {
        uint64_t low, high, header;
    } elf = {.low = UINT64_MAX};
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            elf.header = low;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        elf.low = low < elf.low ? low : elf.low;
        if (low + info->dlpi_phdr[i].p_memsz > elf.high)
            elf.high = low + info->dlpi_phdr[i].p_memsz;
    }
    if ((uint64_t)objects_add >= elf.low && (uint64_t)objects_add < elf.high) {
        if (objects_own_low)
            return 0;
        objects_own_low = elf.low;
    }
    bp_tables_add(elf.low, elf.high, elf.header);
    return 0;
}

/* Again when more were loaded. */
static inline void objects_add_all(void) {
    dl_iterate_phdr(objects_add, NULL);
}

#endif
