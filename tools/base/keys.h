/* SPDX-License-Identifier: MIT
 *
 * Numbers keys in the order in which they are first seen: 0, 1, 2, … A key is any run of bytes; a
 * copy is kept. The caller's own arrays hold what belongs to a number.
 */
#ifndef BP_TOOLS_BASE_KEYS_H
#define BP_TOOLS_BASE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define BP_KEYS_NONE UINT32_MAX

struct bp_key;

struct bp_keys {
    struct bp_key *list;
    uint32_t *slots; /* number + 1; 0 is free */
    uint32_t slot_count;
    uint32_t count;
};

/* The key's number; a new one if it equals the count before the call. */
uint32_t bp_keys_put(struct bp_keys *keys, const void *key, size_t size);
/* BP_KEYS_NONE if it is not there. */
uint32_t bp_keys_get(const struct bp_keys *keys, const void *key, size_t size);
void bp_keys_fini(struct bp_keys *keys);

#endif
