/* SPDX-License-Identifier: MIT
 *
 * Which category and group a function belongs to. Rules are applied when reporting: the same
 * profile read with other rules gives other categories. The user's rules come first, in the order
 * of the file; the built-in ones follow; the first that matches wins.
 */
#ifndef BP_TOOLS_RULES_RULES_H
#define BP_TOOLS_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/format.h"
#include "tools/base/error.h"

enum bp_category { BP_DSL, BP_FRAMEWORK, BP_TRANSFER, BP_CATEGORIES };

/* What a rule looks at; "" where there is none. */
struct bp_rule_subject {
    const char *library;
    const char *symbol;
    const char *module;
    const char *file;
    uint32_t kind;    /* enum bp_func_kind */
    uint32_t flags;   /* BP_FUNC_CHOSEN, BP_FUNC_SCRIPT, BP_FUNC_CUDA */
    const char *path; /* of the library; NULL: its name is all that is known */
    bool divided;     /* a thread's own code: samples tell which functions it is */
};

struct bp_rules;

/* NULL path: the built-in rules alone. NULL with the error set if the file is wrong. */
struct bp_rules *bp_rules_new(const char *path, struct bp_error *error);
/* Reads rules from a text that a profile has kept; `from` names it in an error. */
struct bp_rules *bp_rules_parse(const char *text, const char *from, struct bp_error *error);
void bp_rules_free(struct bp_rules *rules);

/* Was there a file? Its text, to be kept in a profile: a new text, "" without a file. */
bool bp_rules_is_given(const struct bp_rules *rules);
char *bp_rules_print(const struct bp_rules *rules);

/* These rules for a run that was given these patterns of the DSL, with commas between: new
 * rules, which need the old ones no more. A file that says what is DSL has the last word. */
struct bp_rules *bp_rules_join(const struct bp_rules *rules, const char *patterns);

/* The patterns of the DSL, with commas between; "" if there are none. */
const char *bp_rules_dsl(const struct bp_rules *rules);

/* Do they say what is DSL? */
bool bp_rules_name_dsl(const struct bp_rules *rules);

/* The rules for tasks, as BATTPROF_TASKS has them; "" if the file has none. */
const char *bp_rules_tasks(const struct bp_rules *rules);

/* Groups of functions that no rule names. */
#define BP_GROUP_DSL "other DSL"
#define BP_GROUP_OTHER "other"
/* A group that the model itself knows. */
#define BP_GROUP_IMPORT "module import"

/* Returns the category; the group is borrowed from the rules. */
enum bp_category bp_rules_apply(const struct bp_rules *rules, const struct bp_rule_subject *subject,
                                const char **group);

/* rules_group.c: the group that groups.def gives, "" if none. */
const char *bp_group_builtin(const struct bp_rule_subject *subject);
/* A group that says how time was spent and not what for: its callers' groups come first. */
bool bp_group_is_means(const char *group);
/* A function under which a worker does its own work: groups of its callers are not those of it. */
bool bp_group_begins_work(const struct bp_rule_subject *subject);

/* "dsl", "framework", "transfer"; as a report's text has it: "DSL". */
const char *bp_category_name(enum bp_category category);
const char *bp_category_label(enum bp_category category);

#endif
