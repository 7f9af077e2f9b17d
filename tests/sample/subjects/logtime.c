/* SPDX-License-Identifier: MIT
 *
 * Preloaded into run_batt --log: measures every call of dsl_log_call by hand, and prints its part
 * of the program's time in percent as the last line on stderr. The arguments are passed on as they
 * are, up to 512 bytes of them.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static struct {
    void (*real)();
    uint64_t start;
    uint64_t spent;
} state;

void dsl_log_call(const char *name, const char *signature, ...);

__attribute__((constructor)) static void begin(void) {
    state.start = __builtin_ia32_rdtsc();
    state.real = (void (*)())dlsym(RTLD_NEXT, "dsl_log_call");
}

__attribute__((destructor)) static void end(void) {
    uint64_t total = __builtin_ia32_rdtsc() - state.start;
    fprintf(stderr, "%.3f\n", 100 * (double)state.spent / (double)total);
}

void dsl_log_call(const char *name, const char *signature, ...) {
    void *arguments = __builtin_apply_args();
    (void)name;
    (void)signature;
    uint64_t before = __builtin_ia32_rdtsc();
    __builtin_apply(state.real, arguments, 512);
    state.spent += __builtin_ia32_rdtsc() - before;
}
