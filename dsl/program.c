/* SPDX-License-Identifier: MIT
 *
 * Compiles the solver language to a table of calls and runs it. Types are checked when compiling as
 * far as signatures tell them; the values of `V` results are checked again before each call.
 */
#include "dsl/program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 62
#define SLOT_INPUT 0
#define SLOT_OUTPUT (SLOTS - 1)
#define WORD_MAX 32

struct operand {
    int slot; /* or -1: the constant */
    struct dsl_value constant;
};

struct step {
    const struct dsl_function *function;
    int target;
    struct operand operand[DSL_ARGS_MAX];
};

struct program {
    int n;
    struct step step[]; /* every slot is assigned once at most, so SLOTS are enough */
};

struct compiler {
    struct program *program;
    const char *at;
    int line;
    char letter[SLOTS]; /* what each slot holds; 0: not assigned yet */
    char *error;
    size_t room;
};

static const struct {
    const char *name;
    struct dsl_value value;
} constants[] = {
    {"T", {.type = DSL_INT, .number = 1}},
    {"F", {.type = DSL_INT, .number = 0}},
    {"UP", {.type = DSL_PAIR, .pair = {-1, 0}}},
    {"DOWN", {.type = DSL_PAIR, .pair = {1, 0}}},
    {"LEFT", {.type = DSL_PAIR, .pair = {0, -1}}},
    {"RIGHT", {.type = DSL_PAIR, .pair = {0, 1}}},
    {"ORIGIN", {.type = DSL_PAIR, .pair = {0, 0}}},
    {"UNITY", {.type = DSL_PAIR, .pair = {1, 1}}},
    {"NEG_UNITY", {.type = DSL_PAIR, .pair = {-1, -1}}},
    {"UP_RIGHT", {.type = DSL_PAIR, .pair = {-1, 1}}},
    {"DOWN_LEFT", {.type = DSL_PAIR, .pair = {1, -1}}},
};

int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Always false, so that callers can return it. */
static bool complain(struct compiler *c, const char *what, const char *word) {
    snprintf(c->error, c->room, "line %d: %s '%s'", c->line, what, word);
    return false;
}

static void skip_blanks(struct compiler *c) {
    while (*c->at == ' ' || *c->at == '\t')
        c->at++;
}

static bool take_char(struct compiler *c, char wanted) {
    skip_blanks(c);
    if (*c->at != wanted)
        return complain(c, "expected", (char[]){wanted, '\0'});
    c->at++;
    return true;
}

static bool take_word(struct compiler *c, char word[WORD_MAX]) {
    skip_blanks(c);
    size_t n = *c->at == '-';
    while (isalnum((unsigned char)c->at[n]) || c->at[n] == '_')
        n++;
    if (n == 0 || n >= WORD_MAX)
        return complain(c, "expected a name before", (char[]){*c->at, '\0'});
    memcpy(word, c->at, n);
    word[n] = '\0';
    c->at += n;
    return true;
}

/* The number in a word like x12 or R5; -1 if it is not of that form or above limit. */
static int numbered(const char *word, char prefix, int limit) {
    if (word[0] != prefix || !isdigit((unsigned char)word[1]))
        return -1;
    char *end;
    long n = strtol(word + 1, &end, 10);
    return *end || n > limit ? -1 : (int)n;
}

static int slot_of(const char *word) {
    if (!strcmp(word, "I"))
        return SLOT_INPUT;
    if (!strcmp(word, "O"))
        return SLOT_OUTPUT;
    int n = numbered(word, 'x', SLOT_OUTPUT - 1);
    return n >= 1 ? n : -1;
}

static bool constant_of(const char *word, struct dsl_value *value) {
    char *end;
    long number = strtol(word, &end, 10);
    if (!*end && number > -1000 && number < 1000)
        return *value = value_int((int)number), true;
    int kind = numbered(word, 'R', 7);
    if (kind >= 0)
        return *value = value_int(kind), true;
    for (size_t k = 0; k < sizeof(constants) / sizeof(constants[0]); k++)
        if (!strcmp(word, constants[k].name))
            return *value = constants[k].value, true;
    *value = value_function(dsl_function_find(word));
    return value->type != DSL_NONE;
}

static bool compile_operand(struct compiler *c, char wanted, struct operand *operand) {
    char word[WORD_MAX];
    if (!take_word(c, word))
        return false;
    operand->slot = slot_of(word);
    if (operand->slot >= 0) {
        char held = c->letter[operand->slot];
        if (!held)
            return complain(c, "not assigned before:", word);
        bool open = wanted == 'V' || held == 'V';
        return open || wanted == held || complain(c, "wrong type of", word);
    }
    if (!constant_of(word, &operand->constant))
        return complain(c, "unknown name", word);
    if (!dsl_type_fits(wanted, operand->constant.type))
        return complain(c, "wrong type of", word);
    return true;
}

static bool compile_call(struct compiler *c, struct step *step) {
    char word[WORD_MAX];
    if (!take_word(c, word))
        return false;
    step->function = dsl_function_find(word);
    if (!step->function)
        return complain(c, "unknown function", word);
    if (!take_char(c, '('))
        return false;
    for (int k = 0; step->function->takes[k]; k++) {
        if (k && !take_char(c, ','))
            return false;
        if (!compile_operand(c, step->function->takes[k], &step->operand[k]))
            return false;
    }
    return take_char(c, ')');
}

static bool compile_line(struct compiler *c) {
    char word[WORD_MAX];
    if (c->letter[SLOT_OUTPUT])
        return complain(c, "the program has ended with", "O");
    if (!take_word(c, word))
        return false;
    struct step *step = &c->program->step[c->program->n++];
    step->target = slot_of(word);
    if (step->target < 1)
        return complain(c, "not a variable:", word);
    if (c->letter[step->target])
        return complain(c, "assigned twice:", word);
    if (!take_char(c, '=') || !compile_call(c, step))
        return false;
    c->letter[step->target] = step->function->returns;
    skip_blanks(c);
    return !*c->at || *c->at == '\n' || *c->at == '#' || complain(c, "after the call:", c->at);
}

static bool compile_text(struct compiler *c) {
    while (*c->at) {
        c->line++;
        skip_blanks(c);
        if (*c->at != '\n' && *c->at != '#' && *c->at && !compile_line(c))
            return false;
        c->at += strcspn(c->at, "\n");
        c->at += *c->at == '\n';
    }
    char output = c->letter[SLOT_OUTPUT];
    return output == 'G' || output == 'V' || complain(c, "the program does not make a grid", "O");
}

struct program *program_new(const char *text, char *error, size_t room) {
    struct compiler compiler = {.program =
                                    calloc(1, sizeof(struct program) + SLOTS * sizeof(struct step)),
                                .at = text,
                                .error = error,
                                .room = room};
    if (!compiler.program) {
        snprintf(error, room, "out of memory");
        return NULL;
    }
    compiler.letter[SLOT_INPUT] = 'G';
    if (!compile_text(&compiler)) {
        free(compiler.program);
        return NULL;
    }
    /* There are thousands of programs of a few steps each: give back the rest. */
    size_t bytes = sizeof(struct program) + (size_t)compiler.program->n * sizeof(struct step);
    struct program *shrunk = realloc(compiler.program, bytes);
    return shrunk ? shrunk : compiler.program;
}

void program_free(struct program *program) {
    free(program);
}

const char *program_single_call(const struct program *program, int number[2]) {
    const struct step *step = &program->step[0];
    if (program->n != 1 || step->operand[0].slot != SLOT_INPUT || strlen(step->function->takes) > 3)
        return NULL;
    for (int k = 1; step->function->takes[k]; k++) {
        if (step->operand[k].slot >= 0 || step->operand[k].constant.type != DSL_INT)
            return NULL;
        number[k - 1] = step->operand[k].constant.number;
    }
    return step->function->name;
}

static bool run_step(const struct step *step, struct dsl_arena *arena, struct dsl_value *slots) {
    struct dsl_value args[DSL_ARGS_MAX];
    for (int k = 0; step->function->takes[k]; k++) {
        const struct operand *operand = &step->operand[k];
        args[k] = operand->slot >= 0 ? slots[operand->slot] : operand->constant;
        if (!dsl_type_fits(step->function->takes[k], args[k].type))
            return false;
    }
    slots[step->target] = step->function->call(arena, step->function, args);
    return !dsl_arena_error(arena);
}

enum program_status program_run(const struct program *program, struct dsl_arena *arena,
                                const struct dsl_grid *input, int64_t deadline,
                                const struct dsl_grid **output) {
    struct dsl_value slots[SLOTS];
    slots[SLOT_INPUT] = value_grid(input);
    for (int k = 0; k < program->n; k++) {
        if (monotonic_ns() > deadline)
            return PROGRAM_TIMED_OUT;
        if (!run_step(&program->step[k], arena, slots))
            return PROGRAM_FAILED;
    }
    if (slots[SLOT_OUTPUT].type != DSL_GRID)
        return PROGRAM_FAILED;
    *output = slots[SLOT_OUTPUT].grid;
    return PROGRAM_DONE;
}
