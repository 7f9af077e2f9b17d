/* SPDX-License-Identifier: MIT
 *
 * From an address in a file to function, file and line; when reporting, never inside the target.
 * Sources: .symtab, .dynsym, debug files found by build id or .gnu_debuglink, DWARF through libdw,
 * the vdso of this machine, and for code that a program made itself the perf map files that JIT
 * compilers write. A file that is no longer the one that ran names nothing: wrong names are worse
 * than none. Files are opened when the first of their addresses is asked for.
 */
#ifndef BP_TOOLS_SYMBOLS_SYMBOLS_H
#define BP_TOOLS_SYMBOLS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A file as the target had it mapped. */
struct bp_symbol_file {
    const char *path;
    const uint8_t *build_id;
    uint32_t build_id_size; /* 0: it has none, or nobody recorded it */
    uint64_t loaded_ns;     /* real time: without a build id a file changed later is another one */
};

/* One function at an address; file is "" and line 0 where that is not known. */
struct bp_symbol {
    const char *function; /* demangled; "" if unknown */
    const char *file;
    uint32_t line;
    const char *directory; /* in which the compiler ran: a relative file begins there; "" */
};

/* The name of jumps to functions of other libraries: code that nobody wrote. */
#define BP_SYMBOL_JUMP "(plt)"

struct bp_symbols;

/* `debug_path` as in elfutils, ":.debug:/usr/lib/debug" if NULL. */
struct bp_symbols *bp_symbols_new(const char *debug_path);
void bp_symbols_free(struct bp_symbols *symbols);

/* The file's number, the same for the same file. Texts are copied. */
uint32_t bp_symbols_add(struct bp_symbols *symbols, const struct bp_symbol_file *file);

/* Name of the function that the symbol table has at an address of the file: borrowed, "" if none.
 */
const char *bp_symbols_function(struct bp_symbols *symbols, uint32_t file, uint64_t address);

/* The function's name for people, borrowed: "lib.so+0x1234" where there is no name, with the
 * beginning of the function as far as the unwind table of a stripped file tells. */
const char *bp_symbols_label(struct bp_symbols *symbols, uint32_t file, uint64_t address);

/* All functions at the address, the innermost inlined one first, the one of the symbol table last:
 * at least one, borrowed. Slower than the name alone: it reads DWARF. */
const struct bp_symbol *bp_symbols_frames(struct bp_symbols *symbols, uint32_t file,
                                          uint64_t address, uint32_t *count);

/* Where a function of this name begins, 0 if the file has none, or no lines of its source. */
uint64_t bp_symbols_address(struct bp_symbols *symbols, uint32_t file, const char *name);

/* Files that were added; their numbers are smaller. */
uint32_t bp_symbols_count(const struct bp_symbols *symbols);

/* Why a file that was asked for gives no names, "" if it does. */
const char *bp_symbols_problem(struct bp_symbols *symbols, uint32_t file);

/* The function that the perf map file of a process has at an address of it: borrowed, "" if none.
 */
const char *bp_symbols_generated(struct bp_symbols *symbols, int pid, uint64_t address);

/* A new text: demangled, without the suffixes that compilers give to parts of a function. */
char *bp_symbol_name(const char *raw);

/* A new text: a C++ name without its arguments and the type that it returns. */
char *bp_symbol_short(const char *name);

#endif
