/* SPDX-License-Identifier: MIT
 *
 * The least that LD_AUDIT (rtld-audit(7)) needs to be told of every call and return through a PLT.
 * It reads no clock.
 */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* link.h declares the others. */
unsigned int la_version(unsigned int version) {
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie) {
    (void)map;
    (void)lmid;
    (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

static __thread uint64_t calls __attribute__((tls_model("initial-exec")));

ElfW(Addr) la_x86_64_gnu_pltenter(ElfW(Sym) * sym, unsigned int index, uintptr_t *from,
                                  uintptr_t *to, La_x86_64_regs *regs, unsigned int *flags,
                                  const char *name, long int *frame_size) {
    (void)index;
    (void)from;
    (void)to;
    (void)regs;
    (void)flags;
    (void)name;
    *frame_size = 64; /* stack arguments to copy; 0 would mean no la_pltexit */
    calls++;
    return sym->st_value;
}

unsigned int la_x86_64_gnu_pltexit(ElfW(Sym) * sym, unsigned int index, uintptr_t *from,
                                   uintptr_t *to, const La_x86_64_regs *in, La_x86_64_retval *out,
                                   const char *name) {
    (void)sym;
    (void)index;
    (void)from;
    (void)to;
    (void)in;
    (void)out;
    (void)name;
    return 0;
}
