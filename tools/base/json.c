/* SPDX-License-Identifier: MIT */
#include "tools/base/json.h"

#include <math.h>
#include <stdlib.h>

#include "tools/base/utf8.h"

json_t *bp_json_text(const char *value) {
    json_t *string = json_string(value);
    if (string)
        return string;
    char *copy = bp_utf8_text(value);
    string = json_string(copy);
    free(copy);
    return string;
}

void bp_json_set(json_t *object, const char *key, double value) {
    /* A damaged file may hold any number; JSON has no infinity. */
    json_object_set_new(object, key, json_real(isfinite(value) ? value : 0));
}

void bp_json_set_count(json_t *object, const char *key, uint64_t value) {
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

void bp_json_set_text(json_t *object, const char *key, const char *value) {
    json_object_set_new(object, key, bp_json_text(value));
}

void bp_json_set_percent(json_t *object, const char *key, double part, double whole) {
    bp_json_set(object, key, whole > 0 ? 100 * part / whole : 0);
}

#define STYLE (JSON_INDENT(1) | JSON_REAL_PRECISION(9))

char *bp_json_dump(const json_t *root) {
    return json_dumps(root, STYLE);
}

int bp_json_print(json_t *root, FILE *out) {
    int result = json_dumpf(root, out, STYLE);
    fputc('\n', out);
    json_decref(root);
    return result;
}

void bp_json_take_text(json_t *object, const char *key, char *text) {
    json_object_set_new(object, key, text ? bp_json_text(text) : json_null());
    free(text);
}
