/* SPDX-License-Identifier: MIT
 *
 * What DWARF knows of an address: the source line, the functions that the compiler put into one
 * another there, and where the function begins. libdw reads a unit when the first address in it is
 * asked for.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/symbols/internal.h"

static const char *linkage_name(Dwarf_Die *die) {
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        Dwarf_Attribute attribute;
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
        if (name)
            return name;
    }
    return NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value))
        return 0;
    return (uint32_t)value;
}

/* The file of an inlined call: an index into the unit's list of files. */
static const char *call_file(Dwarf_Die *unit, uint32_t index) {
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(unit, &files, &count) || index >= count)
        return "";
    const char *name = dwarf_filesrc(files, index, NULL, NULL);
    return name ? name : "";
}

static void source_line(Dwfl_Module *module, uint64_t address, struct bp_symbol *at) {
    Dwfl_Line *line = dwfl_module_getsrc(module, address);
    int number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    at->file = file ? file : "";
    at->line = file && number > 0 ? (uint32_t)number : 0;
    const char *directory = line ? dwfl_line_comp_dir(line) : NULL;
    at->directory = directory ? directory : "";
}

/* The entries around an address, innermost first. dwarf_getscopes alone goes on in the function
 * that was inlined, as it was written; the second call gives where it ended up. */
static int find_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes) {
    Dwarf_Die *written = NULL;
    *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &written);
    if (count > 0)
        count = dwarf_getscopes_die(&written[0], scopes);
    free(written);
    return count;
}

/* A function inlined into the next one was called from a line of it. */
static uint32_t add_scopes(Dwarf_Die *unit, Dwarf_Die *scopes, int count, struct bp_symbol at,
                           struct bp_symbol **frames) {
    uint32_t used = 0;
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        const char *name = linkage_name(&scopes[i]);
        struct bp_symbol *frame = BP_APPEND(*frames, used);
        *frame = at;
        frame->function = name ? bp_symbol_name(name) : bp_copy_text("");
        if (tag == DW_TAG_subprogram)
            break;
        at.file = call_file(unit, number_of(&scopes[i], DW_AT_call_file));
        at.line = number_of(&scopes[i], DW_AT_call_line);
    }
    return used;
}

bool bp_symbol_has_lines(Dwfl_Module *module) {
    Dwarf_Addr bias;
    return dwfl_module_getdwarf(module, &bias) != NULL;
}

uint32_t bp_symbol_dwarf(Dwfl_Module *module, uint64_t address, struct bp_symbol **frames) {
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
    Dwarf_Die *scopes;
    struct bp_symbol at = {"", "", 0, ""};
    *frames = NULL;
    if (!unit)
        return 0;
    source_line(module, address, &at);
    int count = find_scopes(unit, address - bias, &scopes);
    uint32_t used = count > 0 ? add_scopes(unit, scopes, count, at, frames) : 0;
    free(scopes);
    if (used == 0 && at.line) {
        *frames = bp_alloc(1, sizeof(**frames));
        at.function = bp_copy_text("");
        (*frames)[used++] = at;
    }
    return used;
}

uint64_t bp_symbol_start(Dwfl_Module *module, uint64_t address) {
    Dwarf_Addr bias;
    Dwarf_Addr start;
    Dwarf_Addr end;
    bool signal;
    Dwarf_Frame *frame = NULL;
    Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
    if (!cfi || dwarf_cfi_addrframe(cfi, address - bias, &frame))
        return address;
    if (dwarf_frame_info(frame, &start, &end, &signal) >= 0)
        address = start + bias;
    free(frame);
    return address;
}
