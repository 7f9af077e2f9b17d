/* SPDX-License-Identifier: MIT
 *
 * See bp_sim_engine in internal.h: a sorted list of busy spans, forgotten when they are over and
 * joined when they touch.
 */
#include <string.h>

#include "cuda/sim/internal.h"

static void remove_spans(struct bp_sim_engine *engine, unsigned first, unsigned count) {
    memmove(&engine->span[first], &engine->span[first + count],
            (engine->count - first - count) * sizeof engine->span[0]);
    engine->count -= count;
}

static void forget(struct bp_sim_engine *engine, uint64_t now) {
    unsigned past = 0;
    while (past < engine->count && engine->span[past].end <= now)
        past++;
    remove_spans(engine, 0, past);
}

static void insert(struct bp_sim_engine *engine, unsigned at, uint64_t start, uint64_t end) {
    if (engine->count == BP_SIM_SPANS) { /* the first gap is given up */
        engine->span[0].end = engine->span[1].end;
        remove_spans(engine, 1, 1);
        at = at > 1 ? at - 1 : at;
        if (at <= 1 && start < engine->span[0].end) {
            engine->span[0].end = end > engine->span[0].end ? end : engine->span[0].end;
            return;
        }
    }
    memmove(&engine->span[at + 1], &engine->span[at],
            (engine->count - at) * sizeof engine->span[0]);
    engine->span[at].start = start;
    engine->span[at].end = end;
    engine->count++;
    if (at + 1 < engine->count && engine->span[at + 1].start == end) {
        engine->span[at].end = engine->span[at + 1].end;
        remove_spans(engine, at + 1, 1);
    }
    if (at > 0 && engine->span[at - 1].end == start) {
        engine->span[at - 1].end = engine->span[at].end;
        remove_spans(engine, at, 1);
    }
}

/* The end of the first span that is in the way, 0 if none is. */
static uint64_t obstacle(const struct bp_sim_engine *engine, uint64_t start, uint64_t duration) {
    for (unsigned i = 0; i < engine->count && engine->span[i].start < start + duration; i++)
        if (engine->span[i].end > start)
            return engine->span[i].end;
    return 0;
}

uint64_t bp_sim_lanes_place(struct bp_sim_engine *lanes, unsigned needed, uint64_t ready,
                            uint64_t duration) {
    uint64_t now = bp_sim_now();
    for (unsigned i = 0; i < BP_SIM_LANES; i++)
        forget(&lanes[i], now);
    for (uint64_t start = ready, next = UINT64_MAX;; start = next, next = UINT64_MAX) {
        unsigned idle[BP_SIM_LANES], count = 0;
        for (unsigned i = 0; i < BP_SIM_LANES; i++) {
            uint64_t end = obstacle(&lanes[i], start, duration);
            if (!end)
                idle[count++] = i;
            else if (end < next)
                next = end;
        }
        for (unsigned i = 0; count >= needed && i < needed; i++)
            bp_sim_engine_place(&lanes[idle[i]], start, duration);
        if (count >= needed)
            return start;
    }
}

uint64_t bp_sim_engine_place(struct bp_sim_engine *engine, uint64_t ready, uint64_t duration) {
    uint64_t start = ready;
    unsigned at = 0;
    forget(engine, bp_sim_now());
    for (; at < engine->count && start + duration > engine->span[at].start; at++)
        if (engine->span[at].end > start)
            start = engine->span[at].end;
    insert(engine, at, start, start + duration);
    return start;
}
