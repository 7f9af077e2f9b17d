/* SPDX-License-Identifier: MIT
 *
 * Tasks as run_batt holds them: plain memory outside of any arena, so that they may be read by
 * every thread and sent through a pipe.
 */
#pragma once

#include "dsl/value.h"

#define TASK_ID_MAX 64
#define TASK_TESTS_MAX 6 /* ARC has up to 4 */
#define TASK_ERROR_MAX 320

struct sample {
    struct task_grid input;
    struct task_grid output; /* height 0: not known, as in a competition's tests */
};

struct task {
    char id[TASK_ID_MAX];
    int train, tests;
    struct sample *sample; /* the train pairs, then the tests */
};

struct task_list {
    int n, room;
    struct task *task;
};

/* Both return 0 or -errno; a message stands in error. */
int task_list_load(struct task_list *list, const char *folder, char error[TASK_ERROR_MAX]);
int task_list_dump(const struct task_list *list, const char *folder, char error[TASK_ERROR_MAX]);

/* Tasks number first to first + n - 1 of that seed; each depends on seed and number only. */
int task_list_generate(struct task_list *list, int first, int n, uint64_t seed);

/* A new, empty task at the end of the list with room for that many samples, or NULL. */
struct task *task_list_add(struct task_list *list, const char *id, int samples);
void task_list_fini(struct task_list *list);

bool task_grid_equal(const struct task_grid *a, const struct task_grid *b);
/* false if the grid is larger than ARC allows. */
bool task_grid_take(struct task_grid *out, const struct dsl_grid *grid);
