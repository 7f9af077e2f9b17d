/* SPDX-License-Identifier: MIT
 *
 * Reading encoded bytes of a piece of memory that is known to be readable. Past the end everything
 * is 0 and `bad` is set; the caller looks at it once, at the end.
 */
#ifndef BP_INTERPOSE_BASE_BYTES_H
#define BP_INTERPOSE_BASE_BYTES_H

#include <stdint.h>

struct bp_bytes {
    const uint8_t *at, *end;
    int bad;
};

static inline uint64_t bp_bytes_number(struct bp_bytes *bytes, unsigned size) {
    uint64_t value = 0;
    if ((uint64_t)(bytes->end - bytes->at) < size) {
        bytes->bad = 1;
        bytes->at = bytes->end;
        return 0;
    }
    __builtin_memcpy(&value, bytes->at, size); /* little-endian */
    bytes->at += size;
    return value;
}

static inline int64_t bp_bytes_signed(struct bp_bytes *bytes, unsigned size) {
    uint64_t value = bp_bytes_number(bytes, size);
    unsigned shift = 64 - 8 * size;
    return (int64_t)(value << shift) >> shift;
}

static inline uint64_t bp_bytes_uleb(struct bp_bytes *bytes) {
    uint64_t value = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && shift < 64; shift += 7) {
        byte = bp_bytes_number(bytes, 1);
        value |= (byte & 0x7f) << shift;
    }
    return value;
}

static inline int64_t bp_bytes_sleb(struct bp_bytes *bytes) {
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && shift < 64; shift += 7) {
        byte = bp_bytes_number(bytes, 1);
        value |= (byte & 0x7f) << shift;
    }
    if (shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static inline void bp_bytes_skip(struct bp_bytes *bytes, uint64_t size) {
    if ((uint64_t)(bytes->end - bytes->at) < size) {
        bytes->bad = 1;
        size = (uint64_t)(bytes->end - bytes->at);
    }
    bytes->at += size;
}

#endif
