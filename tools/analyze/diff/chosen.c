/* SPDX-License-Identifier: MIT
 *
 * Runs in which other functions were counted: --dsl named something else, or nothing, in one of
 * them. What is counted on one side alone was there on the other, too, as a part of its callers or
 * of the program's own code, and has in its time what it calls of libraries; so no function's time
 * can be compared. Whose code took the wall can: samples divide that time, too. Of functions that
 * only samples found, those that have no name on one side are not compared either.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/diff/diff.h"
#include "tools/base/text.h"

static const struct {
    const char *variable;
    const char *option;
} choices[] = {
    {"BATTPROF_DSL", "--dsl"},
    {"BATTPROF_PYTHON", "--python"},
    {"BATTPROF_PYTHON_ALL", "--python-all"},
    {"BATTPROF_COUNT", "--count"},
    {"BATTPROF_HOOK", "--hook"},
};
#define CHOICES (sizeof(choices) / sizeof(choices[0]))

/* The first option that the sides do not share; CHOICES if there is none. */
static size_t first_choice(const struct bp_diff *diff) {
    size_t i = 0;
    while (i < CHOICES && diff->new_side.count > 0 &&
           strcmp(bp_model_variable(diff->runs[0].model, choices[i].variable),
                  bp_model_variable(diff->runs[diff->old_side.count].model, choices[i].variable)) ==
               0)
        i++;
    return diff->new_side.count > 0 ? i : CHOICES;
}

/* Calls that both counted are facts all the same. */
static void mark(struct bp_diff_row *row) {
    if (row->kind == BP_DIFF_CATEGORY || row->kind == BP_DIFF_GROUP || row->kind == BP_DIFF_SAMPLED)
        row->other = row->unseen = true;
    else if (row->kind == BP_DIFF_FUNCTION && !row->cuda &&
             (row->function->kind == BP_FUNC_CALL || row->function->kind == BP_FUNC_ROOT)) {
        row->other = true;
        row->unseen |= !row->in_old || !row->in_new;
    }
}

/* A library that was built anew is not there any more for the names of OLD's functions. */
static bool has_unnamed(const struct bp_diff *diff, const char *library) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (diff->rows[i].kind == BP_DIFF_SAMPLED && strstr(diff->rows[i].name, "+0x") &&
            strcmp(diff->rows[i].function->library, library) == 0)
            return true;
    return false;
}

static void mark_unnamed(const struct bp_diff *diff, struct bp_diff_row *row) {
    if (row->kind == BP_DIFF_SAMPLED && !row->function->module[0] &&
        (!row->in_old || !row->in_new) && has_unnamed(diff, row->function->library))
        row->other = row->unseen = true;
}

void bp_diff_mark_choices(struct bp_diff *diff) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        mark_unnamed(diff, &diff->rows[i]);
    diff->chosen = first_choice(diff) < CHOICES;
    for (uint32_t i = 0; diff->chosen && i < diff->row_count; i++)
        mark(&diff->rows[i]);
}

static char *describe(const struct bp_model *model, size_t choice) {
    const char *value = bp_model_variable(model, choices[choice].variable);
    return value[0] ? bp_make_text("with %s %s", choices[choice].option, value)
                    : bp_make_text("without %s", choices[choice].option);
}

char *bp_diff_describe_choices(const struct bp_diff *diff) {
    size_t choice = first_choice(diff);
    if (choice == CHOICES)
        return NULL;
    char *old = describe(diff->runs[0].model, choice);
    char *now = describe(diff->runs[diff->old_side.count].model, choice);
    char *text = bp_make_text("OLD was recorded %s, NEW %s: other functions were counted, so their "
                              "times are not compared; to compare them, record both alike.",
                              old, now);
    free(old);
    free(now);
    return text;
}
