/* SPDX-License-Identifier: MIT
 *
 * Stands for file.c, load.c and dwarf.c in a build without libdw: no file is opened, native
 * functions are "lib.so+0x1234". Code that JIT compilers describe has its names all the same.
 */
#include <stdlib.h>

#include "tools/symbols/internal.h"

/* One sentence for all files, as that of the first. */
void bp_symbol_image_open(struct bp_symbol_image *file, char **debug_path) {
    static bool told;
    (void)debug_path;
    if (!told)
        bp_text_set(&file->problem,
                    "this battprof is built without libdw: native functions that were sampled have "
                    "no names");
    told = true;
}

void bp_symbol_image_fini(struct bp_symbol_image *file) {
    free(file->path);
    bp_text_fini(&file->problem);
}

bool bp_symbol_has_lines(Dwfl_Module *module) {
    (void)module;
    return false;
}

uint32_t bp_symbol_dwarf(Dwfl_Module *module, uint64_t address, struct bp_symbol **frames) {
    (void)module;
    (void)address;
    *frames = NULL;
    return 0;
}

uint64_t bp_symbol_start(Dwfl_Module *module, uint64_t address) {
    (void)module;
    return address;
}
