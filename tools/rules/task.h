/* SPDX-License-Identifier: MIT
 *
 * The rules for tasks as the library takes them, in BATTPROF_TASKS (interpose/task_rules.h): put
 * together from the command line and the rules file, each entry checked.
 */
#ifndef BP_TOOLS_TASK_RULES_H
#define BP_TOOLS_TASK_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/error.h"
#include "tools/options.h"

/* The most that the library takes, with the end. */
#define BP_TASK_RULES_SIZE 600

struct bp_task_rules {
    char text[BP_TASK_RULES_SIZE];
    size_t used;
};

enum bp_task_rule { BP_RULE_TASK, BP_RULE_PHASE, BP_RULE_SAMPLE, BP_RULE_GENERATOR };

/* Add one: "[WHERE:]FUNCTION[(ARGUMENT)]", "NAME=[WHERE:]FUNCTION" or "[WHERE:]FUNCTION"; "none"
 * for none of that kind. `from` begins the sentence of an error: "run: --task" or "rules.json:
 * task". */
int bp_task_rules_add(struct bp_task_rules *rules, enum bp_task_rule kind, const char *value,
                      const char *from, struct bp_error *error);

int bp_task_rules_add_words(struct bp_task_rules *rules, enum bp_task_rule kind,
                            const struct bp_words *words, const char *from, struct bp_error *error);

#endif
