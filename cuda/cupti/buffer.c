/* SPDX-License-Identifier: MIT
 *
 * Memory for CUPTI's records. CUPTI asks from any thread, also within a CUDA call, and must not be
 * given NULL: it would drop records silently and, in some versions, crash. A few buffers are kept
 * for the next request; what CUPTI has beyond that is given back to the system when it returns.
 */
#include "cuda/cupti/buffer.h"

#include <sys/mman.h>

#include "interpose/ledger/thread.h"

#define SIZE (UINT64_C(1) << 20) /* some 3,500 launches with their calls */
#define KEPT 8

static struct {
    struct bp_lock lock;
    uint8_t *kept[KEPT];
    unsigned count;
} state;

/* The last resort, when there is no memory at all: one record's worth, which CUPTI fills and
 * returns at once. */
static uint8_t spare[4096] __attribute__((aligned(8)));

void bp_buffer_requested(uint8_t **buffer, size_t *size, size_t *records) {
    uint64_t mask = bp_lock(&state.lock);
    *buffer = state.count ? state.kept[--state.count] : NULL;
    bp_unlock(&state.lock, mask);
    if (!*buffer)
        *buffer = bp_pages_new(SIZE);
    *size = SIZE;
    *records = 0; /* as many as fit */
    if (!*buffer) {
        *buffer = spare;
        *size = sizeof spare;
    }
}

void bp_buffer_give(uint8_t *buffer, size_t size) {
    if (buffer == spare || !buffer)
        return;
    int kept = 0;
    uint64_t mask = bp_lock(&state.lock);
    if (size == SIZE && state.count < KEPT) {
        state.kept[state.count++] = buffer;
        kept = 1;
    }
    bp_unlock(&state.lock, mask);
    if (!kept)
        bp_pages_free(buffer, size);
}
