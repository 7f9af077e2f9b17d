/* SPDX-License-Identifier: MIT
 *
 * The category of a function: by the rules of a file, by what was said to be the user's own, by
 * the built-in rules where nothing was said, or because the run asked for it.
 */
#include <fnmatch.h>

#include "tools/base/memory.h"
#include "tools/rules/internal.h"

/* Only plain calls: a lock taken inside libdsl is waiting, not DSL. */
static const struct bp_rule builtin[] = {
    {.library = "libdsl*",
     .symbol = "dsl_log_*",
     .category = BP_FRAMEWORK}, /* kept in it, not of it */
    {.library = "libdsl*", .category = BP_DSL},
    {.module = "dsl", .category = BP_DSL},
    {.module = "dsl.*", .category = BP_DSL},
};

uint32_t bp_rules_add_dsl(struct bp_rules *rules, const char *patterns) {
    struct bp_pattern pattern;
    uint32_t count = 0;
    if (patterns[0])
        bp_text_add(&rules->dsl_text, "%s%s", rules->dsl_text.length ? "," : "", patterns);
    for (; bp_pattern_next(&patterns, &pattern); count++)
        *BP_APPEND(rules->dsl, rules->dsl_count) = pattern;
    return count;
}

const char *bp_rules_dsl(const struct bp_rules *rules) {
    return bp_text_get(&rules->dsl_text);
}

bool bp_rules_name_dsl(const struct bp_rules *rules) {
    for (uint32_t i = 0; i < rules->count; i++)
        if (rules->rules[i].category == BP_DSL)
            return true;
    return rules->dsl_count > 0;
}

bool bp_rules_is_given(const struct bp_rules *rules) {
    return rules->document != NULL;
}

struct bp_rules *bp_rules_join(const struct bp_rules *rules, const char *patterns) {
    struct bp_rules *joined = bp_alloc(1, sizeof(*joined));
    joined->document = json_incref(rules->document);
    for (uint32_t i = 0; i < rules->count; i++)
        *BP_APPEND(joined->rules, joined->count) = rules->rules[i];
    joined->decides = rules->dsl_count > 0;
    bp_rules_add_dsl(joined, bp_rules_dsl(rules));
    if (!joined->decides)
        bp_rules_add_dsl(joined, patterns);
    return joined;
}

static bool glob_matches(const char *glob, const char *text) {
    return !glob || fnmatch(glob, text, 0) == 0;
}

static bool rule_matches(const struct bp_rule *rule, const struct bp_rule_subject *subject) {
    return glob_matches(rule->library, subject->library) &&
           glob_matches(rule->symbol, subject->symbol) &&
           glob_matches(rule->module, subject->module) && glob_matches(rule->file, subject->file);
}

static bool pattern_matches(const struct bp_pattern *pattern,
                            const struct bp_rule_subject *subject) {
    if (subject->module[0]) {
        struct bp_pattern_python function = {.module = subject->module,
                                             .file = subject->file,
                                             .name = subject->symbol,
                                             .script = subject->flags & BP_FUNC_SCRIPT};
        return bp_pattern_is_python(pattern, &function);
    }
    struct bp_pattern_native function = {
        .path = subject->path && subject->path[0] ? subject->path : subject->library,
        .soname = "",
        .symbol = subject->symbol};
    if (subject->kind == BP_FUNC_ROOT)
        return !subject->divided && !pattern->what[0] && bp_pattern_is_native(pattern, &function);
    return function.path[0] && bp_pattern_is_native(pattern, &function);
}

/* Waiting and file I/O are what they are, whoever does it. */
static bool is_dsl(const struct bp_rules *rules, const struct bp_rule_subject *subject) {
    if (subject->kind != BP_FUNC_CALL && subject->kind != BP_FUNC_ROOT)
        return false;
    for (uint32_t i = 0; i < rules->dsl_count; i++)
        if (pattern_matches(&rules->dsl[i], subject))
            return true;
    return false;
}

static enum bp_category find_category(const struct bp_rules *rules,
                                      const struct bp_rule_subject *subject, const char **group) {
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct bp_rule *rule = &rules->rules[i];
        if (!rule_matches(rule, subject))
            continue;
        if (rule->group && !(*group)[0])
            *group = rule->group;
        if (rule->category >= 0)
            return (enum bp_category)rule->category;
    }
    if (is_dsl(rules, subject))
        return BP_DSL;
    bool named = rules->dsl_count > 0;
    for (size_t i = 0;
         !named && subject->kind == BP_FUNC_CALL && i < sizeof(builtin) / sizeof(*builtin); i++)
        if (rule_matches(&builtin[i], subject))
            return (enum bp_category)builtin[i].category;
    if (subject->flags & BP_FUNC_CHOSEN && !rules->decides)
        return BP_DSL; /* run --python asked for its module */
    return BP_FRAMEWORK;
}

enum bp_category bp_rules_apply(const struct bp_rules *rules, const struct bp_rule_subject *subject,
                                const char **group) {
    *group = "";
    enum bp_category category = find_category(rules, subject, group);
    if (!(*group)[0])
        *group = bp_group_builtin(subject);
    if (!(*group)[0])
        *group = category == BP_DSL ? BP_GROUP_DSL : BP_GROUP_OTHER;
    return category;
}
