/* SPDX-License-Identifier: MIT
 *
 * Can this program be profiled? Looks at the file that will run — found through PATH, scripts
 * followed to their interpreter — for what makes the dynamic loader ignore LD_PRELOAD. It only
 * looks: the answer never keeps a target from being started.
 */
#ifndef BP_TOOLS_SYMBOLS_ELF_PROBE_H
#define BP_TOOLS_SYMBOLS_ELF_PROBE_H

#include "tools/base/text.h"

enum bp_probe_kind {
    BP_PROBE_FINE = 0,
    BP_PROBE_NOT_FOUND,
    BP_PROBE_NOT_EXECUTABLE,
    BP_PROBE_UNREADABLE, /* may well be profilable, cannot be looked at */
    BP_PROBE_STATIC,
    BP_PROBE_SETID,
    BP_PROBE_CAPABILITIES,
    BP_PROBE_32BIT,
    BP_PROBE_MACHINE, /* another architecture */
    BP_PROBE_LIBC     /* dynamic, but not with glibc's loader */
};

struct bp_probe {
    enum bp_probe_kind kind;
    struct bp_text path;    /* the command as found through PATH */
    struct bp_text program; /* the ELF file that runs: path itself, or its last interpreter */
    struct bp_text loader;  /* its PT_INTERP; empty if it has none */
};

void bp_probe_command(const char *command, struct bp_probe *probe);
void bp_probe_fini(struct bp_probe *probe);

/* The program's needed-symbol versions aside: what one ELF file is. Sets the loader. */
enum bp_probe_kind bp_probe_elf(const char *path, struct bp_text *loader);

/* "is statically linked, …; what to do": continues a sentence that begins with the file's name. */
const char *bp_probe_reason(enum bp_probe_kind kind);

#endif
