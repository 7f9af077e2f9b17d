/* SPDX-License-Identifier: MIT
 *
 * The walk over contexts and sampled stacks: order, paths, sums, what is left out; of one thread
 * and of all.
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "tools/model/walk.h"

enum { ROOT, SOLVE, LOAD, COPY, HELPER, FUNCTIONS };

static struct bp_function functions[FUNCTIONS] = {
    [ROOT] = {.kind = BP_FUNC_ROOT, .category = BP_FRAMEWORK},
    [SOLVE] = {.category = BP_DSL},
    [LOAD] = {.category = BP_FRAMEWORK},
    [COPY] = {.category = BP_FRAMEWORK},
    [HELPER] = {.category = BP_FRAMEWORK},
};
/* root > load, run > copy: the second thread did not load. */
static struct bp_context contexts[] = {
    {.parent = BP_NO_NODE},
    {.parent = 0, .function = ROOT, .self_s = 3},
    {.parent = 1, .function = LOAD, .self_s = 1},
    {.parent = 1, .function = SOLVE, .self_s = 8, .blocked_s = 4},
    {.parent = 3, .function = COPY, .self_s = 4},
};
static struct bp_context_part parts[] = {{.context = 3, .function = SOLVE, .part = 0.5},
                                         {.context = 3, .function = HELPER, .part = 0.25}};
static struct bp_thread_context first[] = {
    {.context = 1, .self_s = 1, .category_s = {[BP_FRAMEWORK] = 1}},
    {.context = 3, .calls = 2, .self_s = 2, .category_s = {[BP_DSL] = 2}},
    {.context = 4,
     .calls = 5,
     .bytes = 100,
     .self_s = 4,
     .category_s = {[BP_TRANSFER] = 3, [BP_FRAMEWORK] = 1}},
    {.context = 2, .calls = 1, .self_s = 1, .category_s = {[BP_FRAMEWORK] = 1}},
};
static struct bp_thread_context second[] = {
    {.context = 1, .self_s = 2, .category_s = {[BP_FRAMEWORK] = 2}},
    {.context = 3, .calls = 3, .self_s = 6, .category_s = {[BP_DSL] = 6}},
};
/* root; root, run; root, run, beyond what is known. */
static struct bp_sampled_stack stacks[] = {
    {BP_NO_STACK, ROOT, 0}, {0, SOLVE, 3000}, {1, BP_NO_FUNCTION, 5000}};
static struct bp_thread_stack first_stacks[] = {{1, 3, 1, 1000}, {2, 3, 2, 5000}};
static struct bp_thread_stack second_stacks[] = {{1, 3, 2, 2000}};
static struct bp_profile_thread sources[] = {{.node_count = 4}, {.node_count = 2}};
static struct bp_model_thread threads[] = {
    {.source = &sources[0], .contexts = first, .stacks = first_stacks, .stack_count = 2},
    {.source = &sources[1], .contexts = second, .stacks = second_stacks, .stack_count = 1},
};
static struct bp_model model = {
    .functions = functions,
    .function_count = FUNCTIONS,
    .contexts = contexts,
    .context_count = 5,
    .context_parts = parts,
    .context_part_count = 2,
    .threads = threads,
    .thread_count = 2,
    .samples = {.stacks = stacks, .stack_count = 3},
};

static struct {
    struct bp_walk_row rows[16];
    uint32_t paths[16][4];
    uint32_t count;
    uint32_t leaf; /* nothing below this function is wanted */
} seen;

static bool note_row(const struct bp_walk_row *row, void *data) {
    (void)data;
    CHECK(seen.count < 16 && row->depth < 4);
    for (uint32_t i = 0; i <= row->depth; i++)
        seen.paths[seen.count][i] = row->functions[i];
    seen.rows[seen.count++] = *row;
    return row->functions[row->depth] != seen.leaf;
}

static void walk_contexts(uint32_t thread, uint32_t leaf) {
    seen.count = 0;
    seen.leaf = leaf;
    bp_walk_contexts(&model, thread, note_row, NULL);
}

static void callers_come_first_then_the_largest(void) {
    static const uint32_t order[] = {ROOT, SOLVE, HELPER, COPY, LOAD};
    static const uint32_t depths[] = {0, 1, 2, 2, 1};
    walk_contexts(BP_ALL_THREADS, BP_NO_FUNCTION);
    CHECK_EQUAL(seen.count, 5);
    for (uint32_t i = 0; i < seen.count; i++) {
        CHECK_EQUAL(seen.rows[i].depth, depths[i]);
        CHECK_EQUAL(seen.paths[i][depths[i]], order[i]);
        CHECK_EQUAL(seen.rows[i].kind, order[i] == HELPER ? BP_WALK_PART : BP_WALK_CONTEXT);
    }
    CHECK_EQUAL(seen.paths[3][1], SOLVE);
    CHECK_EQUAL(seen.rows[0].contexts, 4);
    CHECK_EQUAL(seen.rows[1].contexts, 2);
    CHECK_EQUAL(seen.rows[1].calls, 5);
    CHECK_NEAR(seen.rows[0].total_s, 16, 0);
    CHECK_NEAR(seen.rows[1].total_s, 12, 0);
    CHECK_NEAR(seen.rows[2].self_s, 1, 1e-12); /* a quarter of what was not blocked */
    CHECK_NEAR(seen.rows[2].category_s[BP_DSL], 1, 1e-12);
    CHECK_EQUAL(seen.rows[3].bytes, 100);
    CHECK_NEAR(seen.rows[3].category_s[BP_TRANSFER], 3, 0);
}

static void threads_sum_to_all(void) {
    double self_s[2] = {0, 0};
    for (uint32_t thread = 0; thread < 2; thread++) {
        walk_contexts(thread, BP_NO_FUNCTION);
        CHECK_EQUAL(seen.count, thread ? 3 : 5);
        for (uint32_t i = 0; i < seen.count; i++)
            self_s[thread] += seen.rows[i].kind == BP_WALK_CONTEXT ? seen.rows[i].self_s : 0;
    }
    CHECK_NEAR(self_s[0], 8, 0);
    CHECK_NEAR(self_s[1], 8, 0);
    CHECK_EQUAL(seen.rows[0].contexts, 2);
    CHECK_NEAR(seen.rows[2].self_s, 0.75, 1e-12); /* blocked in proportion */
}

static void subtrees_are_left_out(void) {
    walk_contexts(BP_ALL_THREADS, SOLVE);
    CHECK_EQUAL(seen.count, 3);
    CHECK_EQUAL(seen.paths[2][1], LOAD);
    walk_contexts(BP_ALL_THREADS, ROOT);
    CHECK_EQUAL(seen.count, 1);
}

static void stacks_come_by_time(void) {
    seen.count = 0;
    bp_walk_stacks(&model, BP_ALL_THREADS, note_row, NULL);
    CHECK_EQUAL(seen.count, 2);
    CHECK_EQUAL(seen.rows[0].kind, BP_WALK_STACK);
    CHECK_EQUAL(seen.rows[0].depth, 2);
    CHECK_EQUAL(seen.paths[0][0], ROOT);
    CHECK_EQUAL(seen.paths[0][1], SOLVE);
    CHECK_EQUAL(seen.paths[0][2], BP_NO_FUNCTION);
    CHECK_NEAR(seen.rows[0].self_s, 5e-6, 1e-15);
    CHECK_NEAR(seen.rows[1].self_s, 3e-6, 1e-15);
    CHECK_NEAR(seen.rows[1].category_s[BP_DSL], 3e-6, 1e-15);
    CHECK_EQUAL(seen.rows[1].samples, 3);
    seen.count = 0;
    bp_walk_stacks(&model, 1, note_row, NULL);
    CHECK_EQUAL(seen.count, 1);
    CHECK_NEAR(seen.rows[0].self_s, 2e-6, 1e-15);
}

int main(void) {
    RUN(callers_come_first_then_the_largest);
    RUN(threads_sum_to_all);
    RUN(subtrees_are_left_out);
    RUN(stacks_come_by_time);
    return test_result();
}
