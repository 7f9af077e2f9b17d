/* SPDX-License-Identifier: MIT
 *
 * Names as people know them. The demangler is the one of the C++ runtime, which every machine with
 * C++ programs has; its header is C++, hence the prototype.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/symbols_internal.h"

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

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

char *bp_symbol_name(const char *raw) {
    char *plain = bp_copy_text(raw);
    int status = -1;
    plain[plain_length(raw)] = 0;
    char *name =
        plain[0] == '_' && plain[1] == 'Z' ? __cxa_demangle(plain, NULL, NULL, &status) : NULL;
    if (!name || status != 0)
        return plain;
    free(plain);
    return name;
}
