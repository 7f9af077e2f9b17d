/* SPDX-License-Identifier: MIT
 *
 * Writing JSON with jansson: what every report needs to be valid, whatever is in a profile.
 */
#ifndef BP_TOOLS_JSON_H
#define BP_TOOLS_JSON_H

#include <stdint.h>

#include <jansson.h>

/* Names come from other people's binaries and may be any bytes; JSON must be UTF-8. New. */
json_t *bp_json_text(const char *value);

void bp_json_set(json_t *object, const char *key, double value);
void bp_json_set_count(json_t *object, const char *key, uint64_t value);
void bp_json_set_text(json_t *object, const char *key, const char *value);

#endif
