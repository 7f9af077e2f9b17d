/* SPDX-License-Identifier: MIT
 *
 * Code generation: from the train pairs of a task to candidate programs. Colours and factors are
 * guessed from what is common to all pairs, so a candidate list is short but usually has the right
 * program in it; the program itself is never looked up.
 */
#include "dsl/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SOLVER(name, shape, grids, text) {#name, SOLVER_##shape, SOLVER_##grids, text},
const struct solver solvers[] = {
#include "dsl/solvers.def"
};
const int solvers_count = sizeof(solvers) / sizeof(solvers[0]);

void solver_text(const struct solver *solver, struct solver_choice choice,
                 char text[SOLVER_TEXT_MAX]) {
    size_t used = 0;
    for (const char *at = solver->text; *at && used < SOLVER_TEXT_MAX - 1; at++) {
        if (*at != '$') {
            text[used++] = *at;
            continue;
        }
        at++;
        int number = *at == 'a'   ? choice.a
                     : *at == 'b' ? choice.b
                     : *at == 'n' ? choice.n
                                  : choice.r;
        text[used++] = (char)('0' + number);
    }
    text[used] = '\0';
}

/* Bit sets of colours. */
struct clues {
    unsigned inputs;  /* in every input, apart from black */
    unsigned fresh;   /* in every output that is to be drawn, but in no input */
    unsigned outputs; /* in every output */
    bool same_shape;
};

static unsigned colours_of(const struct task_grid *grid) {
    unsigned colours = 0;
    for (int k = 0; k < grid->height * grid->width; k++)
        colours |= 1u << grid->cell[k];
    return colours;
}

static struct clues clues_of(const struct task *task) {
    struct clues clues = {.inputs = ~1u, .outputs = ~0u, .same_shape = true};
    unsigned seen = 0;
    for (int k = 0; k < task->train; k++) {
        const struct sample *sample = &task->sample[k];
        unsigned input = colours_of(&sample->input);
        seen |= input;
        clues.inputs &= input;
        clues.outputs &= colours_of(&sample->output);
        if (sample->input.height != sample->output.height ||
            sample->input.width != sample->output.width)
            clues.same_shape = false;
    }
    clues.fresh = clues.outputs & ~seen;
    return clues;
}

static int candidate_add(struct candidate_list *list, const struct solver *solver,
                         struct solver_choice choice) {
    char text[SOLVER_TEXT_MAX], error[128];
    if (list->n == list->room)
        return 0;
    solver_text(solver, choice, text);
    struct program *program = program_new(text, error, sizeof(error));
    if (!program)
        return -EINVAL;
    list->candidate[list->n++] = (struct candidate){solver, program};
    return 0;
}

static int variants_add(struct candidate_list *list, const struct solver *solver,
                        struct solver_choice choice) {
    int n_last = strstr(solver->text, "$n") ? 3 : 2;
    int r_last = strstr(solver->text, "$r") ? 7 : 5;
    int status = 0;
    for (choice.n = 2; choice.n <= n_last; choice.n++)
        for (choice.r = 5; choice.r <= r_last && !status; choice.r += 2)
            status = candidate_add(list, solver, choice);
    return status;
}

/* One candidate for each sensible choice of the placeholders the family has. */
static int family_add(struct candidate_list *list, const struct solver *solver,
                      const struct clues *clues) {
    bool has_a = strstr(solver->text, "$a"), has_b = strstr(solver->text, "$b");
    unsigned a_set = has_a ? clues->inputs : 1;
    unsigned b_set = has_b ? (clues->fresh ? clues->fresh : clues->outputs) : 1;
    int status = 0;
    for (int a = 0; a < DSL_COLOURS; a++)
        for (int b = 0; b < DSL_COLOURS && !status; b++)
            if ((a_set >> a & 1) && (b_set >> b & 1) && !(has_a && a == b))
                status = variants_add(list, solver, (struct solver_choice){.a = a, .b = b});
    return status;
}

/* Families that draw with a colour come last where no output has a fresh one: they are many then,
 * and must not push out the others. */
static bool in_pass(const struct solver *solver, const struct clues *clues, int pass) {
    bool same = solver->shape == SOLVER_SAME;
    bool draws = strstr(solver->text, "$b") && !strstr(solver->text, "$a");
    /* Square grids keep their shape under turns, so plain families of the other sort stay in. */
    if (same != clues->same_shape && (same || solver->grids != SOLVER_PLAIN || draws))
        return false;
    return pass == (draws && !clues->fresh);
}

int candidates_make(struct candidate_list *list, const struct task *task) {
    struct clues clues = clues_of(task);
    *list = (struct candidate_list){.room = CANDIDATES_MAX};
    list->candidate = calloc(CANDIDATES_MAX, sizeof(struct candidate));
    if (!list->candidate)
        return -ENOMEM;
    int status = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < solvers_count && !status; k++)
            if (in_pass(&solvers[k], &clues, pass))
                status = family_add(list, &solvers[k], &clues);
    return status;
}

void candidates_fini(struct candidate_list *list) {
    for (int k = 0; k < list->n; k++)
        program_free(list->candidate[k].program);
    free(list->candidate);
    *list = (struct candidate_list){.n = 0};
}
