/* SPDX-License-Identifier: MIT
 *
 * Rules as they are kept.
 */
#ifndef BP_TOOLS_RULES_INTERNAL_H
#define BP_TOOLS_RULES_INTERNAL_H

#include <jansson.h>

#include "profile/pattern.h"
#include "tools/base/text.h"
#include "tools/rules/rules.h"

struct bp_rule {
    const char *library;
    const char *symbol;
    const char *module;
    const char *file;
    const char *group;
    int category; /* enum bp_category, or -1 */
};

struct bp_rules {
    json_t *document; /* owns the texts; NULL: no file was given */
    struct bp_rule *rules;
    uint32_t count;
    struct bp_text tasks;
    struct bp_text dsl_text; /* the patterns, with commas between */
    struct bp_pattern *dsl;
    uint32_t dsl_count;
    bool decides; /* what is DSL: a file says it, whatever the run asked for */
};

/* Adds patterns; how many. */
uint32_t bp_rules_add_dsl(struct bp_rules *rules, const char *patterns);

#endif
