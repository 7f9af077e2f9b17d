/* SPDX-License-Identifier: MIT */
#include "tools/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/memory.h"

const char *bp_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *bp_make_text(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return bp_copy_text(text);
}
