/* SPDX-License-Identifier: MIT
 *
 * What tools/base/malloc.c gets its memory from in a test's build of the command. The allocation of
 * number FAIL_AT fails, and with FAIL_ON=1 all after it. With FAIL_LIST none does, and that file
 * gets the number of the first allocation of each call path, one to a line. With FAIL_SHOW=1 the
 * call path of what fails goes to standard error. The file FAIL_DID exists once something failed.
 */
#include <execinfo.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 9 /* of a call path, outward; three are in here and in malloc.c */
#define SHOWN 24
#define PATHS 65536 /* a power of two, many times more than there are */

#undef __libc_malloc /* meson has malloc.c take it for the functions below */
#undef __libc_calloc
#undef __libc_realloc
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *failing_malloc(size_t size);
void *failing_calloc(size_t count, size_t size);
void *failing_realloc(void *memory, size_t size);

static struct {
    long calls;
    long fails; /* 0: none */
    long all, show;
    const char *did;       /* file name */
    int list;              /* a descriptor; 0: none */
    int busy;              /* backtrace() may allocate */
    uint64_t known[PATHS]; /* hashes of call paths; 0: free */
} state;

static uint64_t hash_path(void) {
    void *path[DEPTH];
    uint64_t hash = 1;
    int depth = backtrace(path, DEPTH);
    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uint64_t)path[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash | 1;
}

static void note_path(void) {
    uint64_t hash = hash_path();
    unsigned at = (unsigned)(hash >> 40) & (PATHS - 1);
    while (state.known[at] && state.known[at] != hash)
        at = (at + 1) & (PATHS - 1);
    if (!state.known[at])
        dprintf(state.list, "%ld\n", state.calls);
    state.known[at] = hash;
}

static void show_path(void) {
    void *path[SHOWN];
    backtrace_symbols_fd(path, backtrace(path, SHOWN), STDERR_FILENO);
}

/* The command allocates in one thread. */
static int fails(void) {
    if (state.busy)
        return 0;
    state.busy = 1;
    state.calls++;
    int failed =
        state.calls == state.fails || (state.all && state.fails && state.calls > state.fails);
    if (state.list)
        note_path();
    if (failed && state.show)
        show_path();
    if (failed && state.did)
        close(open(state.did, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    state.busy = 0;
    return failed;
}

void *failing_malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *failing_calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void *failing_realloc(void *memory, size_t size) {
    return fails() ? NULL : __libc_realloc(memory, size);
}

static long number_of(const char *name) {
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
    void *path[DEPTH];
    const char *list = getenv("FAIL_LIST");
    backtrace(path, DEPTH); /* loads libgcc_s */
    state.list = list ? open(list, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : 0;
    state.all = number_of("FAIL_ON");
    state.show = number_of("FAIL_SHOW");
    state.fails = number_of("FAIL_AT");
    state.did = getenv("FAIL_DID");
    state.calls = 0;
}
