/* SPDX-License-Identifier: MIT */
#include "tools/base/variables.h"

#include <stdio.h>
#include <string.h>

#include "tools/base/nearest.h"

#define PREFIX "BATTPROF"

#define VARIABLE(name, kind, usual, sentence) {#name, usual, sentence},
const struct bp_variable_row bp_variable_rows[] = {
#include "interpose/process/variables.def"
};

bool bp_variable_match(const char *text, struct bp_variable_match *match) {
    size_t length = strcspn(text, "="), prefix = sizeof PREFIX - 1;
    if (strncmp(text, PREFIX, prefix) || !strchr("=_", text[prefix]))
        return false;
    snprintf(match->name, sizeof match->name, "%.*s", (int)length, text);
    struct bp_nearest nearest = {.word = match->name + prefix};
    match->row = NULL;
    for (size_t i = 0; i < BP_VARIABLE_NAMES; i++) {
        bp_nearest_offer(&nearest, bp_variable_rows[i].name + prefix);
        if (strcmp(bp_variable_rows[i].name, match->name) == 0)
            match->row = &bp_variable_rows[i];
    }
    match->nearest = nearest.best ? nearest.best - prefix : NULL;
    return true;
}
