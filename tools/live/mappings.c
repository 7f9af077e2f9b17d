/* SPDX-License-Identifier: MIT */
#include "tools/live/mappings.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/symbols/symbols.h"

/* A program that is not position-independent has its addresses in its file. */
static bool is_fixed(const char *path) {
    Elf64_Ehdr head = {0};
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(&head, sizeof(head), 1, file) : 0;
    if (file)
        fclose(file);
    return got == 1 && head.e_type == ET_EXEC;
}

/* In another container or root its files are to be found through it. */
static char *path_for(pid_t pid, const char *path) {
    char root[64], target[8] = "";
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    bool same = readlink(root, target, sizeof(target) - 1) == 1 && target[0] == '/';
    return bp_make_text("%s%s", same ? "" : root, path);
}

/* The first part of a file is where it begins. */
static void add_file(struct bp_mappings *mappings, pid_t pid, const char *path,
                     struct bp_mapping *mapping, uint64_t offset) {
    char *name = path_for(pid, path);
    mapping->base = mapping->low - offset;
    for (uint32_t i = 0; i < mappings->count && !mapping->path; i++)
        if (mappings->rows[i].path && strcmp(mappings->rows[i].path, name) == 0) {
            mapping->path = mappings->rows[i].path;
            mapping->base = mappings->rows[i].base;
            mapping->file = mappings->rows[i].file;
        }
    if (mapping->path) {
        free(name);
        return;
    }
    struct bp_symbol_file file = {.path = name, .loaded_ns = bp_clock_ns(CLOCK_REALTIME)};
    mapping->file = bp_symbols_add(mappings->symbols, &file);
    mapping->path = name;
    if (offset == 0 && is_fixed(name))
        mapping->base = 0;
}

static void add_line(struct bp_mappings *mappings, pid_t pid, char *line) {
    unsigned long long low, high, offset;
    char rights[8];
    const char *path = strchr(line, '/');
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%llx-%llx %7s %llx", &low, &high, rights, &offset) != 4)
        return;
    struct bp_mapping mapping = {
        .low = low, .high = high, .code = strchr(rights, 'x'), .kernel = strstr(line, "[vdso]")};
    if (path)
        add_file(mappings, pid, path, &mapping, offset);
    *BP_APPEND(mappings->rows, mappings->count) = mapping;
}

void bp_mappings_init(struct bp_mappings *mappings, pid_t pid) {
    char path[64];
    char *line = NULL;
    size_t size = 0;
    *mappings = (struct bp_mappings){.symbols = bp_symbols_new(NULL)};
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &size, file) > 0)
        add_line(mappings, pid, line);
    if (file)
        fclose(file);
    free(line);
}

void bp_mappings_fini(struct bp_mappings *mappings) {
    for (uint32_t i = 0; i < mappings->count; i++) {
        char *path = (char *)(uintptr_t)mappings->rows[i].path;
        for (uint32_t k = i; path && k < mappings->count; k++)
            if (mappings->rows[k].path == path)
                mappings->rows[k].path = NULL;
        free(path);
    }
    bp_symbols_free(mappings->symbols);
    free(mappings->rows);
}

const struct bp_mapping *bp_mappings_at(const struct bp_mappings *mappings, uint64_t address) {
    for (uint32_t i = 0; i < mappings->count; i++)
        if (address >= mappings->rows[i].low && address < mappings->rows[i].high)
            return &mappings->rows[i];
    return NULL;
}

const char *bp_mappings_label(const struct bp_mappings *mappings, uint64_t address) {
    static char unknown[32];
    const struct bp_mapping *mapping = bp_mappings_at(mappings, address);
    if (mapping && mapping->path)
        return bp_symbols_label(mappings->symbols, mapping->file, address - mapping->base);
    snprintf(unknown, sizeof(unknown), "0x%llx", (unsigned long long)address);
    return mapping && mapping->kernel ? "vdso" : unknown;
}
