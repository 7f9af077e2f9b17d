/* SPDX-License-Identifier: MIT
 *
 * First an object's segments and dynamic section, then its symbols by hash and version, then what
 * else is asked of it: what it needs, its build id.
 */
#include "interpose/hook/elf.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "interpose/arch/arch.h"

/* Most objects have their dynamic section relocated in place; the vdso has not. */
static const void *dynamic_pointer(const struct bp_elf *elf, uint64_t value) {
    return (const void *)(value < elf->low ? value + elf->base : value);
}

static void read_segments(struct bp_elf *elf, const struct dl_phdr_info *info) {
    elf->low = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t low = info->dlpi_addr + header->p_vaddr;
        uint64_t high = low + header->p_memsz;
        if (header->p_type == PT_LOAD) {
            elf->low = low < elf->low ? low : elf->low;
            elf->high = high > elf->high ? high : elf->high;
        } else if (header->p_type == PT_DYNAMIC) {
            elf->dynamic = (const void *)low;
        } else if (header->p_type == PT_GNU_RELRO) {
            elf->relro_low = low;
            elf->relro_high = high;
        } else if (header->p_type == PT_GNU_EH_FRAME) {
            elf->unwind = low;
        }
    }
}

static const struct {
    ElfW(Sxword) tag;
    size_t member; /* that takes the address */
} pointers[] = {
    {DT_SYMTAB, offsetof(struct bp_elf, symbols)},
    {DT_STRTAB, offsetof(struct bp_elf, strings)},
    {DT_GNU_HASH, offsetof(struct bp_elf, gnu_hash)},
    {DT_HASH, offsetof(struct bp_elf, sysv_hash)},
    {DT_VERSYM, offsetof(struct bp_elf, versions)},
    {DT_VERDEF, offsetof(struct bp_elf, defined)},
    {DT_VERNEED, offsetof(struct bp_elf, needed)},
    {DT_RELA, offsetof(struct bp_elf, relocations[0])},
    {DT_JMPREL, offsetof(struct bp_elf, relocations[1])},
};

static void read_pointer(struct bp_elf *elf, const ElfW(Dyn) * d) {
    for (unsigned i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
        if (pointers[i].tag == d->d_tag) {
            const void *pointer = dynamic_pointer(elf, d->d_un.d_val);
            memcpy((char *)elf + pointers[i].member, &pointer, sizeof pointer);
            return;
        }
}

static void read_dynamic(struct bp_elf *elf) {
    uint64_t soname = 0;
    for (const ElfW(Dyn) *d = elf->dynamic; d->d_tag != DT_NULL; d++) {
        uint64_t value = d->d_un.d_val;
        read_pointer(elf, d);
        if (d->d_tag == DT_RELASZ)
            elf->relocation_count[0] = value / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_PLTRELSZ)
            elf->relocation_count[1] = value / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_RELACOUNT)
            elf->relative_count = value;
        else if (d->d_tag == DT_SONAME)
            soname = value;
        else if (d->d_tag == DT_SYMBOLIC)
            elf->symbolic = 1;
        else if (d->d_tag == DT_FLAGS)
            elf->symbolic |= (value & DF_SYMBOLIC) != 0;
    }
    elf->soname = elf->strings && soname ? elf->strings + soname : "";
}

int bp_elf_read(struct bp_elf *elf, const struct dl_phdr_info *info) {
    memset(elf, 0, sizeof *elf);
    elf->path = info->dlpi_name ? info->dlpi_name : "";
    elf->base = info->dlpi_addr;
    elf->headers = info->dlpi_phdr;
    elf->header_count = info->dlpi_phnum;
    read_segments(elf, info);
    if (!elf->dynamic)
        return -ENOEXEC;
    read_dynamic(elf);
    return elf->symbols && elf->strings && (elf->gnu_hash || elf->sysv_hash) ? 0 : -ENOEXEC;
}

struct gnu_hash {
    uint32_t buckets, first, words, shift;
    const uint64_t *bloom;
    const uint32_t *bucket, *chain;
};

static struct gnu_hash gnu_hash_of(const struct bp_elf *elf) {
    const uint32_t *h = elf->gnu_hash;
    struct gnu_hash table = {.buckets = h[0], .first = h[1], .words = h[2], .shift = h[3]};
    table.bloom = (const uint64_t *)(h + 4);
    table.bucket = (const uint32_t *)(table.bloom + table.words);
    table.chain = table.bucket + table.buckets;
    return table;
}

uint32_t bp_elf_symbol_count(const struct bp_elf *elf) {
    if (elf->sysv_hash)
        return elf->sysv_hash[1];
    struct gnu_hash table = gnu_hash_of(elf);
    uint32_t last = 0;
    for (uint32_t i = 0; i < table.buckets; i++)
        last = table.bucket[i] > last ? table.bucket[i] : last;
    if (last < table.first)
        return table.first;
    while (!(table.chain[last - table.first] & 1))
        last++;
    return last + 1;
}

int bp_elf_is_function(const ElfW(Sym) * symbol) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    unsigned binding = ELF64_ST_BIND(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_GNU_IFUNC) &&
           (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE);
}

/* An indirect function's resolver chooses the implementation; it is made to be called often. */
uint64_t bp_elf_address(const struct bp_elf *elf, const ElfW(Sym) * symbol) {
    uint64_t address = elf->base + symbol->st_value;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        return ((uint64_t(*)(void))address)();
    return address;
}

static const char *defined_version(const struct bp_elf *elf, uint16_t index) {
    const ElfW(Verdef) *def = elf->defined;
    while (def) {
        if (def->vd_ndx == index) {
            const ElfW(Verdaux) *name = (const void *)((const char *)def + def->vd_aux);
            return elf->strings + name->vda_name;
        }
        def = def->vd_next ? (const void *)((const char *)def + def->vd_next) : NULL;
    }
    return NULL;
}

const char *bp_elf_wanted_version(const struct bp_elf *elf, uint32_t symbol) {
    if (!elf->versions || !elf->needed)
        return NULL;
    uint16_t index = elf->versions[symbol] & 0x7fff;
    for (const ElfW(Verneed) *need = elf->needed;;) {
        const ElfW(Vernaux) *aux = (const void *)((const char *)need + need->vn_aux);
        for (unsigned i = 0; i < need->vn_cnt; i++) {
            if (aux->vna_other == index)
                return elf->strings + aux->vna_name;
            aux = (const void *)((const char *)aux + aux->vna_next);
        }
        if (!need->vn_next)
            return NULL;
        need = (const void *)((const char *)need + need->vn_next);
    }
}

/* Whether a defined symbol is not the default version of its name. */
static int has_hidden_version(const struct bp_elf *elf, uint32_t symbol) {
    return elf->versions && elf->versions[symbol] & 0x8000;
}

static int is_data(const ElfW(Sym) * symbol) {
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
}

struct wanted {
    const char *name, *version;
    int (*is_kind)(const ElfW(Sym) * symbol);
};

static int matches(const struct bp_elf *elf, uint32_t index, const struct wanted *wanted) {
    const ElfW(Sym) *symbol = &elf->symbols[index];
    const char *name = wanted->name, *version = wanted->version;
    if (!wanted->is_kind(symbol) || strcmp(elf->strings + symbol->st_name, name) != 0)
        return 0;
    if (!elf->versions || !elf->defined)
        return 1;
    if (!version)
        return !has_hidden_version(elf, index);
    const char *has = defined_version(elf, elf->versions[index] & 0x7fff);
    return !has || strcmp(has, version) == 0;
}

static const ElfW(Sym) * find_gnu(const struct bp_elf *elf, const struct wanted *wanted) {
    struct gnu_hash table = gnu_hash_of(elf);
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)wanted->name; *c; c++)
        hash = hash * 33 + *c;
    uint64_t word = table.bloom[hash / 64 & (table.words - 1)];
    if (!(word >> (hash & 63) & word >> (hash >> table.shift & 63) & 1))
        return NULL;
    uint32_t i = table.bucket[hash % table.buckets];
    if (i < table.first)
        return NULL;
    for (;; i++) {
        uint32_t entry = table.chain[i - table.first];
        if ((entry | 1) == (hash | 1) && matches(elf, i, wanted))
            return &elf->symbols[i];
        if (entry & 1)
            return NULL;
    }
}

static const ElfW(Sym) * find(const struct bp_elf *elf, const struct wanted *wanted) {
    if (elf->gnu_hash)
        return find_gnu(elf, wanted);
    for (uint32_t i = 0; i < elf->sysv_hash[1]; i++)
        if (matches(elf, i, wanted))
            return &elf->symbols[i];
    return NULL;
}

const ElfW(Sym) * bp_elf_find(const struct bp_elf *elf, const char *name, const char *version) {
    struct wanted wanted = {name, version, bp_elf_is_function};
    return find(elf, &wanted);
}

const ElfW(Sym) * bp_elf_find_data(const struct bp_elf *elf, const char *name) {
    struct wanted wanted = {name, NULL, is_data};
    return find(elf, &wanted);
}

int bp_elf_needs(const struct bp_elf *elf, const char *name) {
    for (const ElfW(Dyn) *d = elf->dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && strcmp(elf->strings + d->d_un.d_val, name) == 0)
            return 1;
    return 0;
}

int bp_elf_is_or_needs(const struct bp_elf *elf, const char *prefix) {
    size_t length = strlen(prefix);
    if (strncmp(elf->soname, prefix, length) == 0)
        return 1;
    for (const ElfW(Dyn) *d = elf->dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && strncmp(elf->strings + d->d_un.d_val, prefix, length) == 0)
            return 1;
    return 0;
}

static uint32_t id_in_note(const char *at, const char *end, uint8_t *id, uint32_t size) {
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        const char *text = name + ((note->n_namesz + 3) & ~3u);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            uint32_t length = note->n_descsz < size ? note->n_descsz : size;
            memcpy(id, text, length);
            return length;
        }
        at = text + ((note->n_descsz + 3) & ~3u);
    }
    return 0;
}

uint32_t bp_elf_build_id(const struct bp_elf *elf, uint8_t *id, uint32_t size) {
    for (int i = 0; i < elf->header_count; i++) {
        const ElfW(Phdr) *header = &elf->headers[i];
        if (header->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(elf->base + header->p_vaddr);
        uint32_t length = id_in_note(at, at + header->p_memsz, id, size);
        if (length)
            return length;
    }
    return 0;
}

const void *bp_elf_ret_instruction(const struct bp_elf *elf, uint64_t near) {
    for (int i = 0; i < elf->header_count; i++) {
        const ElfW(Phdr) *header = &elf->headers[i];
        uint64_t low = elf->base + header->p_vaddr;
        if (header->p_type != PT_LOAD || near < low || near >= low + header->p_memsz)
            continue;
        if ((header->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
            return NULL;
        const void *after =
            memchr((const void *)near, BP_ARCH_RETURN, low + header->p_memsz - near);
        return after ? after : memchr((const void *)low, BP_ARCH_RETURN, near - low);
    }
    return NULL;
}
