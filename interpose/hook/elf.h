/* SPDX-License-Identifier: MIT
 *
 * Loaded ELF objects, read from their own memory. Lookups are ours and not dlsym's: dlsym is one of
 * the functions we intercept, is not in libc before glibc 2.34, and answers with the executable's
 * PLT for functions whose address a no-PIE program takes.
 */
#ifndef BP_INTERPOSE_HOOK_ELF_H
#define BP_INTERPOSE_HOOK_ELF_H

#include <link.h>
#include <stdint.h>

struct bp_elf {
    const char *path; /* borrowed from the dynamic linker */
    const char *soname;
    uint64_t base;
    uint64_t low, high; /* of its PT_LOADs */
    uint64_t relro_low, relro_high;
    uint64_t unwind; /* .eh_frame_hdr; 0: none */
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
    const uint16_t *versions; /* per symbol */
    const ElfW(Verdef) * defined;
    const ElfW(Verneed) * needed;
    const ElfW(Rela) * relocations[2]; /* DT_RELA, DT_JMPREL */
    uint64_t relocation_count[2];
    uint64_t relative_count; /* so many at the beginning of DT_RELA have no symbol */
    const ElfW(Phdr) * headers;
    uint16_t header_count;
    uint16_t symbolic;
};

/* 0, or -ENOEXEC for an object without dynamic symbols. */
int bp_elf_read(struct bp_elf *elf, const struct dl_phdr_info *info);

/* A defined function of that name; `version` NULL: the default one. */
const ElfW(Sym) * bp_elf_find(const struct bp_elf *elf, const char *name, const char *version);

/* A defined variable of that name. */
const ElfW(Sym) * bp_elf_find_data(const struct bp_elf *elf, const char *name);

/* Symbols in the table, from the hash table. */
uint32_t bp_elf_symbol_count(const struct bp_elf *elf);

/* The version that an undefined symbol asks for, or NULL. */
const char *bp_elf_wanted_version(const struct bp_elf *elf, uint32_t symbol);

int bp_elf_is_function(const ElfW(Sym) * symbol);
uint64_t bp_elf_address(const struct bp_elf *elf, const ElfW(Sym) * symbol);

/* Whether `name` is among its DT_NEEDED. */
int bp_elf_needs(const struct bp_elf *elf, const char *name);

/* Whether its name, or one of its DT_NEEDED, begins with `prefix`. */
int bp_elf_is_or_needs(const struct bp_elf *elf, const char *prefix);

/* Bytes of the build id, copied to `id` of `size` bytes. */
uint32_t bp_elf_build_id(const struct bp_elf *elf, uint8_t *id, uint32_t size);

/* The address of a return instruction in the object's readable code, near `near`. */
const void *bp_elf_ret_instruction(const struct bp_elf *elf, uint64_t near);

#endif
