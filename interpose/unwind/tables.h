/* SPDX-License-Identifier: MIT
 *
 * Where the unwind tables (.eh_frame_hdr) of loaded objects are, for a signal handler: places never
 * move and are never freed, an object that was unloaded is marked. Written by
 * whoever scans objects, under its lock; read without any.
 */
#ifndef BP_INTERPOSE_UNWIND_TABLES_H
#define BP_INTERPOSE_UNWIND_TABLES_H

#include <stdint.h>

struct bp_unwind_table {
    uint64_t low, high; /* of its PT_LOADs; high 0: unloaded */
    uint64_t header;    /* .eh_frame_hdr */
};

void bp_tables_add(uint64_t low, uint64_t high, uint64_t header);
void bp_tables_remove(uint64_t low);

/* Changes when an object was unloaded: what was known of its addresses is void. */
extern uint32_t bp_tables_unloaded __attribute__((visibility("hidden")));
static inline uint32_t bp_tables_generation(void) {
    return __atomic_load_n(&bp_tables_unloaded, __ATOMIC_ACQUIRE);
}

/* The table of the object that holds `pc`; NULL if there is none. */
const struct bp_unwind_table *bp_tables_find(uint64_t pc);

#endif
