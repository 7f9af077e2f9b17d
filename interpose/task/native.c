/* SPDX-License-Identifier: MIT
 *
 * Native functions with a role in the rules for tasks. They are hooked like those of the DSL, in
 * whatever object they are exported; a name without wildcards is looked up in its hash table, all
 * names are looked at only at home, or where the user has wildcards.
 */
#include "interpose/task/native.h"

#include <string.h>

#include "interpose/hook/elf.h"
#include "interpose/hook/hook.h"
#include "interpose/hook/source.h"
#include "interpose/ledger/task.h"
#include "interpose/ledger/task_call.h"
#include "interpose/task/rules.h"

#define LARGEST 65536 /* symbols of an object that wildcards are tried on */

static struct { uint32_t source; /* its number, from 1 on */ } state;

uint32_t bp_task_stub_kind(unsigned role) {
    const struct bp_task_role *what = bp_task_role(role);
    int told = (what->flags & (BP_FUNC_TASK | BP_FUNC_INPUT | BP_FUNC_PHASE)) != 0;
    uint32_t kind = told ? BP_STUB_SOURCE : BP_STUB_CALL;
    bp_task_arguments[role] = what->argument;
    bp_task_inputs[role] = (what->flags & BP_FUNC_INPUT) != 0;
    bp_task_phases[role] = (what->flags & (BP_FUNC_TASK | BP_FUNC_PHASE)) == BP_FUNC_PHASE;
    return BP_STUB_OF_SOURCE(kind, state.source, role);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct place {
    const struct bp_elf *elf;
    const char *library;
    uint32_t object;
    int at_home;
};

static uint32_t add(const struct place *place, const ElfW(Sym) * symbol, const char *name) {
    int role =
        bp_task_role_of(BP_TASK_NATIVE, place->library, place->elf->soname, name, place->at_home);
    return role >= 0 && bp_hook_wants_symbol(name) &&
           bp_hook_add(bp_elf_address(place->elf, symbol), name, place->object,
                       bp_task_stub_kind((unsigned)role), NULL);
}

static uint32_t add_all(const struct place *place, uint32_t count) {
    uint32_t added = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = &place->elf->symbols[i];
        if (bp_elf_is_function(symbol))
            added += add(place, symbol, place->elf->strings + symbol->st_name);
    }
    return added;
}

static uint32_t find(const struct bp_elf *elf, uint32_t object, const char *path, int own) {
    int at_home = own || bp_task_is_own_file(path);
    struct place place = {elf, base_name(path), object, at_home};
    uint32_t added = 0;
    if (at_home || bp_task_rules_wild()) {
        uint32_t count = bp_elf_symbol_count(elf);
        if (count <= LARGEST)
            return add_all(&place, count);
    }
    const char *name;
    for (unsigned i = 0; (name = bp_task_rules_name(i)); i++) {
        const ElfW(Sym) *symbol = bp_elf_find(elf, name, NULL);
        if (symbol)
            added += add(&place, symbol, elf->strings + symbol->st_name);
    }
    return added;
}

static void describe(unsigned tag, struct bp_source_function *function) {
    function->flags = bp_task_role(tag)->flags;
    function->phase = bp_task_role(tag)->phase;
}

/* No library's exports are matched: functions are added by `find` and interpose/python. */
static int match(const char *name, const char **known) {
    (void)name;
    (void)known;
    return -1;
}

static const struct bp_source source = {
    .match = match,
    .find = find,
    .describe = describe,
    .calls = {.enter = bp_task_enter, .leave = bp_task_leave},
};

void bp_task_init(const char *rules) {
    bp_task_rules_init(rules);
    state.source = bp_source_add(&source);
}
