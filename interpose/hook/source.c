/* SPDX-License-Identifier: MIT
 *
 * Libraries whose calls a source wants to be told of. Matching happens while objects are noted,
 * under the hook lock; on a call the ledger finds the source by the kind of the stub.
 */
#include "interpose/source.h"

#include <fnmatch.h>
#include <string.h>

#include "interpose/elf.h"
#include "interpose/hook.h"

#define LIBRARIES 16

/* Where the libraries of sources are, to name the one that a handed out function is in. */
static struct {
    struct {
        uint64_t low, high;
        uint32_t object;
    } libraries[LIBRARIES];
    unsigned count;
} state;

static int matches_any(const char *const *patterns, const char *soname) {
    for (; patterns && *patterns; patterns++)
        if (fnmatch(*patterns, soname, 0) == 0)
            return 1;
    return 0;
}

void bp_source_add(const struct bp_source *source) {
    for (unsigned i = 0; i < BP_SOURCES; i++)
        if (!bp_sources[i]) {
            bp_sources[i] = source;
            return;
        }
}

static unsigned source_of(const char *soname) {
    for (unsigned i = 0; i < BP_SOURCES && bp_sources[i]; i++)
        if (matches_any(bp_sources[i]->libraries, soname))
            return i + 1;
    return 0;
}

int bp_source_wants_library(const char *soname) {
    return source_of(soname) != 0;
}

void bp_source_missing(const char *path) {
    const char *slash = strrchr(path, '/');
    unsigned number = source_of(slash ? slash + 1 : path);
    if (number && bp_sources[number - 1]->missing)
        bp_sources[number - 1]->missing(path);
}

int bp_source_leaves_alone(const char *soname) {
    for (unsigned i = 0; i < BP_SOURCES && bp_sources[i]; i++)
        if (matches_any(bp_sources[i]->alone, soname))
            return 1;
    return 0;
}

static int add_function(unsigned number, uint64_t address, const char *name, uint32_t object) {
    const struct bp_source *source = bp_sources[number - 1];
    const char *known = name;
    int tag = source->match(name, &known);
    if (tag < 0)
        return 0;
    bp_hook_note_name(name); /* lazy slots ask for the function by this one */
    int plain = source->is_plain && source->is_plain((unsigned)tag);
    uint32_t kind = plain ? BP_STUB_CALL : BP_STUB_SOURCE;
    if (!plain && source->copy_kind && bp_process.clock == BP_CLOCK_TSC &&
        source->copy_kind((unsigned)tag))
        kind = source->copy_kind((unsigned)tag);
    return bp_hook_add(address, known, object, BP_STUB_OF_SOURCE(kind, number, (uint32_t)tag),
                       NULL);
}

uint32_t bp_source_add_exports(const struct bp_elf *elf, uint32_t object) {
    unsigned number = source_of(elf->soname);
    const struct bp_source *source = bp_sources[number - 1];
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
    for (unsigned i = 1; i <= BP_SOURCES && bp_sources[i - 1]; i++)
        if (!bp_hook_find((uint64_t)function))
            add_function(i, (uint64_t)function, name, object_of((uint64_t)function));
    bp_unlock(&bp_hook_lock, mask);
    return bp_hook_pointer(function);
}
