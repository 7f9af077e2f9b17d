/* SPDX-License-Identifier: MIT
 *
 * See invoked.h. Who starts a program may give it any argv[0]; a name that leads to another file or
 * to none is replaced by the path of our own.
 */
#include "tools/base/invoked.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

#define NAME "battprof"
#define OWN "/proc/self/exe"

static struct {
    const char *argv0; /* NULL: unknown */
    char *name;        /* NULL before the first question */
} state;

static bool is_own(const char *path) {
    struct stat own;
    struct stat other;
    return stat(OWN, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

/* The first of that name in PATH, which is what a shell takes. */
static bool leads_here(const char *name) {
    const char *from = getenv("PATH");
    while (from) {
        int length = (int)strcspn(from, ":");
        char *path = bp_make_text("%.*s%s%s", length, from, length ? "/" : "./", name);
        bool found = access(path, X_OK) == 0;
        bool own = found && is_own(path);
        free(path);
        if (found)
            return own;
        from = from[length] ? from + length + 1 : NULL;
    }
    return false;
}

static char *quote(const char *word) {
    char *copy = bp_copy_text(word);
    char *quoted = bp_quote_words((char *[]){copy, NULL});
    free(copy);
    return quoted;
}

static char *find_name(const char *name) {
    char *own = NULL;
    if (strchr(name, '/') ? !is_own(name) : !leads_here(name))
        own = realpath(OWN, NULL);
    char *found = quote(own ? own : name);
    free(own);
    return found;
}

void bp_invoked_set(const char *argv0) {
    state.argv0 = argv0;
}

const char *bp_invoked(void) {
    if (!state.name && state.argv0)
        state.name = find_name(state.argv0);
    return state.name ? state.name : NAME;
}
