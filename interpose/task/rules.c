/* SPDX-License-Identifier: MIT
 *
 * The text is parsed once, at the start. A function's name is looked at by its first letter before
 * any glob is tried: every function of every object comes by here.
 */
#include "interpose/task/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/ledger/task_call.h"

#define RULES 64
#define WORD 64

struct rule {
    char where[WORD];
    char function[WORD];
    char argument[WORD];
    char phase[WORD];
    uint16_t flag;
    uint8_t by_default;
    uint8_t wild; /* the function is a glob */
};

static struct {
    unsigned count;
    unsigned role_count;
    struct bp_lock lock;
    uint64_t letters[4]; /* a bit for each byte that a named function may begin with */
    struct rule rules[RULES];
    struct bp_task_role roles[BP_TASK_ROLES];
} state;

/* clang-format off */
static const char own_rules[] =
#define TASK(function) "task=" function ";"
#define PHASE(name, function) "phase=" name "=" function ";"
#define SAMPLE(function) "sample=" function ";"
#define GENERATOR(function) "generator=" function ";"
#include "interpose/task/rules.def"
#undef TASK
#undef PHASE
#undef SAMPLE
#undef GENERATOR
    ;
/* clang-format on */

static const struct {
    const char *word;
    uint16_t flag;
} kinds[] = {
    {"task=", BP_FUNC_TASK},
    {"phase=", BP_FUNC_PHASE},
    {"sample=", BP_FUNC_SAMPLE},
    {"generator=", BP_FUNC_INPUT},
};

static void copy(char *to, const char *from, size_t length) {
    length = length < WORD ? length : WORD - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

/* [WHERE:]FUNCTION[(ARGUMENT)] */
static void parse_function(struct rule *rule, const char *text, const char *end) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    const char *open = memchr(text, '(', (size_t)(end - text));
    if (colon && (!open || colon < open)) {
        copy(rule->where, text, (size_t)(colon - text));
        text = colon + 1;
    }
    copy(rule->function, text, (size_t)((open ? open : end) - text));
    if (open && end[-1] == ')')
        copy(rule->argument, open + 1, (size_t)(end - 1 - open - 1));
    rule->wild = strpbrk(rule->function, "*?[") != NULL;
}

static void add_letter(const struct rule *rule) {
    unsigned first = (unsigned char)rule->function[0];
    if (strchr("*?[", (int)first))
        memset(state.letters, 0xff, sizeof state.letters);
    state.letters[first / 64] |= UINT64_C(1) << first % 64;
}

/* Interpreters export thousands of functions, and hardly any of them begins as a rule does. */
static int may_begin(const char *name) {
    unsigned first = (unsigned char)*name;
    return (int)(state.letters[first / 64] >> first % 64 & 1);
}

static void add_rule(const char *text, const char *end, uint16_t flag, int by_default) {
    struct rule *rule = &state.rules[state.count];
    if (state.count == RULES)
        return;
    memset(rule, 0, sizeof *rule);
    rule->flag = flag;
    rule->by_default = (uint8_t)by_default;
    const char *name = flag == BP_FUNC_PHASE ? memchr(text, '=', (size_t)(end - text)) : NULL;
    if (name) {
        copy(rule->phase, text, (size_t)(name - text));
        text = name + 1;
    }
    parse_function(rule, text, end);
    if (rule->function[0] == '\0' || strcmp(rule->function, "none") == 0)
        return;
    add_letter(rule);
    state.count++;
}

/* Those kinds that `text` has rules of; adds them unless they are in `without`. */
static unsigned add_rules(const char *text, int by_default, unsigned without) {
    unsigned seen = 0;
    while (*text) {
        const char *end = text + strcspn(text, ";");
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            size_t length = strlen(kinds[i].word);
            if (strncmp(text, kinds[i].word, length) != 0)
                continue;
            seen |= kinds[i].flag;
            if (!(without & kinds[i].flag))
                add_rule(text + length, end, kinds[i].flag, by_default);
        }
        text = end + (*end == ';');
    }
    return seen;
}

void bp_task_rules_init(const char *text) {
    unsigned seen = text ? add_rules(text, 0, 0) : 0;
    add_rules(own_rules, 1, seen);
}

int bp_task_is_own_file(const char *path) {
    static const char *const roots[] = {"/usr/", "/lib", "/opt/", "<frozen"};
    static const char *const parts[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};
    for (unsigned i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(path, roots[i], strlen(roots[i])) == 0)
            return 0;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i]))
            return 0;
    return *path != '\0';
}

static enum bp_task_world world_of(const char *where) {
    if (strcmp(where, "nvtx") == 0)
        return BP_TASK_RANGE;
    return strncmp(where, "lib", 3) == 0 || strstr(where, ".so") ? BP_TASK_NATIVE : BP_TASK_PYTHON;
}

static int is_there(const struct rule *rule, enum bp_task_world world, const char *where,
                    const char *alias) {
    if (!*rule->where)
        return 1;
    if (world_of(rule->where) != world)
        return 0;
    return world == BP_TASK_RANGE || fnmatch(rule->where, where, 0) == 0 ||
           (*alias && fnmatch(rule->where, alias, 0) == 0);
}

/* What is defined inside a function is meant only by a rule that says so. */
static int is_named(const struct rule *rule, const char *name) {
    if (!rule->wild)
        return strcmp(rule->function, name) == 0;
    char first = rule->function[0];
    if (first != *name && !strchr("*?[", first))
        return 0;
    return fnmatch(rule->function, name, 0) == 0 &&
           (!strchr(name, '<') || strchr(rule->function, '<'));
}

/* Native functions come here with the hook lock, Python ones with the GIL, ranges with neither. */
static int find_role(const struct bp_task_role *role) {
    for (unsigned i = 0; i < state.role_count; i++)
        if (state.roles[i].flags == role->flags && state.roles[i].phase == role->phase &&
            state.roles[i].argument_name == role->argument_name &&
            state.roles[i].glob == role->glob)
            return (int)i;
    if (state.role_count == BP_TASK_ROLES)
        return -1;
    state.roles[state.role_count] = *role;
    return (int)state.role_count++;
}

static int keep_role(const struct bp_task_role *role) {
    uint64_t mask = bp_lock(&state.lock);
    int number = find_role(role);
    bp_unlock(&state.lock, mask);
    return number;
}

int bp_task_role_of(enum bp_task_world world, const char *where, const char *alias,
                    const char *name, int at_home) {
    struct bp_task_role role = {.argument_name = "", .phase = "", .glob = ""};
    int guessed = 0;
    if (!may_begin(name))
        return -1;
    for (unsigned i = 0; i < state.count; i++) {
        const struct rule *rule = &state.rules[i];
        if (role.flags & rule->flag || (rule->by_default && !at_home) || !is_named(rule, name) ||
            !is_there(rule, world, where, alias))
            continue;
        role.flags |= rule->flag;
        if (rule->flag == BP_FUNC_TASK) {
            role.argument_name = rule->argument;
            role.argument = (uint8_t)atoi(rule->argument);
            role.glob = rule->wild ? rule->function : "";
            guessed = rule->by_default && rule->wild;
        }
        if (rule->flag == BP_FUNC_PHASE)
            role.phase = *rule->phase ? rule->phase : rule->function;
    }
    if (guessed && role.flags & BP_FUNC_PHASE)
        role.flags &= (uint16_t)~BP_FUNC_TASK; /* solve_all is no solve_something */
    if (role.flags & BP_FUNC_TASK || world == BP_TASK_RANGE)
        role.flags &= (uint16_t)~BP_FUNC_INPUT; /* an id is the input; a range has none */
    return role.flags ? keep_role(&role) : -1;
}

int bp_task_may_name(const char *name, int at_home) {
    for (unsigned i = 0; i < state.count; i++) {
        const struct rule *rule = &state.rules[i];
        if ((at_home || !rule->by_default) && is_named(rule, name) &&
            (!*rule->where || world_of(rule->where) == BP_TASK_PYTHON))
            return 1;
    }
    return 0;
}

int bp_task_rules_given(void) {
    return state.count > 0 && !state.rules[0].by_default; /* they come first */
}

const struct bp_task_role *bp_task_role(unsigned number) {
    return &state.roles[number];
}

const char *bp_task_rules_name(unsigned number) {
    for (unsigned i = 0; i < state.count; i++)
        if (!state.rules[i].wild && number-- == 0)
            return state.rules[i].function;
    return NULL;
}

int bp_task_rules_wild(void) {
    for (unsigned i = 0; i < state.count; i++)
        if (state.rules[i].wild && !state.rules[i].by_default &&
            (!*state.rules[i].where || world_of(state.rules[i].where) == BP_TASK_NATIVE))
            return 1;
    return 0;
}
