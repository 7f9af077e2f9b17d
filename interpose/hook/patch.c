/* SPDX-License-Identifier: MIT */
#include "interpose/hook/patch.h"

#include <string.h>
#include <sys/mman.h>

#include "interpose/hook/hook.h"
#include "interpose/hook/slots.h"

/* Whether ld.so would look for `object`'s symbols in `other`: objects that were there at start are
 * in the global scope; one that came later sees itself, what it needs and what came with it. */
static int in_scope(const struct bp_loaded *object, const struct bp_loaded *other, int pass) {
    if (other->gone || (other->unpatched && other->elf.low <= (uint64_t)&in_scope &&
                        (uint64_t)&in_scope < other->elf.high))
        return 0;
    switch (pass) {
    case 0:
        return object->elf.symbolic && other == object;
    case 1:
        return other->global;
    case 2:
        return other == object;
    case 3:
        return bp_elf_needs(&object->elf, other->elf.soname);
    default:
        return !other->global;
    }
}

/* What a lazy slot would be bound to on its first call. It must be bound now: ld.so would overwrite
 * the stub. Only definitions count; an undefined symbol with a value, the PLT entry that a no-PIE
 * program uses as the function's address, would lead back to this slot. */
static uint64_t resolve(const struct bp_loaded *object, uint32_t symbol,
                        const struct bp_loaded *all, uint32_t count) {
    const char *name = object->elf.strings + object->elf.symbols[symbol].st_name;
    if (!bp_hook_may_name(name))
        return 0;
    const char *version = bp_elf_wanted_version(&object->elf, symbol);
    for (int pass = 0; pass < 5; pass++)
        for (uint32_t i = 0; i < count; i++) {
            if (!in_scope(object, &all[i], pass))
                continue;
            const ElfW(Sym) *found = bp_elf_find(&all[i].elf, name, version);
            if (found)
                return bp_elf_address(&all[i].elf, found);
        }
    return 0;
}

/* Text relocations are in pages that nobody may write to. */
static int is_writable(const struct bp_elf *elf, uint64_t slot) {
    for (int i = 0; i < elf->header_count; i++) {
        const ElfW(Phdr) *header = &elf->headers[i];
        uint64_t low = elf->base + header->p_vaddr;
        if (header->p_type == PT_LOAD && header->p_flags & PF_W && slot >= low &&
            slot + sizeof slot <= low + header->p_memsz)
            return 1;
    }
    return 0;
}

static struct bp_hook *hook_of(const struct bp_loaded *object, const ElfW(Rela) * relocation,
                               const struct bp_loaded *all, uint32_t count) {
    uint64_t value = *(uint64_t *)(object->elf.base + relocation->r_offset);
    struct bp_hook *hook = bp_hook_find(value);
    if (hook || !bp_arch_is_lazy(relocation) || value < object->elf.low ||
        value >= object->elf.high)
        return hook;
    return bp_hook_find(resolve(object, ELF64_R_SYM(relocation->r_info), all, count));
}

struct relro {
    uint64_t low, high;
    int open; /* made writable */
    int error;
};

static int in_relro(const struct relro *relro, uint64_t slot) {
    return slot >= relro->low && slot < relro->high;
}

static void open_relro(struct relro *relro) {
    if (relro->open || relro->error)
        return;
    relro->error =
        (int)-BP_SYS3(SYS_mprotect, relro->low, relro->high - relro->low, PROT_READ | PROT_WRITE);
    relro->open = !relro->error;
}

static void close_relro(const struct relro *relro) {
    if (relro->open)
        BP_SYS3(SYS_mprotect, relro->low, relro->high - relro->low, PROT_READ);
}

void bp_patch(struct bp_loaded *object, const struct bp_loaded *all, uint32_t count) {
    /* ld.so protects whole pages: the start rounded down, the end rounded down too. */
    struct relro relro = {.low = object->elf.relro_low & ~(uint64_t)(BP_PAGE - 1),
                          .high = object->elf.relro_high & ~(uint64_t)(BP_PAGE - 1)};
    uint32_t slots = 0;
    for (int table = 0; table < 2; table++)
        for (uint64_t i = table == 0 ? object->elf.relative_count : 0;
             i < object->elf.relocation_count[table]; i++) {
            const ElfW(Rela) *relocation = &object->elf.relocations[table][i];
            if (!bp_arch_is_slot(relocation) || ELF64_R_SYM(relocation->r_info) == 0)
                continue;
            struct bp_hook *hook = hook_of(object, relocation, all, count);
            uint64_t code = hook ? bp_hook_code(hook) : 0;
            uint64_t slot = object->elf.base + relocation->r_offset;
            if (!code || !is_writable(&object->elf, slot))
                continue;
            if (in_relro(&relro, slot))
                open_relro(&relro);
            if (in_relro(&relro, slot) && !relro.open)
                continue;
            __atomic_store_n((uint64_t *)slot, code, __ATOMIC_RELEASE);
            if (hook->kind != BP_HOOK_STAYS)
                bp_slots_add(slot, hook->address, in_relro(&relro, slot));
            slots++;
        }
    close_relro(&relro);
    if (object->record) {
        object->record->slots += slots;
        object->record->patch_error = (uint32_t)relro.error;
    }
}
