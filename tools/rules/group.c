/* SPDX-License-Identifier: MIT
 *
 * The built-in groups: groups.def as a table.
 */
#include <fnmatch.h>
#include <string.h>

#include "tools/rules/rules.h"

enum kind { ANY, WAIT, IO, CUDA };

struct group_rule {
    const char *name;
    enum kind kind;
    const char *library;
    const char *symbol;
    const char *module;
};

static const struct group_rule rules[] = {
#define MEANS(name)
#define WORK(library, symbol, module)
#define GROUP(name, kind, library, symbol, module) {name, kind, library, symbol, module},
#include "tools/rules/groups.def"
#undef GROUP
#undef WORK
#undef MEANS
};

static const char *const means[] = {
#define MEANS(name) name,
#define WORK(library, symbol, module)
#define GROUP(name, kind, library, symbol, module)
#include "tools/rules/groups.def"
#undef GROUP
#undef WORK
#undef MEANS
    BP_GROUP_OTHER,
};

static const struct group_rule work[] = {
#define MEANS(name)
#define WORK(library, symbol, module) {"", ANY, library, symbol, module},
#define GROUP(name, kind, library, symbol, module)
#include "tools/rules/groups.def"
#undef GROUP
#undef WORK
#undef MEANS
};

static bool kind_matches(enum kind kind, const struct bp_rule_subject *subject) {
    switch (kind) {
    case WAIT:
        return subject->kind == BP_FUNC_WAIT;
    case IO:
        return subject->kind == BP_FUNC_IO;
    case CUDA:
        return subject->flags & BP_FUNC_CUDA;
    case ANY:
        break;
    }
    return true;
}

/* A rule about modules is about Python, one about libraries about native code. */
static bool glob_matches(const char *glob, const char *text) {
    return !glob || (text[0] && fnmatch(glob, text, 0) == 0);
}

static bool rule_matches(const struct group_rule *rule, const struct bp_rule_subject *subject) {
    return kind_matches(rule->kind, subject) && glob_matches(rule->library, subject->library) &&
           glob_matches(rule->symbol, subject->symbol) &&
           glob_matches(rule->module, subject->module);
}

const char *bp_group_builtin(const struct bp_rule_subject *subject) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rule_matches(&rules[i], subject))
            return rules[i].name;
    return "";
}

bool bp_group_begins_work(const struct bp_rule_subject *subject) {
    for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
        if (rule_matches(&work[i], subject))
            return true;
    return false;
}

bool bp_group_is_means(const char *group) {
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
        if (strcmp(means[i], group) == 0)
            return true;
    return false;
}
