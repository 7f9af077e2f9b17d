/* SPDX-License-Identifier: MIT
 *
 * Writing JSON with jansson: what every report needs to be valid, whatever is in a profile.
 */
#ifndef BP_TOOLS_JSON_H
#define BP_TOOLS_JSON_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* Names come from other people's binaries and may be any bytes; JSON must be UTF-8. New. */
json_t *bp_json_text(const char *value);

void bp_json_set(json_t *object, const char *key, double value);
void bp_json_set_count(json_t *object, const char *key, uint64_t value);
void bp_json_set_text(json_t *object, const char *key, const char *value);
/* 0 of nothing. */
void bp_json_set_percent(json_t *object, const char *key, double part, double whole);

/* Steals the root. 0, or -1 with errno. */
int bp_json_print(json_t *root, FILE *out);

#endif
