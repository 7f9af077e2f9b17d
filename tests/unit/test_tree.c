/* SPDX-License-Identifier: MIT
 *
 * The wall page: what is handed out is what has passed. Also built with the thread sanitizer.
 */
#include <pthread.h>
#include <stdlib.h>

#include "profile/clock.h"
#include "profile/tree.h"
#include "tests/unit/test.h"

#define THREADS 4
#define STEPS 20000
#define UNIT (UINT64_C(1) << BP_TREE_V_SHIFT) /* of v, per tick */

static struct bp_tree *tree;

static void fresh(void) {
    free(tree);
    tree = aligned_alloc(64, (sizeof *tree + 63) / 64 * 64);
    memset(tree, 0, sizeof *tree);
    tree->start = 1000;
}

static void one_thread_gets_all(void) {
    fresh();
    uint64_t since = bp_tree_advance(tree, 1000, 1).v;
    struct bp_tree_step end = bp_tree_advance(tree, 1000 + 1600, -1);
    CHECK_EQUAL(end.v - since, 1600 * UNIT);
    CHECK_EQUAL(end.idle, 0);
    CHECK_EQUAL(bp_tree_advance(tree, 1000 + 4800, 1).idle, 3200);
}

static void equal_parts(void) {
    fresh();
    uint64_t a = bp_tree_advance(tree, 1000, 1).v;
    uint64_t b = bp_tree_advance(tree, 2600, 1).v;
    uint64_t end_a = bp_tree_advance(tree, 5800, -1).v;
    uint64_t end_b = bp_tree_advance(tree, 7400, -1).v;
    CHECK_EQUAL(end_a - a, (1600 + 1600) * UNIT);
    CHECK_EQUAL(end_b - b, (1600 + 1600) * UNIT);
}

static void time_never_runs_back(void) {
    fresh();
    bp_tree_advance(tree, 5000, 1);
    uint64_t v = tree->word.v;
    CHECK_EQUAL(bp_tree_advance(tree, 3000, 0).v, v);
    CHECK_EQUAL(bp_tree_advance(tree, 500, -5).v, v);
    CHECK_EQUAL(tree->word.time_n & BP_TREE_N_MASK, 0);
}

static void dead_process_leaves(void) {
    fresh();
    struct bp_tree_slot *slot = bp_tree_claim(tree, 42);
    slot->busy = 3;
    bp_tree_advance(tree, 1000, 4);
    CHECK(bp_tree_slot_of(tree, 42) == slot);
    bp_tree_release(tree, slot, 1640);
    CHECK_EQUAL(tree->word.time_n & BP_TREE_N_MASK, 1);
    CHECK(bp_tree_slot_of(tree, 42) == NULL);
    for (unsigned i = 0; i < BP_TREE_SLOTS; i++)
        CHECK(bp_tree_claim(tree, (int32_t)i + 1) != NULL);
    CHECK(bp_tree_claim(tree, 9999) == NULL);
}

static void nothing_after_the_end(void) {
    fresh();
    uint64_t v = bp_tree_advance(tree, 1000, 1).v;
    struct bp_tree_step end = bp_tree_close(tree, 4200);
    CHECK_EQUAL(end.v - v, 3200 * UNIT);
    CHECK_EQUAL(tree->closed, 4200);
    CHECK_EQUAL(tree->closed_idle, 0);
    CHECK_EQUAL(bp_tree_advance(tree, 9000, 1).v, end.v);
    CHECK_EQUAL(bp_tree_advance(tree, 19000, -2).v, end.v);
    CHECK_EQUAL(bp_tree_advance(tree, 99000, 1).idle, 0);
    CHECK_EQUAL(tree->word.time_n & BP_TREE_N_MASK, 1);
    fresh();
    bp_tree_advance(tree, 1000, 1);
    bp_tree_advance(tree, 2600, -1);
    CHECK_EQUAL(bp_tree_close(tree, 5800).idle, 3200);
    CHECK_EQUAL(tree->closed_idle, 3200);
}

struct part {
    uint64_t v, idle;
};

static void *come_and_go(void *argument) {
    struct part *part = argument;
    for (int i = 0; i < STEPS; i++) {
        struct bp_tree_step in = bp_tree_advance(tree, bp_clock_ns(CLOCK_MONOTONIC), 1);
        part->idle += in.idle;
        part->v += bp_tree_advance(tree, bp_clock_ns(CLOCK_MONOTONIC), -1).v - in.v;
    }
    return NULL;
}

static void parts_sum_to_the_wall(void) {
    pthread_t threads[THREADS];
    struct part parts[THREADS] = {{0, 0}}, sum = {0, 0};
    fresh();
    tree->start = bp_clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_and_go, &parts[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum.v += parts[i].v;
        sum.idle += parts[i].idle;
    }
    double wall = (double)(tree->word.time_n >> 16 << BP_TREE_TICK_SHIFT);
    CHECK_EQUAL(tree->word.time_n & BP_TREE_N_MASK, 0);
    CHECK_NEAR((double)(sum.v / UNIT + sum.idle), wall, wall * 0.0005 + 64);
}

int main(void) {
    RUN(one_thread_gets_all);
    RUN(equal_parts);
    RUN(time_never_runs_back);
    RUN(dead_process_leaves);
    RUN(nothing_after_the_end);
    RUN(parts_sum_to_the_wall);
    free(tree);
    return test_result();
}
