/* SPDX-License-Identifier: MIT
 *
 * The meaning of the DSL functions through the solver language (cases.def), and what the compiler
 * of that language must refuse.
 */
#include <string.h>

#include "dsl/program.h"
#include "dsl/task.h"
#include "tests/dsl/check.h"

#define CASE(program, input, output) {program, input, output},
static const struct {
    const char *program, *input, *output;
} cases[] = {
#include "tests/dsl/cases.def"
};

static const struct {
    const char *program, *error;
} refused[] = {
    {"", "line 0: the program does not make a grid 'O'"},
    {"x1 = rot90(I)\n", "line 1: the program does not make a grid 'O'"},
    {"O = size(I)", "line 1: the program does not make a grid 'O'"},
    {"O = rot91(I)", "line 1: unknown function 'rot91'"},
    {"O = rot90(J)", "line 1: unknown name 'J'"},
    {"\nO = rot90(x1)", "line 2: not assigned before: 'x1'"},
    {"O = rot90(3)", "line 1: wrong type of '3'"},
    {"x1 = size(I)\nO = rot90(x1)", "line 2: wrong type of 'x1'"},
    {"x1 = size(I)\nx1 = size(I)\nO = rot90(I)", "line 2: assigned twice: 'x1'"},
    {"O = rot90(I)\nx1 = rot90(I)", "line 2: the program has ended with 'O'"},
    {"I = rot90(I)", "line 1: not a variable: 'I'"},
    {"x61 = rot90(I)", "line 1: not a variable: 'x61'"},
    {"O = rot90(I, I)", "line 1: expected ')'"},
    {"O = hconcat(I)", "line 1: expected ','"},
    {"O rot90(I)", "line 1: expected '='"},
    {"O = rot90(I) I", "line 1: after the call: 'I'"},
    {"O = o_g(I, R8)", "line 1: unknown name 'R8'"},
    {"O = (I)", "line 1: expected a name before '('"},
};

static const struct dsl_grid *parse_grid(struct dsl_arena *arena, const char *text) {
    uint8_t cells[1024];
    int n = 0, h = 1;
    for (; *text; text++) {
        if (*text == '/')
            h++;
        else
            cells[n++] = (uint8_t)(*text - '0');
    }
    return dsl_grid_new(arena, h, n / h, cells);
}

static void print_grid(char *out, const struct dsl_grid *grid) {
    for (int i = 0; i < grid->height; i++) {
        if (i)
            *out++ = '/';
        for (int j = 0; j < grid->width; j++)
            *out++ = (char)('0' + grid->cell[i * grid->width + j]);
    }
    *out = '\0';
}

static void run_case(struct dsl_arena *arena, const char *text, const char *in, const char *want) {
    char error[160] = "", got[1024] = "!";
    const struct dsl_grid *output;
    struct program *program = program_new(text, error, sizeof(error));
    CHECK(program, "%s: %s", text, error);
    if (!program)
        return;
    dsl_arena_reset(arena);
    const struct dsl_grid *input = parse_grid(arena, in);
    if (program_run(program, arena, input, INT64_MAX, &output) == PROGRAM_DONE)
        print_grid(got, output);
    CHECK(!strcmp(got, want), "%s\non %s gives %s, not %s", text, in, got, want);
    program_free(program);
}

static void test_refused(void) {
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++) {
        char error[160] = "";
        struct program *program = program_new(refused[k].program, error, sizeof(error));
        CHECK(!program, "compiled: %s", refused[k].program);
        CHECK(!strcmp(error, refused[k].error), "got %s, not %s", error, refused[k].error);
        program_free(program);
    }
}

static void test_timeout(struct dsl_arena *arena) {
    char error[160];
    const struct dsl_grid *output;
    struct program *program = program_new("O = rot90(I)", error, sizeof(error));
    const struct dsl_grid *input = parse_grid(arena, "12");
    CHECK(program_run(program, arena, input, monotonic_ns() - 1, &output) == PROGRAM_TIMED_OUT,
          "a deadline in the past");
    program_free(program);
}

/* A solver that multiplies without end meets the arena's limit, and the arena lives on. */
static void test_memory_limit(struct dsl_arena *arena) {
    char text[2048] = "x1 = o_g(I, R4)\nx2 = prapply(connect, x1, x1)\nO = rot90(I)";
    run_case(arena, text, "1212/2121", "!");
    strcpy(text, "x1 = asobject(I)\nx2 = upscale(x1, 30)\nx3 = upscale(x2, 30)\n"
                 "x4 = upscale(x3, 30)\nO = paint(I, x4)");
    run_case(arena, text, "111/111/111", "!");
    run_case(arena, "O = rot90(I)", "12", "1/2");
}

int main(void) {
    struct dsl_arena *arena = dsl_arena_new();
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        run_case(arena, cases[k].program, cases[k].input, cases[k].output);
    test_refused();
    test_timeout(arena);
    test_memory_limit(arena);
    dsl_arena_free(arena);
    return check_status;
}
