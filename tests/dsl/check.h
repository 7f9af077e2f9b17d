/* SPDX-License-Identifier: MIT
 *
 * A check that goes on after a failure and remembers it: main returns check_status.
 */
#pragma once

#include <stdio.h>

static int check_status;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                 \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            check_status = 1;                                                                      \
        }                                                                                          \
    } while (0)
