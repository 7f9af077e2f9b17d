/* SPDX-License-Identifier: MIT
 *
 * Work that was submitted and whose records are awaited. Any thread opens a slot; the rest needs
 * the collector's lock.
 */
#ifndef BP_CUDA_SLOT_H
#define BP_CUDA_SLOT_H

#include <stdint.h>

enum bp_captured { BP_NOT_CAPTURED, BP_CAPTURED_BY_THREAD, BP_CAPTURED_BY_ANOTHER };
enum bp_slot_state { BP_SLOT_FREE, BP_SLOT_OPEN, BP_SLOT_SEEN, BP_SLOT_DONE };
struct bp_slot {
    uint64_t start; /* of the call */
    uint32_t sequence;
    uint8_t state; /* enum bp_slot_state; SEEN: CUPTI knows of the call */
    uint8_t class;
    uint8_t content;   /* BP_CONTENT_* of the copy, once it was hashed */
    uint8_t returned;  /* 1; 2 once it is marked */
    uint32_t transfer; /* index + 1 when its record has come */
    uint16_t captured; /* enum bp_captured: perhaps it only went into a graph */
    uint16_t graph;    /* GRAPH: which, as far as 16 bits tell */
    uint64_t bytes;    /* of the record */
    uint64_t time;     /* it took; GRAPH: the last end of its records */
    uint32_t records;  /* GRAPH: that have come */
    uint32_t asked;    /* number of its item in BP_ASKED + 1; 0: none, or its record has come */
};
#define BP_SLOTS 65536
#define BP_SLOT_SEQUENCES (UINT32_C(1) << 28)
/* 0 without memory. `graph` is the handle of one that is launched. */
uint32_t bp_slot_open(uint64_t start, unsigned class, enum bp_captured captured, uint64_t graph);
struct bp_slot *bp_slot_get(uint32_t sequence); /* NULL if it was used again */
/* Start of the oldest call whose work is awaited, `limit` if there is none. Calls that are stuck
 * while later ones are done are given up after a while. */
uint64_t bp_slot_oldest(uint64_t limit);
/* Start of the oldest call that CUPTI has not spoken of; UINT64_MAX if there is none. */
uint64_t bp_slot_unknown(void);
/* Before a flush: calls that have returned by now are those that it should bring; and whether a
 * thread waits for the device. */
void bp_slot_mark(void);
/* Marked ones that are awaited: those that CUPTI never spoke of, and those whose work was not over.
 */
void bp_slot_count(uint64_t *unknown, uint64_t *running);
void bp_slot_done(struct bp_slot *slot, uint64_t end);
uint32_t bp_slot_last(void); /* number of the last one */
int bp_slot_awaited(void);   /* whether any is */

#endif
