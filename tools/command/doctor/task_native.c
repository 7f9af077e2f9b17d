/* SPDX-License-Identifier: MIT
 *
 * Will the calls of a task's function be seen? Native calls are where they go through a slot: from
 * one object to a function that another one exports. Looks at the program and the libraries that it
 * is linked with; what comes with dlopen is not known before. Of a Python function its module must
 * be Python code. Nothing of the program runs: the loader lists libraries, Python finds modules.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/doctor.h"
#include "tools/model_internal.h"
#include "tools/text.h"

#define WORD 64

struct search {
    char where[WORD]; /* glob of libraries or modules; "" anywhere */
    char function[WORD];
    char name[WORD];         /* of the function that was found last */
    char exporter[PATH_MAX]; /* objects; "" none */
    char hidden[PATH_MAX];
    char caller[PATH_MAX]; /* has a slot for it */
    unsigned objects;
};

/* [WHERE:]FUNCTION[(ARGUMENT)] */
static void parse(struct search *search, const char *rule) {
    const char *colon = strchr(rule, ':');
    size_t where = colon ? (size_t)(colon - rule) : 0;
    const char *function = colon ? colon + 1 : rule;
    memset(search, 0, sizeof(*search));
    snprintf(search->where, WORD, "%.*s", (int)where, rule);
    snprintf(search->function, WORD, "%.*s", (int)strcspn(function, "("), function);
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
        snprintf(hidden ? search->hidden : search->exporter, PATH_MAX, "%s", path);
        if (!hidden || !search->exporter[0])
            snprintf(search->name, WORD, "%s", name);
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
            snprintf(search->caller, PATH_MAX, "%s", path);
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
    char command[2 * PATH_MAX + 32];
    char line[PATH_MAX + 64];
    snprintf(command, sizeof(command), "'%s' --list '%s' 2>/dev/null", probe->loader,
             probe->program);
    FILE *list = strchr(probe->program, '\'') ? NULL : popen(command, "re");
    while (list && fgets(line, sizeof(line), list)) {
        char *path = strchr(line, '/');
        if (!path)
            continue;
        path[strcspn(path, " \n")] = 0;
        scan(search, path);
    }
    if (list)
        pclose(list);
}

static void judge(const struct search *search, struct bp_finding *finding) {
    if (search->exporter[0] && search->caller[0]) {
        bp_finding_set(finding, BP_GOOD, "%s of %s is called by %s", search->name,
                       bp_base_name(search->exporter), bp_base_name(search->caller));
        return;
    }
    if (search->exporter[0])
        bp_finding_set(finding, BP_BAD,
                       "%s of %s is called only from within it, directly: that cannot be seen, "
                       "unless a program looks it up with dlsym",
                       search->name, bp_base_name(search->exporter));
    else if (search->hidden[0])
        bp_finding_set(finding, BP_BAD, "%s of %s is not exported: its calls cannot be seen",
                       search->name, bp_base_name(search->hidden));
    else
        bp_finding_set(finding, BP_ABSENT,
                       "no function %s in the program and the %u libraries it is linked with; "
                       "perhaps one comes with dlopen",
                       search->function, search->objects - 1);
    if (finding->mark == BP_BAD)
        bp_finding_cure(finding, "put it into a shared library of its own, or let the program say "
                                 "when a task begins and ends: include/battprof.h");
}

/* Where Python would find the module; "" if it would not. */
static void find_module(const struct bp_probe *probe, const char *module, char **command,
                        char origin[PATH_MAX]) {
    static const char script[] = "import importlib.util as u, os, sys; "
                                 "sys.path[:0] = [os.path.dirname(sys.argv[2])]; "
                                 "s = u.find_spec(sys.argv[1]); print(s.origin if s else \"\")";
    char line[2 * PATH_MAX + 400];
    const char *file = "./";
    origin[0] = 0;
    for (char **word = command + 1; *word && strcmp(file, "./") == 0; word++)
        if (strlen(*word) > 3 && strcmp(*word + strlen(*word) - 3, ".py") == 0)
            file = *word;
    snprintf(line, sizeof(line), "'%s' -c '%s' '%s' '%s' 2>/dev/null", probe->path, script, module,
             file);
    FILE *pipe = strpbrk(module, "'\\") || strchr(file, '\'') ? NULL : popen(line, "re");
    if (pipe && !fgets(origin, PATH_MAX, pipe))
        origin[0] = 0;
    origin[strcspn(origin, "\n")] = 0;
    if (pipe)
        pclose(pipe);
}

static void judge_python(const struct search *search, const struct bp_probe *probe, char **command,
                         struct bp_finding *finding) {
    char origin[PATH_MAX];
    if (!search->where[0] || strpbrk(search->where, "*?[")) {
        bp_finding_set(finding, BP_ABSENT,
                       "found when a module has it; a function that is written in C is no Python "
                       "function: MODULE:%s lets doctor look",
                       search->function);
        return;
    }
    find_module(probe, search->where, command, origin);
    size_t length = strlen(origin);
    if (length > 3 && strcmp(origin + length - 3, ".py") == 0) {
        bp_finding_set(finding, BP_GOOD, "%s is Python code: %.300s", search->where, origin);
        return;
    }
    bp_finding_set(finding, BP_BAD,
                   length ? "%s is no Python code, but %.300s: calls of its "
                            "functions cannot be seen"
                          : "Python finds no module %s here%s",
                   search->where, origin);
    bp_finding_cure(finding, length ? "name a Python function that calls it, or an exported "
                                      "function of a library: 'lib.so:name'"
                                    : "run doctor where the program is run; a script's own module "
                                      "is its file's name");
}

void bp_doctor_task(const char *rule, const struct bp_probe *probe, char **command,
                    struct bp_finding *finding) {
    struct search search;
    parse(&search, rule);
    bool native = strncmp(search.where, "lib", 3) == 0 || strstr(search.where, ".so");
    bool python = strncmp(bp_base_name(probe->program), "python", 6) == 0 ||
                  strncmp(bp_base_name(probe->path), "python", 6) == 0;
    if (python && !native) {
        judge_python(&search, probe, command, finding);
        return;
    }
    elf_version(EV_CURRENT);
    scan(&search, probe->program);
    scan_libraries(&search, probe);
    judge(&search, finding);
}

void bp_doctor_program(const struct bp_probe *probe, struct bp_finding *finding) {
    if (probe->kind == BP_PROBE_FINE)
        bp_finding_set(finding, BP_GOOD, "%.400s", probe->program);
    else
        bp_finding_set(finding, BP_BAD, "%.300s %s",
                       probe->program[0] ? probe->program : probe->path,
                       bp_probe_reason(probe->kind));
}
