/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of symbols.h: symbols.c (what is known already), table.c (names by address),
 * map.c (perf map files), name.c (names as people know them), and what needs libdw: file.c (the
 * file that ran), load.c (its functions) and dwarf.c (lines and inlined functions). In a build
 * without libdw, without.c stands for those three.
 */
#ifndef BP_TOOLS_SYMBOLS_INTERNAL_H
#define BP_TOOLS_SYMBOLS_INTERNAL_H

#include <stdbool.h>

#include "tools/base/keys.h"
#include "tools/base/text.h"
#include "tools/symbols/symbols.h"

/* libdw's types; only three files know what is in them. */
typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;

/* A stretch of addresses with a name. */
struct bp_symbol_range {
    uint64_t start;
    uint64_t end;
    const char *raw; /* as in the file; borrowed from it */
    char *name;      /* for people; made when first asked for */
    uint32_t rank;   /* of several at one address the highest is shown */
    bool sized;      /* false: assembly that says no size, the next symbol ends it */
};

struct bp_symbol_table {
    struct bp_symbol_range *ranges; /* by start */
    uint32_t count;
    bool full; /* has what the file does not export */
};

/* Longer than any linker makes. */
#define BP_SYMBOL_BUILD_ID 64

/* A file that ran. */
struct bp_symbol_image {
    char *path;
    uint8_t build_id[BP_SYMBOL_BUILD_ID];
    uint32_t build_id_size;
    uint64_t loaded_ns;
    bool opened;
    Dwfl *dwfl;
    void *callbacks;     /* a Dwfl_Callbacks that lives as long as `dwfl` */
    Dwfl_Module *module; /* NULL: nothing is known of it */
    struct bp_symbol_table table;
    bool indexed; /* whether `names` was filled */
    struct bp_keys names;
    uint64_t *addresses; /* per name */
    struct bp_text problem;
};

/* Opens it if that was not tried before. `debug_path` as in symbols.h must live as long as it. */
void bp_symbol_image_open(struct bp_symbol_image *file, char **debug_path);
void bp_symbol_image_fini(struct bp_symbol_image *file);
bool bp_symbol_is_vdso(const char *path);

/* All functions of the module. */
void bp_symbol_table_load(struct bp_symbol_table *table, Dwfl_Module *module);
void bp_symbol_table_sort(struct bp_symbol_table *table);
struct bp_symbol_range *bp_symbol_table_find(struct bp_symbol_table *table, uint64_t address);
void bp_symbol_table_fini(struct bp_symbol_table *table);

/* Whether DWARF may have anything. */
bool bp_symbol_has_lines(Dwfl_Module *module);
/* What DWARF has at an address, innermost first, as a new array with new function names; 0 if it
 * has nothing. */
uint32_t bp_symbol_dwarf(Dwfl_Module *module, uint64_t address, struct bp_symbol **frames);

/* Where the function at the address begins, by the unwind table; the address itself if that says
 * nothing. The module may be NULL. */
uint64_t bp_symbol_start(Dwfl_Module *module, uint64_t address);

/* /tmp/perf-PID.map; an empty table if there is none. `texts` owns the names. */
void bp_symbol_map_load(struct bp_symbol_table *table, char **texts, int pid);

#endif
