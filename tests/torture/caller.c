/* SPDX-License-Identifier: MIT
 *
 * The program of the calling-convention torture. It calls every function of libtorture.so several
 * times with pseudo-random arguments and prints `name hash` per function and a total, so that a run
 * under the profiler can be compared with a bare one by cmp(1). With a path as argument it writes
 * there how often each function ran (as the functions counted themselves).
 *
 * What can be judged without a second run is judged here and makes the exit status 1: callee-saved
 * registers, control words, direction flag, errno, arguments that arrive altered, the hidden result
 * pointer in rax.
 */
#include "torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tt_frame {
    uint64_t want[6];
    uint64_t saved[6];
    uint64_t ret, rsp, rdi, rax;
    uint32_t want_mxcsr, saved_mxcsr, seen_mxcsr;
    uint16_t want_cw, saved_cw, seen_cw, seen_sw;
    uint32_t unused;
};
_Static_assert(offsetof(struct tt_frame, ret) == TT_F_RET, "callee.S");
_Static_assert(offsetof(struct tt_frame, rax) == TT_F_RAX, "callee.S");
_Static_assert(offsetof(struct tt_frame, want_mxcsr) == TT_F_WANT_MXCSR, "callee.S");
_Static_assert(offsetof(struct tt_frame, seen_sw) == TT_F_SEEN_SW, "callee.S");
_Static_assert(sizeof(struct tt_frame) == TT_F_SIZE, "callee.S");

/* Shared with callee.S. Callbacks nest: one frame for each guarded call in progress. */
struct tt_frame tt_frames[8] TT_HIDDEN;
struct tt_frame *tt_top TT_HIDDEN = tt_frames;
void *tt_target TT_HIDDEN;
uint32_t tt_bad TT_HIDDEN;
void tt_guard(void) TT_HIDDEN;
void tt_call_registers(void *target, const void *in, void *out) TT_HIDDEN;

static struct {
    uint64_t rng;
    uint64_t hash; /* of the results of the function in hand */
    uint64_t args_hash;
    int errno_before;
    int guarded;
    unsigned failures;
    void *library;
} state;

static void fail(unsigned id, unsigned call, const char *what) {
    printf("FAIL t_%06u call %u: %s\n", id, call, what);
    state.failures++;
}

/* Call 1 runs with another rounding mode, x87 precision and flush-to-zero: legal states which a
 * profiler that does arithmetic, or reloads the defaults, would spoil. */
static void *arm(void *target, uint64_t *rng, int odd_modes) {
    struct tt_frame *f = tt_top;
    uint64_t r = tt_random(rng);
    for (unsigned i = 0; i < 6; i++)
        f->want[i] = tt_random(rng);
    f->want_mxcsr = 0x1f80;
    f->want_cw = 0x37f;
    if (odd_modes) {
        f->want_mxcsr |= (uint32_t)((r & 3) << 13 | (r >> 2 & 1) << 15 | (r >> 3 & 1) << 6);
        f->want_cw = (uint16_t)((0x37f & ~0x100) | (r >> 4 & 3) << 10 | (r >> 6 & 1) << 8);
    }
    tt_target = target;
    return (void *)tt_guard;
}

static uint64_t callback_u64(uint64_t x) {
    uint64_t rng = x;
    tt_call_u64 *guarded = (tt_call_u64 *)arm((void *)t_cb_u64, &rng, 0);
    return guarded(x ^ 0x5555) + 1;
}

static double callback_double(double d, float f) {
    return t_cb_double((double)f, (float)d) * 2;
}

static struct tt_mixed callback_mixed(struct tt_mixed m, long double l) {
    struct tt_mixed r = t_cb_mixed(m, l + 1);
    r.n++;
    return r;
}

void *tt_callback(enum tt_kind kind, uint64_t choice) {
    if (kind == TT_CALL_U64)
        return choice & 1 ? (void *)callback_u64 : (void *)t_cb_u64;
    if (kind == TT_CALL_DOUBLE)
        return choice & 1 ? (void *)callback_double : (void *)t_cb_double;
    return choice & 1 ? (void *)callback_mixed : (void *)t_cb_mixed;
}

void *tt_dlsym(const char *name) {
    void *p = dlsym(state.library, name);
    if (!p) {
        fprintf(stderr, "torture: %s\n", dlerror());
        exit(1);
    }
    return p;
}

/* Fills the arguments and returns what to call: the guard, or the function itself at the last call.
 */
void *tt_begin(unsigned id, unsigned call, void *const *args, void *target) {
    const struct tt_function *f = &tt_functions[id];
    state.rng = (uint64_t)id << 8 | call;
    for (unsigned i = 0; i < f->count; i++)
        tt_fill_value(&state.rng, f->args[i], args[i]);
    state.args_hash = tt_hash_args(id, args);
    state.guarded = call + 1 < TT_CALLS;
    state.errno_before = (int)(tt_random(&state.rng) & 0x7f);
    if (state.guarded)
        target = arm(target, &state.rng, call == 1);
    errno = state.errno_before;
    return target;
}

static void judge_guard(unsigned id, unsigned call) {
    static const char *const names[] = {"rbx",   "rbp",
                                        "r12",   "r13",
                                        "r14",   "r15",
                                        "rsp",   "the direction flag",
                                        "MXCSR", "the x87 control word"};
    uint32_t flags = tt_top->seen_mxcsr & 0x3f, x87 = tt_top->seen_sw & 0x383f;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char what[64];
        if (!(tt_bad & 1u << i))
            continue;
        snprintf(what, sizeof what, "%s changed", names[i]);
        fail(id, call, what);
    }
    tt_bad = 0;
    if (tt_types[tt_functions[id].ret].in_memory && tt_top->rax != tt_top->rdi)
        fail(id, call, "rax is not the result's address");
    state.hash = tt_hash(state.hash, &flags, sizeof flags);
    state.hash = tt_hash(state.hash, &x87, sizeof x87);
}

void tt_end(unsigned id, unsigned call, void *result) {
    int now = errno;
    if (now != state.errno_before)
        fail(id, call, "errno changed");
    if (!tt_functions[id].forward && tt_args_seen[id] != state.args_hash)
        fail(id, call, "arguments altered");
    if (result)
        state.hash = tt_hash_value(state.hash, tt_functions[id].ret, result);
    if (state.guarded)
        judge_guard(id, call);
}

/* C promises one address per function, whoever takes it. Entries of the PLT are not asked. */
void tt_same_address(unsigned id, void *address) {
    if (t_address(id) != address)
        fail(id, 0, "the library and the program see different addresses");
}

/* Every argument and result register at once; see registers.S. */
static uint64_t test_registers(void) {
    unsigned char in[TT_R_SIZE], out[TT_O_SIZE];
    uint64_t h = 1, rng = 2, r;
    void *const targets[] = {TT_PLT(t_registers), (void *)t_registers, tt_dlsym("t_registers")};
    size_t vector = tt_has_avx ? 32 : 16;
    for (unsigned call = 0; call < 3; call++) {
        for (unsigned i = 0; i < sizeof in; i += 8)
            r = tt_random(&rng), memcpy(in + i, &r, 8);
        for (unsigned i = 0; i < sizeof out; i += 8)
            r = tt_random(&rng), memcpy(tt_registers_result + i, &r, 8);
        for (unsigned i = 0; i < 2; i++) /* st0 and st1 must be valid numbers */
            memcpy(tt_registers_result + TT_O_ST + 16 * i, &(long double){(long double)r / 3}, 10);
        memset(out, 0, sizeof out);
        tt_call_registers(targets[call], in, out);

        int bad = memcmp(in, tt_registers_seen, TT_R_RSP) != 0 ||
                  memcmp(out, tt_registers_result, 16) != 0;
        for (unsigned i = 0; i < 8; i++)
            bad |= memcmp(in + TT_R_VECTOR + 32 * i, tt_registers_seen + TT_R_VECTOR + 32 * i,
                          vector) != 0;
        for (unsigned i = 0; i < 2; i++) {
            unsigned v = TT_O_VECTOR + 32 * i, st = TT_O_ST + 16 * i;
            bad |= memcmp(out + v, tt_registers_result + v, vector) != 0;
            bad |= memcmp(out + st, tt_registers_result + st, 10) != 0;
        }
        bad |= (tt_registers_seen[TT_R_RSP] & 15) != 8;
        bad |= tt_registers_seen[TT_R_FLAGS + 1] & 4;
        if (bad) {
            printf("FAIL t_registers call %u: a register changed on the way\n", call);
            state.failures++;
        }
        h = tt_hash(h, out, 16);
    }
    return h;
}

static const char *name_of(unsigned index, char *buffer, size_t n) {
    static const char *const own[TT_FIRST] = {"t_registers", "t_address", "t_cb_u64", "t_cb_double",
                                              "t_cb_mixed"};
    if (index < TT_FIRST)
        return own[index];
    snprintf(buffer, n, "t_%06u", index - TT_FIRST);
    return buffer;
}

static int write_expected(const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return -errno;
    fputs("{\"library\": \"libtorture.so\", \"functions\": {", f);
    for (unsigned i = 0; i < TT_FIRST + tt_function_count; i++) {
        char buffer[16];
        fprintf(f, "%s\n\"%s\": %llu", i ? "," : "", name_of(i, buffer, sizeof buffer),
                (unsigned long long)tt_count[i]);
    }
    fputs("}}\n", f);
    return fclose(f) ? -errno : 0;
}

static int cpu_level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2"))
        return 0;
    return __builtin_cpu_supports("avx512f") ? 2 : 1;
}

int main(int argc, char **argv) {
    uint64_t total = 0, calls = 0;
    int level = cpu_level();
    unsigned skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash shows how far it came */
    tt_has_avx = level > 0;
    state.library = dlopen("libtorture.so", RTLD_NOW | RTLD_NOLOAD);
    total = test_registers();
    printf("t_registers %016llx\n", (unsigned long long)total);
    for (unsigned i = 0; i < tt_function_count; i++) {
        if (tt_functions[i].level > level) {
            skipped++;
            continue;
        }
        state.hash = i;
        tt_callers[i]();
        total = tt_hash(total, &state.hash, sizeof state.hash);
        printf("t_%06u %016llx\n", i, (unsigned long long)state.hash);
    }
    for (unsigned i = 0; i < TT_FIRST + tt_function_count; i++)
        calls += tt_count[i];
    printf("total %016llx: %llu calls, %u functions not run on this CPU, %u failures\n",
           (unsigned long long)total, (unsigned long long)calls, skipped, state.failures);
    int err = argc > 1 ? write_expected(argv[1]) : 0;
    if (err)
        fprintf(stderr, "torture: %s: %s\n", argv[1], strerror(-err));
    return state.failures || err ? 1 : 0;
}
