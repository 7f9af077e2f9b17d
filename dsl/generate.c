/* SPDX-License-Identifier: MIT
 *
 * Generated tasks: a hidden program drawn from the solver families, applied to random grids of
 * rectangles, frames, blobs and dots. Every task depends on the seed and its own position only, so
 * the first 10 of 100 are the same as 10. Some tasks are very slow and some have no program among
 * the families, as in life.
 */
#include "dsl/solver.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One task in 25 is drawn on crowded grids, one in 32 is two programs one after the other. */
#define SLOW_EVERY 25
#define SLOW_AT 12
#define HARD_EVERY 32
#define HARD_AT 7
#define INPUT_COLOURS 4
#define TRIES 200

struct dice {
    uint64_t state;
};

/* SplitMix64's step and finalizer: full period, and any seed is a good one. */
static uint64_t dice_next(struct dice *dice) {
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int dice_roll(struct dice *dice, int low, int high) {
    return low + (int)(dice_next(dice) % (uint64_t)(high - low + 1));
}

/* The plan of one task: which program, which colours, what grids. */
struct plan {
    struct dice dice;
    const struct solver *solver;
    struct program *program;
    struct program *second; /* of a hard task, else NULL */
    uint8_t colour[INPUT_COLOURS];
    int side_low, side_high, parts_low, parts_high, part_side;
    bool square;
};

static void put(struct task_grid *grid, int i, int j, int colour) {
    if (i < grid->height && j < grid->width)
        grid->cell[i * grid->width + j] = (uint8_t)colour;
}

/* kind 0 a dot, 1 a rectangle, 2 a frame, 3 a ragged blob. */
static void draw_part(struct plan *plan, struct task_grid *grid, int kind, int colour) {
    struct dice *dice = &plan->dice;
    int h = kind ? dice_roll(dice, 2, plan->part_side) : 1;
    int w = kind ? dice_roll(dice, 2, plan->part_side) : 1;
    int top = dice_roll(dice, 0, grid->height - 1), left = dice_roll(dice, 0, grid->width - 1);
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            bool edge = !i || !j || i == h - 1 || j == w - 1;
            bool drawn = kind == 2 ? edge : kind < 2 || dice_roll(dice, 0, 3);
            if (drawn)
                put(grid, top + i, left + j, colour);
        }
}

static void draw_grid(struct plan *plan, struct task_grid *grid) {
    struct dice *dice = &plan->dice;
    memset(grid, 0, sizeof(*grid));
    grid->height = (uint8_t)dice_roll(dice, plan->side_low, plan->side_high);
    grid->width = (uint8_t)dice_roll(dice, plan->side_low, plan->side_high);
    if (plan->square)
        grid->width = grid->height;
    int parts = dice_roll(dice, plan->parts_low, plan->parts_high);
    /* Every colour at least once, so that clues common to all pairs exist. */
    for (int k = 0; k < parts || k < INPUT_COLOURS; k++)
        draw_part(plan, grid, dice_roll(dice, 0, 3), plan->colour[k % INPUT_COLOURS]);
}

static bool apply_program(const struct program *program, struct dsl_arena *arena,
                          const struct task_grid *in, struct task_grid *out) {
    const struct dsl_grid *output;
    dsl_arena_reset(arena);
    const struct dsl_grid *input = dsl_grid_new(arena, in->height, in->width, in->cell);
    return input && program_run(program, arena, input, INT64_MAX, &output) == PROGRAM_DONE &&
           task_grid_take(out, output);
}

static bool make_sample(struct plan *plan, struct dsl_arena *arena, struct sample *sample) {
    struct task_grid between;
    for (int k = 0; k < TRIES; k++) {
        draw_grid(plan, &sample->input);
        if (!apply_program(plan->program, arena, &sample->input, &sample->output))
            continue;
        if (plan->second) {
            between = sample->output;
            if (!apply_program(plan->second, arena, &between, &sample->output))
                continue;
        }
        if (!task_grid_equal(&sample->input, &sample->output))
            return true;
    }
    return false;
}

/* Tasks that keep the shape are the larger part of ARC: one of the others is drawn twice. */
static const struct solver *draw_solver(struct dice *dice, bool heavy) {
    for (int again = 1;;) {
        const struct solver *solver = &solvers[dice_roll(dice, 0, solvers_count - 1)];
        if (heavy ? solver->grids == SOLVER_HEAVY : solver->shape == SOLVER_SAME || !again--)
            return solver;
    }
}

static void draw_colours(struct plan *plan, struct solver_choice *choice) {
    uint8_t colours[DSL_COLOURS - 1];
    for (int k = 0; k < DSL_COLOURS - 1; k++)
        colours[k] = (uint8_t)(k + 1);
    for (int k = DSL_COLOURS - 2; k > 0; k--) {
        int other = dice_roll(&plan->dice, 0, k);
        uint8_t kept = colours[k];
        colours[k] = colours[other];
        colours[other] = kept;
    }
    memcpy(plan->colour, colours, INPUT_COLOURS);
    choice->a = colours[0];
    /* Exchanging colours needs two that are there; drawing is done with a fresh one. */
    choice->b = strstr(plan->solver->text, "switch") ? colours[1] : colours[INPUT_COLOURS];
    choice->n = dice_roll(&plan->dice, 2, 3);
    choice->r = dice_roll(&plan->dice, 0, 1) ? 5 : 7;
}

/* The sizes set the price: a slow task has about 130 objects where an ordinary one has 10, and was
 * measured at 36 to 43 times the median. */
static void plan_grids(struct plan *plan, bool slow) {
    bool small = plan->solver->grids == SOLVER_SMALL;
    plan->side_low = slow ? 29 : small ? 8 : 20;
    plan->side_high = slow ? 30 : small ? 14 : 28;
    plan->parts_low = slow ? 260 : small ? 5 : 10;
    plan->parts_high = slow ? 290 : small ? 8 : 14;
    plan->part_side = slow ? 2 : small ? 4 : 5;
    plan->square = dice_roll(&plan->dice, 0, 2) == 0;
}

static bool plan_make(struct plan *plan, bool slow, bool hard) {
    char text[SOLVER_TEXT_MAX], error[128];
    struct solver_choice choice;
    plan->solver = draw_solver(&plan->dice, slow);
    draw_colours(plan, &choice);
    plan_grids(plan, slow);
    solver_text(plan->solver, choice, text);
    plan->program = program_new(text, error, sizeof(error));
    plan->second =
        hard ? program_new("x1 = rot90(I)\nO = vmirror(x1)\n", error, sizeof(error)) : NULL;
    return plan->program && (plan->second || !hard);
}

/* False if this draw makes no good task: another is made from the dice as they lie. */
static bool fill_task(struct task *task, struct dice *dice, struct dsl_arena *arena, bool slow,
                      bool hard) {
    struct plan plan = {.dice = *dice};
    bool good = plan_make(&plan, slow, hard);
    for (int k = 0; good && k < task->train + task->tests; k++)
        good = make_sample(&plan, arena, &task->sample[k]);
    program_free(plan.program);
    program_free(plan.second);
    *dice = plan.dice;
    return good;
}

static int generate_task(struct task_list *list, struct dsl_arena *arena, uint64_t seed,
                         int index) {
    struct dice dice = {seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)index};
    char id[TASK_ID_MAX];
    dice.state = dice_next(&dice);
    snprintf(id, sizeof(id), "%08x", (unsigned)(dice.state & 0xffffffffu));
    int train = dice_roll(&dice, 3, 4);
    struct task *task = task_list_add(list, id, train + 1);
    if (!task)
        return -ENOMEM;
    task->train = train;
    task->tests = 1;
    bool slow = index % SLOW_EVERY == SLOW_AT, hard = index % HARD_EVERY == HARD_AT;
    for (int k = 0; k < TRIES; k++)
        if (fill_task(task, &dice, arena, slow, hard))
            return 0;
    return -EDOM;
}

int task_list_generate(struct task_list *list, int first, int n, uint64_t seed) {
    struct dsl_arena *arena = dsl_arena_new();
    int status = arena ? 0 : -ENOMEM;
    for (int k = first; k < first + n && !status; k++)
        status = generate_task(list, arena, seed, k);
    dsl_arena_free(arena);
    return status;
}
