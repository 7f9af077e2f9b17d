/* SPDX-License-Identifier: MIT
 *
 * Libraries whose calls a source wants to be told of. Matching happens while objects are noted,
 * under the hook lock; on a call the ledger finds the source by the kind of the stub.
 */
#include "interpose/hook/source.h"

#include <fnmatch.h>
#include <string.h>

#include "interpose/hook/elf.h"
#include "interpose/hook/hook.h"
#include "interpose/hook/object.h"
#include "interpose/ledger/task.h"

#define LIBRARIES 16
#define HANDLES 256 /* made at a time */

static struct {
    struct { /* where the libraries of sources are, to name the one that a function is in */
        uint64_t low, high;
        uint32_t object;
    } libraries[LIBRARIES];
    unsigned count;
    const struct bp_source *sources[BP_GUESTS];
    bp_source_sites *sites;
    struct bp_stub *handles; /* of functions without a stub */
    uint32_t left;
} state;

static int matches_any(const char *const *patterns, const char *soname) {
    for (; patterns && *patterns; patterns++)
        if (fnmatch(*patterns, soname, 0) == 0)
            return 1;
    return 0;
}

unsigned bp_source_add(const struct bp_source *source) {
    unsigned i = 0;
    while (i < BP_GUESTS && state.sources[i])
        i++;
    if (i == BP_GUESTS)
        return 0;
    state.sources[i] = source;
    bp_guests[i] = source->calls;
    return i + 1;
}

static unsigned source_of(const char *soname) {
    for (unsigned i = 0; i < BP_GUESTS && state.sources[i]; i++)
        if (matches_any(state.sources[i]->libraries, soname))
            return i + 1;
    return 0;
}

int bp_source_wants_library(const char *soname) {
    return source_of(soname) != 0;
}

void bp_source_missing(const char *path) {
    const char *slash = strrchr(path, '/');
    unsigned number = source_of(slash ? slash + 1 : path);
    if (number && state.sources[number - 1]->missing)
        state.sources[number - 1]->missing(path);
}

int bp_source_leaves_alone(const char *soname) {
    for (unsigned i = 0; i < BP_GUESTS && state.sources[i]; i++)
        if (matches_any(state.sources[i]->alone, soname))
            return 1;
    return 0;
}

static int add_function(unsigned number, uint64_t address, const char *name, uint32_t object) {
    const struct bp_source *source = state.sources[number - 1];
    const char *known = name;
    int tag = source->match(name, &known);
    if (tag < 0)
        return 0;
    bp_hook_note_name(name); /* lazy slots ask for the function by this one */
    int plain = source->is_plain && source->is_plain((unsigned)tag);
    uint32_t kind = plain ? BP_STUB_CALL : BP_STUB_SOURCE;
    return bp_hook_add(address, known, object, BP_STUB_OF_SOURCE(kind, number, (uint32_t)tag),
                       NULL);
}

uint32_t bp_source_add_exports(const struct bp_elf *elf, uint32_t object) {
    unsigned number = source_of(elf->soname);
    const struct bp_source *source = state.sources[number - 1];
    uint32_t added = 0, count = bp_elf_symbol_count(elf);
    unsigned place = state.count++ % LIBRARIES;
    state.libraries[place].low = elf->low;
    state.libraries[place].high = elf->high;
    state.libraries[place].object = object;
    bp_hook_add_wraps(elf, object, source->wraps, source->wrap_count);
    for (uint32_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = &elf->symbols[i];
        if (bp_elf_is_function(symbol))
            added += (uint32_t)add_function(number, bp_elf_address(elf, symbol),
                                            elf->strings + symbol->st_name, object);
    }
    return added;
}

static uint32_t object_of(uint64_t address) {
    for (unsigned i = 0; i < LIBRARIES; i++)
        if (address >= state.libraries[i].low && address < state.libraries[i].high)
            return state.libraries[i].object;
    return BP_NO_OBJECT;
}

/* Drivers hand out functions that they do not export: these get a stub by their name. */
void *bp_source_pointer(const char *name, void *function) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    for (unsigned i = 1; i <= BP_GUESTS && state.sources[i - 1]; i++)
        if (!bp_hook_find((uint64_t)function))
            add_function(i, (uint64_t)function, name, object_of((uint64_t)function));
    bp_unlock(&bp_hook_lock, mask);
    return bp_hook_pointer(function);
}

uint32_t bp_source_find(const struct bp_elf *elf, uint32_t object, const char *path, int own) {
    uint32_t found = 0;
    for (unsigned i = 0; i < BP_GUESTS && state.sources[i]; i++)
        if (state.sources[i]->find)
            found += state.sources[i]->find(elf, object, path, own);
    return found;
}

void bp_source_describe(unsigned number, unsigned tag, struct bp_source_function *function) {
    const struct bp_source *source = state.sources[number - 1];
    function->flags = source->function_flags;
    if (source->describe)
        source->describe(tag, function);
}

struct bp_stub *bp_source_function(const struct bp_source_function *what) {
    uint64_t mask = bp_lock(&bp_hook_lock);
    if (state.left == 0) {
        state.handles = bp_pages_new(HANDLES * sizeof *state.handles);
        state.left = state.handles ? HANDLES : 0;
    }
    struct bp_stub *handle = NULL;
    if (state.left && bp_process.functions < BP_FUNCTIONS - BP_CALIBRATION_STUBS) {
        handle = state.handles++;
        state.left--;
        handle->func = bp_hook_new_function(what, BP_NO_OBJECT, 0);
        handle->kind = what->kind == BP_FUNC_WAIT ? BP_STUB_WAIT
                       : what->kind == BP_FUNC_IO ? BP_STUB_IO
                                                  : BP_STUB_CALL;
    }
    bp_unlock(&bp_hook_lock, mask);
    return handle;
}

void bp_source_spent(uint32_t thread, uint64_t began, uint64_t time, uint64_t transfer,
                     uint64_t wait) {
    bp_task_spent(thread, began, time, transfer, wait);
}

void *bp_source_runtime(const char *name) {
    return bp_object_runtime_function(name);
}

void bp_source_set_sites(bp_source_sites *sites) {
    state.sites = sites;
}

struct bp_sample *bp_source_site(struct bp_thread *thread, const struct bp_entry *entry,
                                 uint64_t bytes, int direction) {
    return state.sites ? state.sites(thread, entry, bytes, direction) : NULL;
}
