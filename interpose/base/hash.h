/* SPDX-License-Identifier: MIT
 *
 * Hashing of a few words, for tables whose keys are addresses and numbers.
 */
#ifndef BP_INTERPOSE_BASE_HASH_H
#define BP_INTERPOSE_BASE_HASH_H

#include <stdint.h>

/* One more value in a hash; its upper bits are the good ones. */
static inline uint64_t bp_mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
