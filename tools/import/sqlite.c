/* SPDX-License-Identifier: MIT */
#include "tools/import/sqlite.h"

#include <dlfcn.h>
#include <stddef.h>

#ifdef BP_STATIC

const struct bp_sqlite *bp_sqlite_get(struct bp_error *error) {
    static const struct bp_sqlite sqlite = {
#    define FUNCTION(name) sqlite3_##name,
#    include "tools/import/sqlite.def"
#    undef FUNCTION
    };
    (void)error;
    return &sqlite;
}

#else

#    define LIBRARY "libsqlite3.so.0"

static struct bp_sqlite sqlite;

static const struct {
    const char *name;
    size_t place;
} functions[] = {
/* clang-format off */
#    define FUNCTION(name) {"sqlite3_" #name, offsetof(struct bp_sqlite, name)},
#    include "tools/import/sqlite.def"
#    undef FUNCTION
    /* clang-format on */
};

const struct bp_sqlite *bp_sqlite_get(struct bp_error *error) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
        void **place = (void **)((char *)&sqlite + functions[i].place);
        *place = dlsym(library, functions[i].name);
        if (!*place)
            library = NULL;
    }
    if (library)
        return &sqlite;
    bp_error_set(error, BP_FAILED, "%s; install SQLite (Debian: libsqlite3-0)", dlerror());
    return NULL;
}

#endif
