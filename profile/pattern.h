/* SPDX-License-Identifier: MIT
 *
 * Patterns that say which code is the DSL: `run --dsl`, BATTPROF_DSL, "dsl" in a rules file. The
 * target decides by them what is measured call by call, the command what is DSL, so both take
 * their meaning from here. A pattern is WHERE or WHERE:WHAT, both globs:
 *
 *     mypkg.solvers, mypkg     a Python module, with its submodules and extension modules
 *     __main__                 the program's own script, or what python -m runs
 *     run.py, ./src/run.py     a file by its name or path; a folder: all files below it
 *     foo, libfoo, libfoo.so   a library, whatever its version; an executable
 *     mypkg.solvers:solve_*    functions, by their qualified name; a class: all that is in it
 *     libfoo:sym*              functions of a library; C++ ones as namespace::name
 *
 * It allocates nothing and needs string functions and fnmatch of libc alone.
 */
#ifndef BP_PROFILE_PATTERN_H
#define BP_PROFILE_PATTERN_H

#define BP_PATTERN_WHERE 256
#define BP_PATTERN_WHAT 128

struct bp_pattern {
    char where[BP_PATTERN_WHERE];
    char what[BP_PATTERN_WHAT]; /* "": all functions */
};

/* A Python function. */
struct bp_pattern_python {
    const char *module;
    const char *file;
    const char *name; /* qualified; NULL: is there any function that could match? */
    int script;       /* of the program's own script: __main__ */
};

/* A native one. */
struct bp_pattern_native {
    const char *path; /* of the library or executable */
    const char *soname;
    const char *symbol; /* mangled or not; NULL: as above */
};

/* Takes the first of a list with commas or ends of line between, and moves behind it. 0 at the end.
 * One that is longer than its room is left out. */
int bp_pattern_next(const char **list, struct bp_pattern *pattern);

int bp_pattern_is_python(const struct bp_pattern *pattern,
                         const struct bp_pattern_python *function);
int bp_pattern_is_native(const struct bp_pattern *pattern,
                         const struct bp_pattern_native *function);

/* "ns::Class::name" of a mangled C++ name, as far as it consists of plain words; "" if it is none.
 * Returns `text`. */
const char *bp_pattern_plain(const char *symbol, char *text, unsigned size);

#endif
