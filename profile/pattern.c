/* SPDX-License-Identifier: MIT
 *
 * Parsing a list of patterns, then what one matches: Python code by module and file, native code by
 * library and symbol.
 */
#include "profile/pattern.h"

#include <fnmatch.h>
#include <string.h>

#define SEPARATORS ",\n"
#define LONGEST 1024 /* of a glob with what is put around it, and of a path */

/* Puts up to three texts together; 0 if they are too long. */
static int join(char to[LONGEST], const char *a, const char *b, const char *c) {
    size_t x = strlen(a), y = strlen(b), z = strlen(c);
    if (x + y + z >= LONGEST)
        return 0;
    memcpy(to, a, x);
    memcpy(to + x, b, y);
    memcpy(to + x + y, c, z + 1);
    return 1;
}

static int matches(const char *before, const char *glob, const char *after, const char *text) {
    char whole[LONGEST];
    return join(whole, before, glob, after) && fnmatch(whole, text, 0) == 0;
}

/* Blanks around a pattern are none of it; within a path they may be. */
static size_t trim(const char **text, size_t length) {
    while (length && strchr(" \t", **text)) {
        ++*text;
        length--;
    }
    while (length && strchr(" \t", (*text)[length - 1]))
        length--;
    return length;
}

static int parse(const char *text, size_t length, struct bp_pattern *pattern) {
    length = trim(&text, length);
    const char *colon = memchr(text, ':', length);
    size_t where = colon ? (size_t)(colon - text) : length, what = colon ? length - where - 1 : 0;
    if (!where || where >= sizeof pattern->where || what >= sizeof pattern->what)
        return 0;
    memset(pattern, 0, sizeof *pattern);
    memcpy(pattern->where, text, where);
    memcpy(pattern->what, colon ? colon + 1 : "", what);
    return 1;
}

int bp_pattern_next(const char **list, struct bp_pattern *pattern) {
    while (**list) {
        const char *text = *list;
        size_t length = strcspn(text, SEPARATORS);
        *list += length;
        *list += strspn(*list, SEPARATORS);
        if (parse(text, length, pattern))
            return 1;
    }
    return 0;
}

/* The path itself, or a folder that it is in. */
static int is_at(const char *glob, const char *path) {
    size_t length = strlen(glob);
    const char *below = length && glob[length - 1] == '/' ? "*" : "/*";
    return fnmatch(glob, path, 0) == 0 || matches("", glob, below, path);
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* /lib is a link to /usr/lib nearly everywhere: a library has either path, as who loaded it said.
 */
static const char *below_usr(const char *path) {
    static const char *const folders[] = {"/usr/lib", "/usr/bin/", "/usr/sbin/"};
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return path + strlen("/usr");
    return path;
}

/* A path that does not begin at the root may begin at any folder. So may one of the program's: 3.8
 * names a script as it was started. */
static int is_path(const char *glob, const char *path) {
    char tail[LONGEST];
    while (strncmp(glob, "./", 2) == 0)
        glob += 2;
    if (*glob == '/')
        return is_at(glob, path) || is_at(below_usr(glob), below_usr(path)) ||
               (*path != '/' && join(tail, "/", path, "") && ends_with(glob, tail));
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += at > path || *at == '/';
        if (is_at(glob, at))
            return 1;
    }
    return 0;
}

static int names_path(const char *where) {
    return strchr(where, '/') != NULL;
}

/* In Python, what is in a class or function has its name in front. */
static int has_name(const char *glob, const char *between, const char *name) {
    return !name || !*glob || fnmatch(glob, name, 0) == 0 || matches("", glob, between, name);
}

static int is_module(const char *where, const char *module) {
    return *module && (fnmatch(where, module, 0) == 0 || matches("", where, ".*", module));
}

int bp_pattern_is_python(const struct bp_pattern *pattern,
                         const struct bp_pattern_python *function) {
    const char *where = pattern->where, *file = function->file;
    int found = strcmp(where, "__main__") == 0 ? function->script : 0;
    if (!found && *file && *file != '<' && (names_path(where) || ends_with(where, ".py")))
        found = is_path(where, file);
    else if (!found && !names_path(where))
        found = is_module(where, function->module);
    return found && has_name(pattern->what, ".*", function->name);
}

/* "mypkg/solvers" for mypkg.solvers. */
static void make_path(const char *module, char *path) {
    do
        *path++ = *module == '.' ? '/' : *module;
    while (*module++);
}

/* /…/mypkg/_fast.cpython-311-x86_64-linux-gnu.so is mypkg._fast and a part of mypkg. */
static int is_extension(const char *where, const char *path) {
    static const char *const marks[] = {".cpython-", ".abi3.", ".pypy3"};
    char module[BP_PATTERN_WHERE];
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    int extension = 0;
    for (unsigned i = 0; i < sizeof marks / sizeof *marks; i++)
        extension |= strstr(base, marks[i]) != NULL;
    if (!extension)
        return 0;
    make_path(where, module);
    return matches("*/", module, ".*.so", path) || matches("*/", module, "/*", path);
}

/* Who writes "m" or "c" means a module of his own, who means libc writes it. */
static int is_runtime(const char *name) {
    static const char *const short_names[] = {"libc.so*",  "libm.so*",  "libdl.so*",
                                              "librt.so*", "libutil.*", "libpthread.so*"};
    for (unsigned i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (fnmatch(short_names[i], name, 0) == 0)
            return 1;
    return 0;
}

/* libfoo.so.1 is the link by which libfoo.so.1.2 is loaded. */
static int is_link_to(const char *where, const char *path) {
    char longer[LONGEST];
    return strstr(path, ".so") && join(longer, path, ".*", "") && fnmatch(longer, where, 0) == 0;
}

/* "foo" and "libfoo" for libfoo.so.1.2; with ".so" in it, the version is what may be missing. */
static int is_library(const char *where, const char *name) {
    return fnmatch(where, name, 0) == 0 || matches("", where, ".so*", name) ||
           (matches("lib", where, ".so*", name) && !is_runtime(name)) ||
           (strstr(where, ".so") && matches("", where, ".*", name)) || is_link_to(where, name);
}

static int is_object(const char *where, const char *path, const char *soname) {
    const char *slash = strrchr(path, '/');
    char longer[LONGEST];
    if (names_path(where))
        return is_path(where, path) || is_link_to(below_usr(where), below_usr(path)) ||
               (strstr(where, ".so") && join(longer, where, ".*", "") && is_path(longer, path));
    return is_library(where, slash ? slash + 1 : path) || (*soname && is_library(where, soname)) ||
           is_extension(where, path);
}

int bp_pattern_is_native(const struct bp_pattern *pattern,
                         const struct bp_pattern_native *function) {
    char plain[LONGEST];
    if (!is_object(pattern->where, function->path, function->soname))
        return 0;
    if (!function->symbol || has_name(pattern->what, "::*", function->symbol))
        return 1;
    bp_pattern_plain(function->symbol, plain, sizeof plain);
    return *plain && has_name(pattern->what, "::*", plain);
}

/* <number><word>: the word's length; 0 if there is none. */
static unsigned read_word(const char **at) {
    unsigned length = 0;
    while (**at >= '0' && **at <= '9' && length < LONGEST)
        length = 10 * length + (unsigned)(*(*at)++ - '0');
    return strnlen(*at, length) == length ? length : 0;
}

const char *bp_pattern_plain(const char *symbol, char *text, unsigned size) {
    unsigned used = 0, length;
    text[0] = '\0';
    if (strncmp(symbol, "_Z", 2) != 0)
        return text;
    const char *at = symbol + 2;
    int nested = *at == 'N';
    at += nested;
    at += strspn(at, "rVKRO"); /* qualifiers of a method */
    do {
        length = read_word(&at);
        if (!length || used + length + 3 > size)
            break;
        memcpy(text + used, used ? "::" : "", used ? 2 : 0);
        used += used ? 2 : 0;
        memcpy(text + used, at, length);
        used += length;
        at += length;
    } while (nested);
    text[used] = '\0';
    return text;
}
