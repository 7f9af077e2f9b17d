/* SPDX-License-Identifier: MIT */
#include "tools/rules/task.h"

#include <ctype.h>
#include <string.h>

#define LONGEST_WORD 63 /* of a function, place, argument or phase */

static const struct {
    const char *word;
    const char *shape;
} kinds[] = {
    [BP_RULE_TASK] = {"task", "'batt', 'batt(task_id)' or 'libbatt.so:batt(1)'"},
    [BP_RULE_PHASE] = {"phase", "'data loading=load_data' or 'validation=run_batt:validate*'"},
    [BP_RULE_GENERATOR] = {"generator", "'expand_solver' or 'libbatt.so:expand*'"},
    [BP_RULE_SAMPLE] = {"sample", "'run_sample' or 'libbatt.so:run_sample'"},
};

static bool is_word(const char *text, size_t length) {
    return length > 0 && length <= LONGEST_WORD && !memchr(text, ';', length) &&
           !memchr(text, '\n', length);
}

/* A number from 1 to 6, those that registers pass, or the name of a parameter. */
static bool is_argument(const char *text, size_t length) {
    if (!is_word(text, length))
        return false;
    if (isdigit((unsigned char)text[0]))
        return length == 1 && text[0] >= '1' && text[0] <= '6';
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && !(text[i] & 0x80))
            return false;
    return true;
}

static bool is_function(const char *text, bool argument) {
    size_t length = strcspn(text, "()"), where = strcspn(text, ":(");
    bool fine = is_word(text, length);
    if (text[where] == ':')
        fine = where > 0 && where <= LONGEST_WORD && is_word(text + where + 1, length - where - 1);
    if (!text[length])
        return fine;
    const char *open = text + length + 1;
    size_t inside = strcspn(open, "()");
    return fine && argument && text[length] == '(' && open[inside] == ')' && !open[inside + 1] &&
           is_argument(open, inside);
}

static bool is_right(enum bp_task_rule kind, const char *value) {
    if (strcmp(value, "none") == 0)
        return true;
    if (kind != BP_RULE_PHASE)
        return is_function(value, kind == BP_RULE_TASK);
    const char *equals = strchr(value, '=');
    return equals && is_word(value, (size_t)(equals - value)) && is_function(equals + 1, false);
}

int bp_task_rules_add(struct bp_text *rules, enum bp_task_rule kind, const char *value,
                      const char *from, struct bp_error *error) {
    if (!is_right(kind, value))
        return bp_error_set(error, BP_USAGE, "%s '%s': write %s", from, value, kinds[kind].shape);
    bp_text_add(rules, "%s%s=%s", rules->length ? ";" : "", kinds[kind].word, value);
    if (rules->length >= BP_TASK_RULES_SIZE)
        return bp_error_set(error, BP_USAGE, "%s '%s': the rules for tasks are too long together",
                            from, value);
    return 0;
}

int bp_task_rules_add_words(struct bp_text *rules, enum bp_task_rule kind,
                            const struct bp_words *words, const char *from,
                            struct bp_error *error) {
    for (size_t i = 0; words->count > 1 && i < words->count; i++)
        if (strcmp(words->word[i], "none") == 0)
            return bp_error_set(error, BP_USAGE, "%s none goes with no other --%s", from,
                                kinds[kind].word);
    for (size_t i = 0; i < words->count; i++)
        if (bp_task_rules_add(rules, kind, words->word[i], from, error))
            return -1;
    return 0;
}
