/* SPDX-License-Identifier: MIT
 *
 * Solver families (dsl/solvers.def) and the candidates that code generation makes of them.
 */
#pragma once

#include "dsl/program.h"
#include "dsl/task.h"

#define SOLVER_TEXT_MAX 1024
/* Colours multiply candidates; beyond this the rest are unlikely anyway. */
#define CANDIDATES_MAX 160

enum solver_shape {
    SOLVER_SAME,  /* the output is as large as the input */
    SOLVER_OTHER, /* as a rule it is not */
};

enum solver_grids {
    SOLVER_PLAIN,
    SOLVER_SMALL, /* the output is a multiple of the input */
    SOLVER_HEAVY, /* also drawn on crowded grids, for the slow tasks */
};

struct solver {
    const char *name;
    enum solver_shape shape;
    enum solver_grids grids;
    const char *text;
};

/* What stands for $a, $b, $n and $r in a family's text. */
struct solver_choice {
    int a, b, n, r;
};

extern const struct solver solvers[];
extern const int solvers_count;

void solver_text(const struct solver *solver, struct solver_choice choice,
                 char text[SOLVER_TEXT_MAX]);

struct candidate {
    const struct solver *solver;
    struct program *program;
};

struct candidate_list {
    int n, room;
    struct candidate *candidate;
};

/* Reads only what a solver may know: the train pairs. Returns 0 or -errno. */
int candidates_make(struct candidate_list *list, const struct task *task);
void candidates_fini(struct candidate_list *list);
