/* SPDX-License-Identifier: MIT
 *
 * Making and hashing values, atom by atom; compiled into the library and into the program. Nothing
 * here may call an exported function of the library: those calls would be counted.
 */
#include "torture.h"

#include <string.h>

uint64_t tt_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t tt_hash(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    while (n--)
        h = (h ^ *p++) * 0x100000001b3u; /* FNV-1a */
    return h;
}

static uint64_t hash_atom(uint64_t h, const struct tt_atom *a, const unsigned char *p) {
    const char *pointer;
    uint64_t offset;
    switch (a->kind) {
    case TT_F80:
        return tt_hash(h, p, 10);
    case TT_PTR:
        memcpy(&pointer, p, sizeof pointer);
        offset = (uint64_t)(pointer - tt_arena);
        return tt_hash(h, &offset, sizeof offset);
    case TT_CALL_U64:
    case TT_CALL_DOUBLE:
    case TT_CALL_MIXED:
        return h;
    default:
        return tt_hash(h, p, a->size);
    }
}

/* Sign and mantissa at random, exponent within 2^-32 .. 2^31. */
static void fill_float(uint64_t *rng, const struct tt_atom *a, unsigned char *p) {
    uint64_t r = tt_random(rng), exponent = r & 63;
    uint32_t f32 = (uint32_t)(r & 0x80000000u) | (uint32_t)(127 - 32 + exponent) << 23 |
                   (uint32_t)(r >> 32 & 0x7fffff);
    uint64_t f64 = (r & 1ull << 63) | (1023 - 32 + exponent) << 52 | (r >> 7 & 0xfffffffffffff);
    uint64_t mantissa = tt_random(rng) | 1ull << 63;
    uint16_t top = (uint16_t)((r >> 48 & 0x8000) | (16383 - 32 + exponent));
    if (a->kind == TT_F32) {
        memcpy(p, &f32, 4);
    } else if (a->kind == TT_F64) {
        memcpy(p, &f64, 8);
    } else {
        memcpy(p, &mantissa, 8);
        memcpy(p + 8, &top, 2);
    }
}

static void fill_atom(uint64_t *rng, const struct tt_atom *a, unsigned char *p) {
    uint64_t r;
    void *pointer;
    switch (a->kind) {
    case TT_F32:
    case TT_F64:
    case TT_F80:
        fill_float(rng, a, p);
        return;
    case TT_PTR:
        pointer = tt_arena + tt_random(rng) % sizeof tt_arena;
        memcpy(p, &pointer, sizeof pointer);
        return;
    case TT_CALL_U64:
    case TT_CALL_DOUBLE:
    case TT_CALL_MIXED:
        pointer = tt_callback((enum tt_kind)a->kind, tt_random(rng));
        memcpy(p, &pointer, sizeof pointer);
        return;
    default:
        for (unsigned i = 0; i < a->size; i += 8) {
            r = tt_random(rng);
            r &= a->kind == TT_BOOL ? 1 : a->kind == TT_DEPTH ? 3 : ~0ull;
            memcpy(p + i, &r, a->size - i < 8 ? a->size - i : 8);
        }
    }
}

uint64_t tt_hash_value(uint64_t h, unsigned type, const void *value) {
    const struct tt_type *t = &tt_types[type];
    for (unsigned i = 0; i < t->count; i++)
        h = hash_atom(h, &t->atoms[i], (const unsigned char *)value + t->atoms[i].offset);
    return h;
}

void tt_fill_value(uint64_t *rng, unsigned type, void *value) {
    const struct tt_type *t = &tt_types[type];
    for (unsigned i = 0; i < t->count; i++)
        fill_atom(rng, &t->atoms[i], (unsigned char *)value + t->atoms[i].offset);
}

uint64_t tt_hash_args(unsigned id, void *const *args) {
    const struct tt_function *f = &tt_functions[id];
    uint64_t h = 0xcbf29ce484222325u + id;
    for (unsigned i = 0; i < f->count; i++)
        h = tt_hash_value(h, f->args[i], args[i]);
    return h;
}
