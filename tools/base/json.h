/* SPDX-License-Identifier: MIT
 *
 * Writing JSON with jansson: what every report needs to be valid, whatever is in a profile.
 */
#ifndef BP_TOOLS_BASE_JSON_H
#define BP_TOOLS_BASE_JSON_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* Names come from other people's binaries and may be any bytes; JSON must be UTF-8. New. */
json_t *bp_json_text(const char *value);

void bp_json_set(json_t *object, const char *key, double value);
void bp_json_set_count(json_t *object, const char *key, uint64_t value);
void bp_json_set_text(json_t *object, const char *key, const char *value);
/* Takes the text; null if it is NULL. */
void bp_json_take_text(json_t *object, const char *key, char *text);
/* 0 of nothing. */
void bp_json_set_percent(json_t *object, const char *key, double part, double whole);

/* The text that bp_json_print() prints, without the last newline: new. */
char *bp_json_dump(const json_t *root);
/* Steals the root. 0, or -1 with errno. */
int bp_json_print(json_t *root, FILE *out);

#endif
