/* SPDX-License-Identifier: MIT */
#include "interpose/process/count.h"

#include <string.h>

#include "interpose/hook/hook.h"
#include "interpose/python/choose.h"

#define PATTERN_SIZE 256

static int names_library(const char *pattern) {
    char left[PATTERN_SIZE] = "";
    strncat(left, pattern, strcspn(pattern, ":"));
    return strncmp(left, "lib", 3) == 0 || strstr(left, ".so") != NULL;
}

static void add(const char *pattern, uint16_t flags) {
    if (names_library(pattern) && !(flags & BP_FUNC_LINES))
        bp_hook_patterns(pattern, flags);
    else
        bp_py_choose_count(pattern, flags, (flags & BP_FUNC_LINES) != 0);
}

void bp_count_add(const char *patterns, uint16_t flags) {
    while (patterns && *patterns) {
        char pattern[PATTERN_SIZE] = "";
        size_t length = strcspn(patterns, ", \t\n");
        if (length > 0 && length < PATTERN_SIZE)
            add(strncat(pattern, patterns, length), flags);
        patterns += length;
        patterns += strspn(patterns, ", \t\n");
    }
}
