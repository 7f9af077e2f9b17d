/* SPDX-License-Identifier: MIT
 *
 * Projections and priorities of runs whose costs are known: one worker, several, workers with a
 * warm-up, tasks that were dropped. All figures can be done by hand.
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "tools/analyze/priority.h"
#include "tools/analyze/projection.h"

#define MOST 64

static struct bp_model_task tasks[MOST];
static struct bp_model_thread threads[8];
static struct bp_model model;

/* A task on a thread; all of it is DSL. */
static void add(uint32_t thread, double start_s, double duration_s) {
    struct bp_model_task *task = &tasks[model.tasks.count++];
    *task = (struct bp_model_task){.id = "", .name = "batt", .thread = thread};
    task->parent = BP_NO_TASK;
    task->start_s = start_s;
    task->duration_s = duration_s;
    task->wall_s = duration_s;
    task->category_s[BP_DSL] = duration_s;
}

static void begin(uint32_t thread_count) {
    model = (struct bp_model){.tasks = {.list = tasks}, .threads = threads};
    model.thread_count = thread_count;
}

static int by_start(const void *a, const void *b) {
    const struct bp_model_task *x = a;
    const struct bp_model_task *y = b;
    return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

/* 2 s before, ten tasks of 1 s with 0.1 s between, 0.5 s after. */
static void one_after_the_other(void) {
    struct bp_projection projection;
    begin(1);
    for (int i = 0; i < 10; i++)
        add(0, 2 + 1.1 * i, 1);
    model.wall.total_s = 2 + 10 + 0.9 + 0.5;
    model.wall.category_s[BP_DSL] = 10;
    model.wall.category_s[BP_FRAMEWORK] = 3.4;
    CHECK(bp_projection_init(&projection, &model, NULL));
    CHECK_EQUAL(projection.places, 1);
    CHECK_NEAR(projection.before_s, 2, 1e-9);
    CHECK_NEAR(projection.after_s, 0.5, 1e-9);
    CHECK_NEAR(projection.uneven_s, 0, 1e-9);
    CHECK_NEAR(projection.gap_s, 0.1, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 10).wall_s, model.wall.total_s, 1e-9);
    struct bp_scaled scaled = bp_projection_at(&projection, 400);
    CHECK_NEAR(scaled.wall_s, 2 + 400 + 39.9 + 0.5, 1e-9);
    /* All tasks alike: only by how much runs differ is uncertain. */
    CHECK(scaled.low_s > 0.9 * scaled.wall_s && scaled.low_s < scaled.wall_s);
    CHECK(scaled.high_s < 1.1 * scaled.wall_s && scaled.high_s > scaled.wall_s);
    CHECK_NEAR(bp_projection_at(&projection, 10).high_s, model.wall.total_s, 1e-9);
    CHECK_NEAR(scaled.category_s[BP_DSL], 400, 0.5);
    CHECK_NEAR(scaled.category_s[BP_DSL] + scaled.category_s[BP_FRAMEWORK], scaled.wall_s, 1e-9);
    CHECK_EQUAL(bp_projection_fit(&projection, 442.5, &(struct bp_saving){0}), 400);
    CHECK(!projection.drifts);
    bp_projection_fini(&projection);
}

/* Ten tasks of 1 s on four workers: three waves, the last with two. Ten times as many take 25 s. */
static void side_by_side(void) {
    struct bp_projection projection;
    begin(4);
    for (uint32_t i = 0; i < 10; i++)
        add(i % 4, 1 + i / 4, 1);
    model.wall.total_s = 4;
    CHECK(bp_projection_init(&projection, &model, NULL));
    CHECK_EQUAL(projection.places, 4);
    CHECK_NEAR(projection.uneven_s, 0.5, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 10).wall_s, 4, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 100).wall_s, 1 + 25 + 0.5, 1e-9);
    bp_projection_fini(&projection);
}

/* The first task of each of two workers takes 3 s more. */
static void warm_up(void) {
    struct bp_projection projection;
    begin(2);
    for (uint32_t thread = 0; thread < 2; thread++)
        for (int i = 0; i < 5; i++)
            add(thread, i ? 3 + i : 0, i ? 1 : 4);
    qsort(tasks, model.tasks.count, sizeof(*tasks), by_start);
    model.wall.total_s = 8;
    CHECK(bp_projection_init(&projection, &model, NULL));
    CHECK_NEAR(projection.warm_s, 3, 1e-9);
    CHECK_NEAR(projection.task_s, 1, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 10).wall_s, 8, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 400).wall_s, 3 + 200, 1e-9);
    bp_projection_fini(&projection);
}

/* An outlier of 7 s among tasks of 1 s, dropped: its place is no gap. */
static void dropped(void) {
    struct bp_projection projection;
    begin(1);
    for (int i = 0; i < 10; i++)
        add(0, i < 5 ? i : 7 + i, 1);
    add(0, 5, 7);
    tasks[10].dropped = true;
    qsort(tasks, model.tasks.count, sizeof(*tasks), by_start);
    model.wall.total_s = 10; /* without the 7 */
    CHECK(bp_projection_init(&projection, &model, NULL));
    CHECK_EQUAL(projection.from, 10);
    CHECK_NEAR(projection.gap_s, 0, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 20).wall_s, 20, 1e-9);
    bp_projection_fini(&projection);
}

static void phases_that_grow(void) {
    struct bp_model_phase phase = {.name = "loading", .count = 1, .thread_s = 2, .wall_s = 2};
    struct bp_words grows = {.word = {"loading"}, .count = 1};
    struct bp_projection projection;
    begin(1);
    for (int i = 0; i < 4; i++)
        add(0, 2 + i, 1);
    model.wall.total_s = 6;
    model.phases = &phase;
    model.phase_count = 1;
    CHECK(bp_projection_init(&projection, &model, NULL));
    CHECK_NEAR(bp_projection_at(&projection, 40).wall_s, 42, 1e-9);
    bp_projection_fini(&projection);
    CHECK(bp_projection_init(&projection, &model, &grows));
    CHECK_NEAR(bp_projection_at(&projection, 4).wall_s, 6, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 40).wall_s, 60, 1e-9);
    bp_projection_fini(&projection);
}

/* 0.5 s before each task: what is between tasks grows with them, whether it is named or not. */
static void phases_between(void) {
    struct bp_model_phase phase = {
        .name = "generating", .count = 4, .thread_s = 2, .wall_s = 2, .between = 0.75};
    struct bp_words grows = {.word = {"generating"}, .count = 1};
    struct bp_projection projection;
    begin(1);
    for (int i = 0; i < 4; i++)
        add(0, 0.5 + 1.5 * i, 1);
    model.wall.total_s = 6;
    model.phases = &phase;
    model.phase_count = 1;
    CHECK(bp_projection_init(&projection, &model, &grows));
    CHECK_NEAR(bp_projection_at(&projection, 40).wall_s, 60, 1e-9);
    CHECK_NEAR(bp_projection_gaps(&projection, 40), 13, 1e-9);
    bp_projection_fini(&projection);
}

/* Tasks of 1 and 3 s by turns: the measured ones are certain, 16 more are 16 to 80 s. */
static void interval(void) {
    struct bp_projection projection;
    begin(1);
    double at = 0;
    for (int i = 0; i < 16; i++) {
        add(0, at, i % 2 ? 3 : 1);
        at += i % 2 ? 3 : 1;
    }
    model.wall.total_s = at;
    CHECK(bp_projection_init(&projection, &model, NULL));
    struct bp_scaled scaled = bp_projection_at(&projection, 32);
    CHECK_NEAR(scaled.wall_s, 64, 1e-9);
    CHECK(scaled.low_s > 48 && scaled.low_s < 58); /* 16 more take 16 s or more */
    CHECK(scaled.high_s > 72 && scaled.high_s < 112);
    bp_projection_fini(&projection);
    begin(1);
    add(0, 0, 1);
    add(0, 1, 1);
    CHECK(!bp_projection_init(&projection, &model, NULL));
    bp_projection_fini(&projection);
}

/* 19 tasks of 1 s and one of 100 s: the measured 119 s stay, and 380 more take some time each. */
static void interval_that_is_possible(void) {
    struct bp_projection projection;
    begin(1);
    for (int i = 0; i < 20; i++)
        add(0, i < 10 ? i : i + 99, i == 9 ? 100 : 1);
    model.wall.total_s = 119;
    CHECK(bp_projection_init(&projection, &model, NULL));
    struct bp_scaled scaled = bp_projection_at(&projection, 400);
    CHECK_NEAR(scaled.wall_s, 400 * 119 / 20.0, 1e-9);
    CHECK(scaled.low_s > 119 + 0.7 * 380);
    CHECK(scaled.high_s > scaled.wall_s);
    CHECK(bp_projection_at(&projection, 10).low_s > 5);
    bp_projection_fini(&projection);
}

/* Six tasks begin at once and wait for two workers, who take 1 s for each: six places would make
 * twelve tasks as long as six. */
static void limited_by_workers(void) {
    struct bp_projection projection;
    begin(8);
    for (uint32_t i = 0; i < 6; i++) {
        add(i, 0, 1 + i / 2);
        tasks[i].inner_s = tasks[i].inner = 1;
    }
    for (uint32_t i = 0; i < 6; i++) {
        add(6 + i % 2, i / 2, 1);
        tasks[6 + i].parent = i;
        tasks[6 + i].joined = true;
    }
    model.wall.total_s = 3;
    CHECK(bp_projection_init(&projection, &model, NULL));
    CHECK_EQUAL(projection.from, 6);
    CHECK_EQUAL(projection.places, 2);
    CHECK(projection.by_workers);
    CHECK_NEAR(bp_projection_at(&projection, 6).wall_s, 3, 1e-9);
    CHECK_NEAR(bp_projection_at(&projection, 12).wall_s, 6, 1e-9);
    bp_projection_fini(&projection);
}

/* 6 s of imports before ten tasks of 1 s, 0.5 s of each in one function. Without the imports as
 * many tasks fit into an hour but for six; without the function twice as many. */
static void savings(void) {
    struct bp_projection projection;
    begin(1);
    for (int i = 0; i < 10; i++)
        add(0, 6 + i, 1);
    model.wall.total_s = 16;
    CHECK(bp_projection_init(&projection, &model, NULL));
    struct bp_saving none = {0};
    struct bp_saving imports = bp_projection_saving(&projection, 6, 0);
    struct bp_saving half = bp_projection_saving(&projection, 5, 1);
    struct bp_saving too_much = bp_projection_saving(&projection, 50, 1);
    CHECK_EQUAL(bp_projection_fit(&projection, 3600, &none), 3594);
    CHECK_NEAR(imports.once_s, 6, 1e-9);
    CHECK_EQUAL(bp_projection_fit(&projection, 3600, &imports), 3600);
    CHECK_NEAR(half.step_s, 0.5, 1e-9);
    CHECK_EQUAL(bp_projection_fit(&projection, 3600, &half), 7188);
    CHECK_NEAR(too_much.step_s, 1, 1e-9); /* a task has no more */
    bp_projection_fini(&projection);
}

/* Ten tasks of 1 s on two workers, one of them 7 s and alone at the end: tasks cost 11 s of the
 * wall, 8 s if both workers were always busy. Among more tasks it saves that much less of a step.
 */
static void savings_side_by_side(void) {
    struct bp_projection projection;
    begin(2);
    for (uint32_t i = 0; i < 10; i++) {
        add(i % 2, i / 2, i == 9 ? 7 : 1);
        tasks[i].wall_s = i == 9 ? 6.5 : 0.5;
    }
    model.wall.total_s = 11;
    CHECK(bp_projection_init(&projection, &model, NULL));
    struct bp_saving saving = bp_projection_saving(&projection, 6, 1);
    CHECK_NEAR(saving.once_s + 10 * saving.step_s, 6, 1e-9);
    CHECK_NEAR(saving.step_s, 0.6 * 8 / 11, 1e-9);
    CHECK(saving.step_s < bp_projection_step(&projection));
    CHECK_EQUAL(bp_projection_fit(&projection, 3603, &(struct bp_saving){0}), 4500);
    bp_projection_fini(&projection);
}

/* 10 s of wall: 4, 0.8 and 0.2 s in three functions, called 2, 1000 and 10^6 times. */
static void candidates(void) {
    struct bp_function functions[] = {
        {.name = "large", .category = BP_DSL, .calls = 2, .self_s = 4, .wall_s = 4},
        {.name = "middle", .category = BP_DSL, .calls = 1000, .self_s = 0.8, .wall_s = 0.8},
        {.name = "tiny", .category = BP_DSL, .calls = 1000000, .self_s = 0.2, .wall_s = 0.2},
        {.name = "rare", .category = BP_DSL, .calls = 5, .self_s = 0.05, .wall_s = 0.05},
        {.name = "log", .category = BP_FRAMEWORK, .self_s = 2, .wall_s = 2},
    };
    for (size_t i = 0; i < 5; i++)
        functions[i].library = functions[i].module = functions[i].group = "";
    struct bp_part part = {.function = 4, .category = BP_FRAMEWORK, .self_s = 2, .wall_s = 2};
    struct bp_group group = {.name = "logging", .parts = &part, .part_count = 1};
    begin(0);
    model.functions = functions;
    model.function_count = 5;
    model.groups = &group;
    model.group_count = 1;
    model.wall.total_s = 10;
    struct bp_priorities *priorities = bp_priorities_new(&model, &BP_DEFAULT_LEVELS);
    const struct bp_candidate *list = priorities->candidates;
    CHECK_EQUAL(priorities->candidate_count, 3);
    CHECK_EQUAL(list[0].priority, BP_HIGH);
    CHECK_EQUAL(list[1].priority, BP_MEDIUM);
    CHECK_EQUAL(list[2].priority, BP_LOW);
    /* Assumed: 24 us for a launch and two copies; half of 0.2 us a call is gained. */
    CHECK_NEAR(list[0].after_s[1], 10 - 4 + 4 / 3.0 + 2 * 24e-6, 1e-9);
    CHECK_NEAR(list[0].after_s[0], 10 - 4 + 4 / 6.0, 1e-9);
    CHECK_NEAR(list[1].after_s[1], 10 - 0.8 + 0.4 + 1000 * 24e-6, 1e-9);
    CHECK_NEAR(list[2].after_s[1], 10 - 0.2 + 0.1 + 24e-6, 1e-9);
    CHECK_NEAR(priorities->after_s[0], 10 - 4 * 5 / 6.0 - 0.8 * 3 / 4, 1e-9);
    CHECK_NEAR(priorities->after_s[1], 10 - 4 * 2 / 3.0 - 0.8 / 2 + 1002 * 24e-6, 1e-9);
    CHECK_EQUAL(list[0].verdict, BP_MOVE);
    CHECK_EQUAL(list[1].verdict, BP_MOVE);
    CHECK_EQUAL(list[2].verdict, BP_BATCH);
    CHECK_NEAR(list[2].break_even, 240, 1);
    CHECK(!priorities->device.launch_known && !priorities->device.copy_known[0]);
    CHECK_EQUAL(priorities->part_count, 1);
    CHECK(strcmp(priorities->parts[0].label, "logging") == 0);
    CHECK_NEAR(priorities->parts[0].half_s, 9, 1e-9);
    CHECK_NEAR(priorities->parts[0].without_s, 8, 1e-9);
    bp_priorities_free(priorities);
}

/* Copies of 507 us, as measured in the run: 2 us a call stay on the CPU. */
static void a_slow_device(void) {
    struct bp_model_device device = {.name = "slow", .latency_s = {507e-6, 507e-6}, .busy_s = 1};
    struct bp_function function = {.name = "f", .library = "", .module = "", .group = ""};
    begin(0);
    function.category = BP_DSL;
    function.calls = 1000;
    function.self_s = function.wall_s = 2e-3;
    model.functions = &function;
    model.function_count = 1;
    model.cuda.devices = &device;
    model.cuda.device_count = 1;
    model.wall.total_s = 10e-3;
    struct bp_priorities *priorities = bp_priorities_new(&model, &BP_DEFAULT_LEVELS);
    CHECK_EQUAL(priorities->candidate_count, 1);
    CHECK(priorities->device.copy_known[0] && priorities->device.copy_known[1]);
    CHECK_EQUAL(priorities->candidates[0].verdict, BP_BATCH);
    CHECK_NEAR(priorities->candidates[0].break_even, ceil(1018e-6 / (2e-6 * 2 / 3)), 1);
    function.calls = 100;
    function.self_s = function.wall_s = 2e-4;
    model.wall.total_s = 1e-3;
    bp_priorities_free(priorities);
    priorities = bp_priorities_new(&model, &BP_DEFAULT_LEVELS);
    CHECK_EQUAL(priorities->candidates[0].verdict, BP_KEEP);
    CHECK_NEAR(priorities->after_s[0], 1e-3, 1e-9); /* nothing for the device */
    bp_priorities_free(priorities);
}

int main(void) {
    RUN(one_after_the_other);
    RUN(side_by_side);
    RUN(warm_up);
    RUN(dropped);
    RUN(phases_that_grow);
    RUN(phases_between);
    RUN(interval);
    RUN(interval_that_is_possible);
    RUN(limited_by_workers);
    RUN(savings);
    RUN(savings_side_by_side);
    RUN(candidates);
    RUN(a_slow_device);
    return test_result();
}
