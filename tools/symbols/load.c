/* SPDX-License-Identifier: MIT
 *
 * The functions of a file, from the symbol table that libdwfl finds best: the file's own, its debug
 * file's, or the dynamic one.
 */
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/symbols/internal.h"

static bool is_function(const GElf_Sym *symbol) {
    int type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Among aliases people know the one without underscores best, then the exported one. */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name) {
    int bind = GELF_ST_BIND(symbol->st_info);
    bool mangled = name[0] == '_' && name[1] == 'Z';
    uint32_t rank = bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 1 : 0;
    return rank + (mangled || name[0] != '_' ? 8 : name[1] != '_' ? 4 : 0);
}

/* End of the section if it holds code, 0 otherwise. */
static uint64_t section_end(Elf *elf, GElf_Word index, uint64_t bias) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, index);
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    return header.sh_addr + header.sh_size + bias;
}

/* Adds symbol `i` if it is code with a name. */
static void load_symbol(struct bp_symbol_table *table, Dwfl_Module *module, int i) {
    GElf_Sym symbol;
    GElf_Addr start;
    GElf_Word index;
    Elf *elf;
    Dwarf_Addr bias;
    const char *name = dwfl_module_getsym_info(module, i, &symbol, &start, &index, &elf, &bias);
    if (!name || !name[0] || !is_function(&symbol) || index == SHN_UNDEF || !elf)
        return;
    uint64_t limit = section_end(elf, index, bias);
    if (limit <= start)
        return;
    bool fits = symbol.st_size > 0 && symbol.st_size < limit - start;
    struct bp_symbol_range *range = BP_APPEND(table->ranges, table->count);
    range->start = start;
    range->end = fits ? start + symbol.st_size : limit;
    range->raw = name;
    range->sized = symbol.st_size > 0;
    range->rank = rank_of(&symbol, name);
    table->full |= GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
}

/* Jumps to functions of other libraries have no symbols. */
static void load_jumps(struct bp_symbol_table *table, Dwfl_Module *module) {
    Dwarf_Addr bias;
    size_t names;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (!elf || elf_getshdrstrndx(elf, &names))
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (!name || strncmp(name, ".plt", 4) != 0)
            continue;
        struct bp_symbol_range *range = BP_APPEND(table->ranges, table->count);
        *range = (struct bp_symbol_range){.start = header.sh_addr + bias,
                                          .end = header.sh_addr + header.sh_size + bias,
                                          .raw = BP_SYMBOL_JUMP,
                                          .sized = true};
    }
}

void bp_symbol_table_load(struct bp_symbol_table *table, Dwfl_Module *module) {
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++)
        load_symbol(table, module, i);
    load_jumps(table, module);
    bp_symbol_table_sort(table);
}
