/* SPDX-License-Identifier: MIT
 *
 * A program that records with CUPTI itself, as torch.profiler does. CUPTI has one pair of callbacks
 * for its buffers, and they are the program's: once it has registered its own we do without device
 * records. If we were first, we make way: what only we asked for is switched off, and our buffers
 * are fetched, so that the program gets what it would get without us, and no memory to free that is
 * not its own.
 */
#include "cuda/cupti/tool.h"

#include "cuda/flush.h"
#include "cuda/internal.h"

#define KINDS 64

static uint64_t asked_for; /* by the program: bit of each kind */

void bp_tool_enables(uint32_t kind) {
    if (kind < KINDS)
        __atomic_fetch_or(&asked_for, UINT64_C(1) << kind, __ATOMIC_RELAXED);
}

void bp_tool_registers(void) {
    if (__atomic_exchange_n(&bp_cuda.taken, 1, __ATOMIC_ACQ_REL) ||
        !__atomic_load_n(&bp_cuda.active, __ATOMIC_ACQUIRE) || bp_cuda.pid != bp_process.pid)
        return;
    bp_cuda_reason(BP_COLLECTOR_STOPPED, BP_COLLECTOR_STOLEN,
                   "device records stopped coming: the program records with CUPTI itself");
    bp_cuda_disable_but(__atomic_load_n(&asked_for, __ATOMIC_RELAXED));
    bp_flush_finish();
}
