/* SPDX-License-Identifier: MIT
 *
 * Names as people know them. The demangler is the one of the C++ runtime, which every machine with
 * C++ programs has; its header is C++, hence the prototype. It is opened for the first C++ name:
 * as a dependency of the command it took 0.8 ms of every `battprof run`. A static command has it
 * inside.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/symbols/symbols.h"

typedef char *demangle_fn(const char *mangled, char *buffer, size_t *length, int *status);

/* Parts and copies of one function: to a user they are that function. */
static const char *const clones[] = {".cold",      ".part.",       ".isra.", ".constprop.",
                                     ".lto_priv.", ".localalias.", ".llvm.", ".warm"};

/* Length without "@VERSION" and clone suffixes. */
static size_t plain_length(const char *raw) {
    size_t length = strcspn(raw, "@");
    if (length == 0)
        return strlen(raw);
    for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++) {
        const char *at = strstr(raw + 1, clones[i]);
        if (at && (size_t)(at - raw) < length)
            length = (size_t)(at - raw);
    }
    return length;
}

#ifdef BP_STATIC

extern demangle_fn __cxa_demangle;

static demangle_fn *demangler(void) {
    return __cxa_demangle;
}

#else

static demangle_fn *demangler(void) {
    static demangle_fn *found;
    static int looked;
    if (!looked) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        found = library ? (demangle_fn *)dlsym(library, "__cxa_demangle") : NULL;
        looked = 1;
    }
    return found;
}

#endif

char *bp_symbol_name(const char *raw) {
    char *plain = bp_copy_text(raw);
    int status = -1;
    plain[plain_length(raw)] = 0;
    demangle_fn *demangle = plain[0] == '_' && plain[1] == 'Z' ? demangler() : NULL;
    char *name = demangle ? demangle(plain, NULL, NULL, &status) : NULL;
    if (!name || status != 0)
        return plain;
    free(plain);
    return name;
}

/* Where the bracket that ends just before `end` begins; `name` if it does not. */
static const char *find_open(const char *name, const char *end, char open, char close) {
    int depth = 0;
    while (end > name) {
        end--;
        depth += *end == close;
        depth -= *end == open;
        if (depth == 0)
            return end;
    }
    return name;
}

/* Where the arguments begin. What comes behind them says how the method may be called. */
static const char *find_arguments(const char *name) {
    const char *end = strrchr(name, ')');
    const char *open = end ? find_open(name, end + 1, '(', ')') : NULL;
    return open && open > name ? open : name + strlen(name);
}

/* Behind the type that it returns, which only templates have: the last blank that is not within
 * brackets, and not part of an operator's name. */
static const char *find_start(const char *name, const char *end) {
    int depth = 0;
    for (const char *c = end; c > name; c--) {
        depth += c[-1] == '>' || c[-1] == ')' || c[-1] == ']';
        depth -= c[-1] == '<' || c[-1] == '(' || c[-1] == '[';
        if (depth <= 0 && c[-1] == ' ')
            return c;
    }
    return name;
}

char *bp_symbol_short(const char *name) {
    const char *end = find_arguments(name);
    const char *start = strstr(name, "operator") ? name : find_start(name, end);
    char *text = bp_copy_text(start);
    text[end - start] = 0;
    return text;
}
