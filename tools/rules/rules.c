/* SPDX-License-Identifier: MIT
 *
 * Rules as a JSON file:
 *
 *     {"rules": [{"library": "libfoo*", "symbol": "log_*", "category": "framework",
 *                 "group": "logging"}]}
 *
 * and which calls are tasks, phases, samples and generate code, for `battprof run`
 * (tools/rules/task.h):
 *
 *     {"tasks": ["batt(task_id)"], "phases": {"data loading": ["load_data"]},
 *      "samples": ["run_sample"], "generators": ["expand_solver"]}
 *
 * and what is the user's own, as `battprof run --dsl` has it (profile/pattern.h):
 *
 *     {"dsl": ["mypkg", "libfoo:sym*"]}
 *
 * library, symbol, module and file are globs, all that are given must match; category or group or
 * both say what follows. A rule with a group alone names the group and leaves the category to the
 * rules after it. A typo must not silently change a report: every unknown word is an error.
 */
#include "tools/rules/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tools/base/memory.h"
#include "tools/base/nearest.h"
#include "tools/base/text.h"
#include "tools/rules/internal.h"
#include "tools/rules/task.h"

static const char *const category_names[] = {"dsl", "framework", "transfer"};

static const struct {
    const char *key;
    size_t offset;
} texts[] = {
    {"library", offsetof(struct bp_rule, library)}, {"symbol", offsetof(struct bp_rule, symbol)},
    {"module", offsetof(struct bp_rule, module)},   {"file", offsetof(struct bp_rule, file)},
    {"group", offsetof(struct bp_rule, group)},
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))
#define ALLOWED "library, symbol, module, file, category and group"

const char *bp_category_name(enum bp_category category) {
    return category_names[category];
}

const char *bp_category_label(enum bp_category category) {
    return category == BP_DSL ? "DSL" : category_names[category];
}

struct parser {
    const char *path;
    struct bp_error *error;
    size_t number; /* of the rule, from 1 */
};

static int unknown_key(const struct parser *parser, const char *key) {
    struct bp_nearest nearest = {.word = key};
    for (size_t i = 0; i < TEXTS; i++)
        bp_nearest_offer(&nearest, texts[i].key);
    bp_nearest_offer(&nearest, "category");
    if (nearest.best)
        return bp_error_set(parser->error, BP_FAILED,
                            "%s: rule %zu: unknown key \"%s\", did you mean \"%s\"? A rule has "
                            "the keys " ALLOWED,
                            parser->path, parser->number, key, nearest.best);
    return bp_error_set(parser->error, BP_FAILED,
                        "%s: rule %zu: unknown key \"%s\"; a rule has the keys " ALLOWED,
                        parser->path, parser->number, key);
}

static int parse_category(const struct parser *parser, const char *text, struct bp_rule *rule) {
    for (int i = 0; i < BP_CATEGORIES; i++)
        if (strcmp(text, category_names[i]) == 0) {
            rule->category = i;
            return 0;
        }
    return bp_error_set(parser->error, BP_FAILED,
                        "%s: rule %zu: unknown category \"%s\"; allowed are dsl, framework and "
                        "transfer",
                        parser->path, parser->number, text);
}

static int parse_member(const struct parser *parser, const char *key, const json_t *value,
                        struct bp_rule *rule) {
    const char *text = json_string_value(value);
    bool is_category = strcmp(key, "category") == 0;
    size_t i = 0;
    while (i < TEXTS && strcmp(key, texts[i].key) != 0)
        i++;
    if (!is_category && i == TEXTS)
        return unknown_key(parser, key);
    if (!text || !text[0])
        return bp_error_set(parser->error, BP_FAILED,
                            "%s: rule %zu: \"%s\" must be a text that is not empty", parser->path,
                            parser->number, key);
    if (is_category)
        return parse_category(parser, text, rule);
    *(const char **)((char *)rule + texts[i].offset) = text;
    return 0;
}

static int parse_rule(const struct parser *parser, json_t *item, struct bp_rule *rule) {
    const char *key;
    json_t *value;
    if (!json_is_object(item))
        return bp_error_set(parser->error, BP_FAILED,
                            "%s: rule %zu is not an object; write {\"library\": \"libfoo*\", "
                            "\"category\": \"framework\"}",
                            parser->path, parser->number);
    json_object_foreach(item, key, value) {
        if (parse_member(parser, key, value, rule))
            return -1;
    }
    if (!rule->library && !rule->symbol && !rule->module && !rule->file)
        return bp_error_set(parser->error, BP_FAILED,
                            "%s: rule %zu matches everything; give library, symbol, module or file",
                            parser->path, parser->number);
    if (rule->category < 0 && !rule->group)
        return bp_error_set(parser->error, BP_FAILED,
                            "%s: rule %zu says nothing; give a category or a group", parser->path,
                            parser->number);
    return 0;
}

/* A list of texts; those of a phase get its name in front. */
static int parse_task_list(struct bp_rules *rules, const struct parser *parser,
                           enum bp_task_rule kind, const char *phase, const json_t *list) {
    char *from = bp_make_text("%s:", parser->path);
    int result = 0;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        const char *text = json_string_value(item);
        char *value = bp_make_text("%s%s%s", phase, *phase ? "=" : "", text ? text : "");
        result |= bp_task_rules_add(&rules->tasks, kind, value, from, parser->error);
        free(value);
    }
    free(from);
    if (result) {
        parser->error->status = BP_FAILED;
        return -1;
    }
    return json_is_array(list)
               ? 0
               : bp_error_set(parser->error, BP_FAILED,
                              "%s: tasks, samples, generators and each of the "
                              "phases are lists of texts: {\"tasks\": [\"batt\"], \"phases\": "
                              "{\"data loading\": [\"load_data\"]}}",
                              parser->path);
}

static int parse_tasks(struct bp_rules *rules, const struct parser *parser) {
    json_t *tasks = json_object_get(rules->document, "tasks");
    json_t *samples = json_object_get(rules->document, "samples");
    json_t *generators = json_object_get(rules->document, "generators");
    json_t *value;
    const char *phase;
    if ((tasks && parse_task_list(rules, parser, BP_RULE_TASK, "", tasks)) ||
        (samples && parse_task_list(rules, parser, BP_RULE_SAMPLE, "", samples)) ||
        (generators && parse_task_list(rules, parser, BP_RULE_GENERATOR, "", generators)))
        return -1;
    json_object_foreach(json_object_get(rules->document, "phases"), phase, value) {
        if (parse_task_list(rules, parser, BP_RULE_PHASE, phase, value))
            return -1;
    }
    return 0;
}

static int parse_dsl(struct bp_rules *rules, const struct parser *parser) {
    json_t *list = json_object_get(rules->document, "dsl"), *item;
    size_t i;
    json_array_foreach(list, i, item) {
        const char *text = json_string_value(item);
        if (!text || strpbrk(text, ",\n") || bp_rules_add_dsl(rules, text) != 1)
            return bp_error_set(parser->error, BP_FAILED,
                                "%s: dsl: write modules, files, libraries or functions of them: "
                                "{\"dsl\": [\"mypkg\", \"libfoo:sym*\"]}",
                                parser->path);
    }
    return !list || json_is_array(list)
               ? 0
               : bp_error_set(parser->error, BP_FAILED, "%s: dsl is a list: {\"dsl\": [\"mypkg\"]}",
                              parser->path);
}

static int check_top(const json_t *document, const char *path, struct bp_error *error) {
    static const char *const known[] = {"rules", "dsl", "tasks", "phases", "samples", "generators"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)document, key, value) {
        size_t i = 0;
        while (i < sizeof(known) / sizeof(known[0]) && strcmp(key, known[i]) != 0)
            i++;
        if (i == sizeof(known) / sizeof(known[0]))
            return bp_error_set(error, BP_FAILED,
                                "%s: unknown key \"%s\"; those at the top are \"rules\", \"dsl\", "
                                "\"tasks\", \"phases\", \"samples\" and \"generators\"",
                                path, key);
    }
    return 0;
}

static int parse_document(struct bp_rules *rules, const char *path, struct bp_error *error) {
    json_t *list = json_object_get(rules->document, "rules");
    struct parser parser = {path, error, 0};
    if (check_top(rules->document, path, error) || parse_tasks(rules, &parser) ||
        parse_dsl(rules, &parser))
        return -1;
    if (!list && (rules->tasks.length || rules->dsl_count))
        return 0;
    if (!json_is_array(list))
        return bp_error_set(error, BP_FAILED,
                            "%s: no list of rules; write {\"rules\": [{\"library\": \"libfoo*\", "
                            "\"category\": \"framework\"}]}",
                            path);
    rules->rules = bp_alloc(json_array_size(list), sizeof(*rules->rules));
    for (; parser.number < json_array_size(list); rules->count++) {
        json_t *item = json_array_get(list, parser.number++);
        rules->rules[rules->count].category = -1;
        if (parse_rule(&parser, item, &rules->rules[rules->count]))
            return -1;
    }
    return 0;
}

/* Takes the document. */
static struct bp_rules *read_document(json_t *document, const json_error_t *where, const char *path,
                                      struct bp_error *error) {
    struct bp_rules *rules = bp_alloc(1, sizeof(*rules));
    rules->document = document;
    int result = 0;
    if (!document)
        result = bp_error_set(error, BP_FAILED, "%s: line %d: not JSON: %s", path, where->line,
                              where->text);
    else
        result = parse_document(rules, path, error);
    if (result == 0)
        return rules;
    bp_rules_free(rules);
    return NULL;
}

struct bp_rules *bp_rules_new(const char *path, struct bp_error *error) {
    json_error_t where;
    if (!path)
        return bp_alloc(1, sizeof(struct bp_rules));
    FILE *file = fopen(path, "re");
    if (!file) {
        bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *document = json_loadf(file, JSON_REJECT_DUPLICATES, &where);
    fclose(file);
    return read_document(document, &where, path, error);
}

struct bp_rules *bp_rules_parse(const char *text, const char *from, struct bp_error *error) {
    json_error_t where;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    return read_document(document, &where, from, error);
}

char *bp_rules_print(const struct bp_rules *rules) {
    char *text = rules->document ? json_dumps(rules->document, JSON_COMPACT) : NULL;
    return text ? text : bp_copy_text("");
}

const char *bp_rules_tasks(const struct bp_rules *rules) {
    return bp_text_get(&rules->tasks);
}

void bp_rules_free(struct bp_rules *rules) {
    if (!rules)
        return;
    json_decref(rules->document);
    bp_text_fini(&rules->tasks);
    bp_text_fini(&rules->dsl_text);
    free(rules->dsl);
    free(rules->rules);
    free(rules);
}
