/* SPDX-License-Identifier: MIT
 *
 * Copies that were asked for and whose records have not come. A process that is killed takes what
 * CUPTI has not told yet with it; how many copies there were, of how many bytes and which way is
 * known from their calls. So each thread counts its own copies when the calls return, and whoever
 * reads the records counts what they bring, in another item: nobody waits for anybody, and the file
 * has the difference at any time.
 */
#include "cuda/asked.h"

#include "cuda/api.h"
#include "cuda/internal.h"
#include "cuda/slot.h"
#include "cuda/sums.h"
#include "cuda/table.h"
#include "cuda/thread.h"

/* Items are made in pairs: the one that the thread writes, and after it the one for what has come.
 */
static uint32_t pair_get(struct bp_transfer *key) {
    struct bp_cuda_table *table = &bp_sums.asked;
    uint32_t index = bp_cuda_table_find(table, key);
    if (index == BP_CUDA_NONE && table->count + 2 <= table->limit) {
        index = bp_cuda_table_get(table, key);
        key->flags |= BP_TRANSFER_MET;
        if (index != BP_CUDA_NONE && bp_cuda_table_get(table, key) != index + 1)
            index = BP_CUDA_NONE;
    }
    return index == BP_CUDA_NONE ? 0 : index + 1;
}

static struct bp_transfer key_of(uint32_t thread, uint32_t node, unsigned direction, int async) {
    return (struct bp_transfer){.thread = thread,
                                .node = node,
                                .direction = (uint8_t)direction,
                                .flags = (uint8_t)(async ? BP_TRANSFER_ASYNC : 0)};
}

uint32_t bp_asked_get(struct bp_cuda_thread *own, const struct bp_cuda_call *call) {
    uint32_t direction = (uint32_t)call->copy.direction;
    struct bp_asked_known *known = &own->asked[(call->node * 4 + direction) % BP_ASKED_KNOWN];
    if (known->asked && known->node == call->node && known->direction == direction)
        return known->asked;
    struct bp_transfer key =
        key_of(own->index, call->node, direction, !bp_cuda_blocks(call->class));
    uint64_t mask = bp_lock(&bp_cuda.lock);
    uint32_t asked = pair_get(&key);
    bp_unlock(&bp_cuda.lock, mask);
    *known = (struct bp_asked_known){call->node, direction, asked};
    return asked;
}

void bp_asked_count(uint32_t asked, uint64_t bytes) {
    bp_transfer_copy(bp_sums.asked.items[asked - 1], bytes, 0);
}

/* The direction is the call's, if its slot is still there: the record's may be another one, where
 * addresses decide. Of several records of a call the first counts. */
void bp_asked_meet(struct bp_slot *slot, const struct bp_work_record *work) {
    uint32_t asked = slot ? slot->asked : 0;
    if (slot) {
        slot->asked = 0;
    } else {
        struct bp_transfer key =
            key_of(work->thread, work->node, work->direction, work->flags & BP_TRANSFER_ASYNC);
        asked = bp_cuda_table_find(&bp_sums.asked, &key) + 1; /* NONE is the highest */
    }
    if (asked)
        bp_transfer_copy(bp_sums.asked.items[asked], work->bytes, 0);
}
