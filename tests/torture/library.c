/* SPDX-License-Identifier: MIT
 *
 * The part of libtorture.so that is not generated: what every t_NNNNNN does on entry and exit, the
 * library's own callbacks, and its view of the functions' addresses. All t_* functions are exported
 * and count themselves, so the profiler's counts have a truth to be compared with.
 */
#include "torture.h"

#include <string.h>

char tt_arena[4096];
unsigned char tt_registers_seen[TT_R_SIZE];
unsigned char tt_registers_result[TT_O_SIZE];
int tt_has_avx;

/* Callbacks are made here: the program's functions, or exported ones of this library, reached
 * through the pointer that the program took from its GOT. */
static uint64_t call_back(uint64_t h, unsigned kind, const void *arg) {
    if (kind == TT_CALL_U64) {
        uint64_t r = (*(tt_call_u64 *const *)arg)(h);
        return tt_hash(h, &r, sizeof r);
    }
    if (kind == TT_CALL_DOUBLE) {
        double r = (*(tt_call_double *const *)arg)((double)(h >> 20), (float)(h & 0xfff) / 3);
        return tt_hash(h, &r, sizeof r);
    }
    struct tt_mixed m = {(double)(h >> 40), (int64_t)h};
    m = (*(tt_call_mixed *const *)arg)(m, (long double)h / 7);
    h = tt_hash(h, &m.d, sizeof m.d);
    return tt_hash(h, &m.n, sizeof m.n);
}

uint64_t tt_enter(unsigned id, void *const *args) {
    const struct tt_function *f = &tt_functions[id];
    uint64_t h = tt_hash_args(id, args);
    tt_count[TT_FIRST + id]++;
    tt_args_seen[id] = h;
    for (unsigned i = 0; i < f->count; i++) {
        const struct tt_type *t = &tt_types[f->args[i]];
        if (t->count == 1 && t->atoms[0].kind >= TT_CALL_U64)
            h = call_back(h, t->atoms[0].kind, args[i]);
    }
    return h;
}

void tt_result(unsigned id, uint64_t h, void *result) {
    tt_fill_value(&h, tt_functions[id].ret, result);
}

/* A returned struct holds no callbacks. */
void *tt_callback(enum tt_kind kind, uint64_t choice) {
    (void)kind;
    (void)choice;
    return NULL;
}

void *t_address(unsigned id) {
    tt_count[TT_ADDRESS]++;
    return tt_table[id];
}

uint64_t t_cb_u64(uint64_t x) {
    tt_count[TT_CB_U64]++;
    return tt_random(&x);
}

double t_cb_double(double d, float f) {
    tt_count[TT_CB_DOUBLE]++;
    return d / 3 + (double)f;
}

struct tt_mixed t_cb_mixed(struct tt_mixed m, long double l) {
    tt_count[TT_CB_MIXED]++;
    m.d = m.d / 3 + (double)l;
    m.n ^= (int64_t)tt_hash(1, &l, 10);
    return m;
}
