/* SPDX-License-Identifier: MIT
 *
 * Preloaded into run_batt --log: measures every call of dsl_log_call by hand, and prints its part
 * of the program's time in percent as the last line on stderr. It must cost less than what it
 * measures on any CPU (__builtin_apply, which saves the x87 state, does not): arguments go on as
 * words, those in registers and six of the caller's stack, which is more than any call has.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef void log_call(const char *name, const char *signature, uint64_t, uint64_t, uint64_t,
                      uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static struct {
    log_call *real;
    uint64_t start;
    uint64_t spent;
} state;

log_call dsl_log_call;

__attribute__((constructor)) static void begin(void) {
    state.start = __builtin_ia32_rdtsc();
    state.real = (log_call *)dlsym(RTLD_NEXT, "dsl_log_call");
}

__attribute__((destructor)) static void end(void) {
    uint64_t total = __builtin_ia32_rdtsc() - state.start;
    fprintf(stderr, "%.3f\n", 100 * (double)state.spent / (double)total);
}

void dsl_log_call(const char *name, const char *signature, uint64_t a, uint64_t b, uint64_t c,
                  uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i,
                  uint64_t j) {
    uint64_t before = __builtin_ia32_rdtsc();
    state.real(name, signature, a, b, c, d, e, f, g, h, i, j);
    state.spent += __builtin_ia32_rdtsc() - before;
}
