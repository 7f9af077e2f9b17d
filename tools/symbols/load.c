/* SPDX-License-Identifier: MIT
 *
 * Names by address: the symbol table that libdwfl finds best (the file's own, its debug file's, or
 * the dynamic one), sorted once, searched by halving. libdwfl's own search walks the whole table
 * for every address: 300 addresses in a library with 300,000 symbols would take seconds.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/symbols_internal.h"

/* Ranges before the one found that are looked at, should they reach over it. */
#define MOST_BACK 16

static bool is_function(const GElf_Sym *symbol) {
    int type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Of aliases people know the one without underscores, then the exported one. */
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

static int compare_ranges(const void *a, const void *b) {
    const struct bp_symbol_range *x = a;
    const struct bp_symbol_range *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->sized != y->sized)
        return x->sized ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return strcmp(x->raw, y->raw);
}

/* One range per start, and those without a size end where the next one begins. */
void bp_symbol_table_sort(struct bp_symbol_table *table) {
    uint32_t kept = 0;
    if (table->count)
        qsort(table->ranges, table->count, sizeof(*table->ranges), compare_ranges);
    for (uint32_t i = 0; i < table->count; i++)
        if (kept == 0 || table->ranges[kept - 1].start != table->ranges[i].start)
            table->ranges[kept++] = table->ranges[i];
    table->count = kept;
    for (uint32_t i = 0; i + 1 < kept; i++)
        if (!table->ranges[i].sized && table->ranges[i].end > table->ranges[i + 1].start)
            table->ranges[i].end = table->ranges[i + 1].start;
}

/* A label inside a function is not what its code is called: ranges with a size come first. In a
 * stripped file what follows a symbol without a size may be anything. */
struct bp_symbol_range *bp_symbol_table_find(struct bp_symbol_table *table, uint64_t address) {
    uint32_t low = 0;
    uint32_t high = table->count;
    struct bp_symbol_range *unsized = NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t back = 0; back < MOST_BACK && back < low; back++) {
        struct bp_symbol_range *range = &table->ranges[low - 1 - back];
        if (address >= range->end)
            continue;
        if (range->sized)
            return range;
        if (!unsized && table->full)
            unsized = range;
    }
    return unsized;
}

void bp_symbol_table_fini(struct bp_symbol_table *table) {
    for (uint32_t i = 0; i < table->count; i++)
        free(table->ranges[i].name);
    free(table->ranges);
    *table = (struct bp_symbol_table){0};
}
