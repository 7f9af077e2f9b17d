/* SPDX-License-Identifier: MIT
 *
 * The rules for tasks as the library takes them, in BATTPROF_TASKS (interpose/task/rules.h): put
 * together from the command line and the rules file, each entry checked.
 */
#ifndef BP_TOOLS_RULES_TASK_H
#define BP_TOOLS_RULES_TASK_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/error.h"
#include "tools/base/options.h"
#include "tools/base/text.h"

/* The most that the library takes, with the end. */
#define BP_TASK_RULES_SIZE 600

enum bp_task_rule { BP_RULE_TASK, BP_RULE_PHASE, BP_RULE_SAMPLE, BP_RULE_GENERATOR };

/* Add one: "[WHERE:]FUNCTION[(ARGUMENT)]", "NAME=[WHERE:]FUNCTION" or "[WHERE:]FUNCTION"; "none"
 * for none of that kind. `from` begins the sentence of an error: "run: --task" or "rules.json:
 * task". */
int bp_task_rules_add(struct bp_text *rules, enum bp_task_rule kind, const char *value,
                      const char *from, struct bp_error *error);

int bp_task_rules_add_words(struct bp_text *rules, enum bp_task_rule kind,
                            const struct bp_words *words, const char *from, struct bp_error *error);

#endif
