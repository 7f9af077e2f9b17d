/* SPDX-License-Identifier: MIT
 *
 * What cannot be shown as it was asked for: an option that would be ignored is an error, so that
 * nobody takes one table for another.
 */
#include <string.h>

#include "tools/projection.h"
#include "tools/report_internal.h"

/* What is shown, a bit for each. Tables have the words of --by. */
enum view {
    OVERVIEW = 1 << 0,
    FUNCTION = 1 << 1,
    TASK = 1 << 2,
    CANDIDATE = 1 << 3,
    OTHER_TABLE = 1 << 4,
    FOUND = 1 << 5, /* functions by name */
    PROJECTION = 1 << 6,
    TREE = 1 << 7,
    STACKS = 1 << 8,
    ALL_TABLES = 1 << 9,
    JSON = 1 << 10,
};

#define EVERYTHING (2 * JSON - 1)
#define TABLES (EVERYTHING & ~(TREE | STACKS | JSON))

static bool is_by(const struct bp_report_settings *settings, const char *word) {
    return strcmp(settings->by, word) == 0;
}

static enum view table_of(const struct bp_report_settings *settings) {
    if (is_by(settings, "task"))
        return TASK;
    if (is_by(settings, "candidate"))
        return CANDIDATE;
    if (is_by(settings, "function") || (settings->csv && is_by(settings, BP_OVERVIEW)))
        return FUNCTION;
    if (!is_by(settings, BP_OVERVIEW))
        return OTHER_TABLE;
    return settings->search.count ? FOUND : OVERVIEW;
}

static enum view view_of(const struct bp_report_settings *settings) {
    if (settings->json)
        return JSON;
    if (settings->folded)
        return STACKS;
    if (settings->tree)
        return TREE;
    if (settings->csv && (settings->scale || settings->budget_s > 0))
        return PROJECTION;
    return settings->save && !settings->csv ? ALL_TABLES : table_of(settings);
}

/* The option, or what goes with it, that chose the view. */
static const char *name_view(const struct bp_report_settings *settings, enum view view, char *text,
                             size_t size) {
    if (view == STACKS)
        return "--folded, which writes all sampled stacks";
    if (view == TREE)
        return "--tree";
    if (view == ALL_TABLES)
        return "--save, which writes all tables";
    if (view == JSON)
        return "--json, which has all of it";
    if (view == PROJECTION)
        return settings->budget_s > 0 ? "--csv --budget" : "--csv --scale";
    if (view == FOUND)
        return "--search";
    if (is_by(settings, BP_OVERVIEW))
        return "--csv of functions";
    snprintf(text, size, "--by %s", settings->by);
    return text;
}

bool bp_report_judges(const struct bp_report_settings *settings) {
    const struct bp_levels usual = BP_DEFAULT_LEVELS;
    return memcmp(&settings->levels, &usual, sizeof(usual)) != 0;
}

struct use {
    const char *option;
    bool given;
    unsigned views;   /* that it changes */
    const char *with; /* those, in words */
};

/* JSON has all tables: what chooses among them is answered, too, so it is only said. */
static int check_use(const struct bp_report_settings *settings, const struct use *use,
                     struct bp_error *error) {
    enum view view = view_of(settings);
    char text[64];
    if (!use->given || (use->views & view))
        return 0;
    const char *name = name_view(settings, view, text, sizeof(text));
    if (view == JSON) {
        bp_note("--%s changes nothing in %s", use->option, name);
        return 0;
    }
    return bp_error_set(error, BP_USAGE, "report: --%s goes with %s, not with %s", use->option,
                        use->with, name);
}

static int check_uses(const struct bp_report_settings *settings, struct bp_error *error) {
    bool projects = settings->scale || settings->budget_s > 0;
    unsigned named = FUNCTION | TASK | FOUND | JSON | (settings->csv ? TABLES & ~PROJECTION : 0);
    const struct use uses[] = {
        {"by", !is_by(settings, BP_OVERVIEW), TABLES & ~(PROJECTION | ALL_TABLES), "tables"},
        {"top", settings->top, TABLES, "tables"},
        {"search", settings->search.count, named, "functions or --by task"},
        {"sort", settings->sort, OVERVIEW | FUNCTION | FOUND | ALL_TABLES | JSON, "functions"},
        {"levels", bp_report_judges(settings) && !(settings->budget_s > 0),
         OVERVIEW | CANDIDATE | ALL_TABLES | JSON, "the overview, --by candidate or --budget"},
        {"outliers", settings->tasks.outlier_k > 0 && !projects && !settings->tasks.drop_outliers,
         OVERVIEW | TASK | ALL_TABLES | JSON,
         "the overview, --by task, --scale, --budget or --drop-outliers"},
        {"drop-outliers", settings->tasks.drop_outliers, EVERYTHING & ~STACKS, "everything else"},
        {"scale", settings->scale, TABLES | JSON, "tables"},
        {"budget", settings->budget_s > 0, TABLES | JSON, "tables"},
    };
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (check_use(settings, &uses[i], error))
            return -1;
    return 0;
}

static int check_csv(const struct bp_report_settings *settings, struct bp_error *error) {
    if (view_of(settings) != PROJECTION)
        return 0;
    if (!is_by(settings, BP_OVERVIEW))
        return bp_error_set(error, BP_USAGE,
                            "report: --csv writes one table: --by %s, or without it %s",
                            settings->by, settings->budget_s > 0 ? "--budget" : "--scale");
    if (settings->search.count)
        return bp_error_set(error, BP_USAGE,
                            "report: --csv writes one table: --search is of "
                            "functions or tasks");
    return 0;
}

/* Of a series it is said which run to take, see report_series.c. */
int bp_report_check(const struct bp_report_settings *settings, int operands,
                    struct bp_error *error) {
    if (operands > 1)
        return bp_error_set(error, BP_USAGE,
                            "report: one FILE or DIR, not %d; a run of several "
                            "processes is a directory",
                            operands);
    if (settings->csv + settings->folded + settings->json + settings->tree > 1)
        return bp_error_set(error, BP_USAGE, "report: one of --csv, --folded, --json and --tree");
    if (settings->tree && settings->save)
        return bp_error_set(error, BP_USAGE,
                            "report: --save writes all tables, and --tree none; give -o FILE");
    if (settings->grows.count && !settings->scale && !(settings->budget_s > 0))
        return bp_error_set(error, BP_USAGE, "report: --grows goes with --scale or --budget");
    return check_csv(settings, error) ? -1 : check_uses(settings, error);
}

static bool has_phase(const struct bp_model *model, const char *name) {
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (strcmp(model->phases[i].name, name) == 0)
            return true;
    return false;
}

static int check_phases(const struct bp_model *model, const struct bp_words *names,
                        struct bp_error *error) {
    char list[300] = "";
    for (uint32_t i = 0; i < model->phase_count; i++) {
        size_t length = strlen(list);
        snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "",
                 model->phases[i].name);
    }
    for (size_t i = 0; i < names->count; i++)
        if (!has_phase(model, names->word[i]))
            return bp_error_set(error, BP_FAILED, "--grows: this run has no phase '%s'%s%s",
                                names->word[i], list[0] ? "; it has " : ", and no other", list);
    return 0;
}

int bp_report_check_model(const struct bp_model *model, const struct bp_report_settings *settings,
                          struct bp_error *error) {
    struct bp_projection projection;
    if (check_phases(model, &settings->grows, error))
        return -1;
    if (settings->csv && settings->scale && !bp_projection_init(&projection, model, NULL))
        return bp_error_set(error, BP_FAILED, "--scale needs %u tasks or more, this run has %u",
                            BP_PROJECTION_FEWEST, projection.from);
    return 0;
}
