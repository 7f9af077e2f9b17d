/* SPDX-License-Identifier: MIT
 *
 * Signals that this process sent to its children. A pool ends its workers with SIGTERM: who waits
 * for such a child knows that nothing went wrong. The last signals are kept in a ring, one word
 * each, so that any thread or signal handler may send one.
 */
#include "interpose/process/kill.h"

#include <signal.h>

#include "interpose/hook/hook.h"

/* More children than this are rarely ended before one of them is waited for. */
#define KEPT 1024

static struct {
    uint64_t sent[KEPT]; /* pid << 32 | signal; 0: free */
    uint32_t next;
} state;

static struct { int (*kill)(pid_t, int); } real;

static int wrap_kill(pid_t pid, int number) {
    if (pid > 0 && number > 0) {
        uint32_t at = __atomic_fetch_add(&state.next, 1, __ATOMIC_RELAXED) % KEPT;
        uint64_t word = (uint64_t)(uint32_t)pid << 32 | (uint32_t)number;
        __atomic_store_n(&state.sent[at], word, __ATOMIC_RELAXED);
    }
    return real.kill(pid, number);
}

/* The pid may be another process's from now on. */
uint32_t bp_kill_sent(pid_t pid, int number) {
    uint64_t word = (uint64_t)(uint32_t)pid << 32 | (uint32_t)number;
    uint32_t found = 0;
    for (unsigned i = 0; i < KEPT; i++) {
        uint64_t kept = __atomic_load_n(&state.sent[i], __ATOMIC_RELAXED);
        if (kept >> 32 != (uint32_t)pid || !kept)
            continue;
        if (kept == word)
            found = (uint32_t)number;
        __atomic_store_n(&state.sent[i], 0, __ATOMIC_RELAXED);
    }
    return found;
}

static const struct bp_wrap wraps[] = {BP_WRAP(kill)};

void bp_kill_init(void) {
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
}
