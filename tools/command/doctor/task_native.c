/* SPDX-License-Identifier: MIT
 *
 * Native calls are seen where they go through a slot: from one object to a function that another
 * one exports. Looks at the program and the libraries that it is linked with; what comes with
 * dlopen is unknown before. Nothing of the program runs: the loader lists its libraries.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/text.h"
#include "tools/command/doctor/doctor.h"

struct search {
    const char *where; /* glob of libraries; "" anywhere */
    const char *function;
    struct bp_text name;     /* of the function that was found last */
    struct bp_text exporter; /* objects; "" none */
    struct bp_text hidden;
    struct bp_text caller; /* has a slot for it */
    unsigned objects;
};

static void search_fini(struct search *search) {
    bp_text_fini(&search->name);
    bp_text_fini(&search->exporter);
    bp_text_fini(&search->hidden);
    bp_text_fini(&search->caller);
}

static bool is_wanted(const struct search *search, const char *name) {
    return name && fnmatch(search->function, name, 0) == 0;
}

static bool is_hidden(const GElf_Sym *symbol) {
    int visibility = GELF_ST_VISIBILITY(symbol->st_other);
    return GELF_ST_BIND(symbol->st_info) == STB_LOCAL || visibility == STV_HIDDEN ||
           visibility == STV_INTERNAL;
}

static void scan_symbols(struct search *search, const char *path, Elf *elf, Elf_Scn *section) {
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    bool here = !search->where[0] || fnmatch(search->where, bp_base_name(path), 0) == 0;
    for (int i = 1; gelf_getshdr(section, &header) && here && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            !is_wanted(search, name))
            continue;
        bool hidden = is_hidden(&symbol) || header.sh_type != SHT_DYNSYM;
        bp_text_set(hidden ? &search->hidden : &search->exporter, "%s", path);
        if (!hidden || !search->exporter.length)
            bp_text_set(&search->name, "%s", name);
    }
}

static void scan_slots(struct search *search, const char *path, Elf *elf, Elf_Scn *section) {
    GElf_Shdr header;
    GElf_Shdr table;
    GElf_Rela slot;
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *symbols = gelf_getshdr(section, &header) ? elf_getscn(elf, header.sh_link) : NULL;
    if (!symbols || !gelf_getshdr(symbols, &table) || table.sh_type != SHT_DYNSYM)
        return;
    Elf_Data *names = elf_getdata(symbols, NULL);
    for (int i = 0; gelf_getrela(data, i, &slot); i++)
        if (gelf_getsym(names, (int)GELF_R_SYM(slot.r_info), &symbol) &&
            is_wanted(search, elf_strptr(elf, table.sh_link, symbol.st_name)))
            bp_text_set(&search->caller, "%s", path);
}

static void scan(struct search *search, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    search->objects += elf != NULL;
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
            scan_symbols(search, path, elf, section);
        if (header.sh_type == SHT_RELA)
            scan_slots(search, path, elf, section);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

static void scan_libraries(struct search *search, const struct bp_probe *probe) {
    const char *const words[] = {bp_text_get(&probe->loader), "--list",
                                 bp_text_get(&probe->program), NULL};
    char *list = bp_doctor_read(words, false), *rest = list;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *path = strchr(line, '/');
        if (!path)
            continue;
        path[strcspn(path, " ")] = 0;
        scan(search, path);
    }
    free(list);
}

static void judge(const struct search *search, struct bp_finding *finding) {
    const char *name = bp_text_get(&search->name);
    const char *exporter = bp_base_name(bp_text_get(&search->exporter));
    if (search->exporter.length && search->caller.length) {
        bp_finding_set(finding, BP_GOOD, "%s of %s is called by %s", name, exporter,
                       bp_base_name(search->caller.data));
        return;
    }
    if (search->exporter.length)
        bp_finding_set(finding, BP_BAD,
                       "%s of %s is called only from within it, directly: that cannot be seen, "
                       "unless a program looks it up with dlsym",
                       name, exporter);
    else if (search->hidden.length)
        bp_finding_set(finding, BP_BAD, "%s of %s is not exported: its calls cannot be seen", name,
                       bp_base_name(search->hidden.data));
    else
        bp_finding_set(finding, BP_ABSENT,
                       "no function %s in the program and the %u libraries it is linked with; "
                       "perhaps one comes with dlopen",
                       search->function, search->objects - 1);
    if (finding->mark == BP_BAD)
        bp_finding_cure(finding, "put it into a shared library of its own, or let the program say "
                                 "when a task begins and ends: include/battprof.h");
}

void bp_doctor_native_task(const char *where, const char *function, const struct bp_probe *probe,
                           struct bp_finding *finding) {
    struct search search = {.where = where, .function = function};
    elf_version(EV_CURRENT);
    scan(&search, bp_text_get(&probe->program));
    scan_libraries(&search, probe);
    judge(&search, finding);
    search_fini(&search);
}
