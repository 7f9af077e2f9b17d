/* SPDX-License-Identifier: MIT
 *
 * What cannot be shown as it was asked for: an option that would be ignored is an error, so that
 * nobody takes one table for another.
 */
#include <string.h>

#include "tools/analyze/projection.h"
#include "tools/render/text/internal.h"

/* What is shown, a bit for each. */
enum form {
    TABLE = 1 << 0, /* one of bp_views, or the overview */
    FOUND = 1 << 1, /* functions by name */
    PROJECTION = 1 << 2,
    TREE = 1 << 3,
    STACKS = 1 << 4,
    ALL_TABLES = 1 << 5,
    JSON = 1 << 6,
    LINES = 1 << 7,
    PAGE = 1 << 8,
};

#define EVERYTHING (2 * PAGE - 1)
#define TABLES (EVERYTHING & ~(TREE | STACKS | JSON))

static enum form form_of(const struct bp_report_settings *settings) {
    if (settings->html)
        return PAGE;
    if (settings->json)
        return JSON;
    if (settings->folded)
        return STACKS;
    if (settings->tree)
        return TREE;
    if (settings->csv && (settings->scale || settings->budget_s > 0))
        return PROJECTION;
    if (settings->save && !settings->csv)
        return ALL_TABLES;
    if (settings->lines)
        return LINES;
    bool overview = bp_view_table(settings) == BP_BY_OVERVIEW;
    return overview && settings->search.count ? FOUND : TABLE;
}

/* Options of the table: CSV can be searched whatever its rows are. */
static unsigned options_of(const struct bp_report_settings *settings) {
    return bp_views[bp_view_table(settings)].options | (settings->csv ? BP_VIEW_SEARCH : 0);
}

/* The option, or what goes with it, that chose the form. */
static const char *name_form(const struct bp_report_settings *settings, enum form form, char *text,
                             size_t size) {
    if (form == PAGE)
        return "--html, which has all of it";
    if (form == STACKS)
        return "--folded, which writes all sampled stacks";
    if (form == TREE)
        return "--tree";
    if (form == ALL_TABLES)
        return "--save, which writes all tables";
    if (form == JSON)
        return "--json, which has all of it";
    if (form == PROJECTION)
        return settings->budget_s > 0 ? "--csv --budget" : "--csv --scale";
    if (form == LINES)
        return "--lines";
    if (form == FOUND)
        return "--search";
    if (settings->by == BP_BY_OVERVIEW)
        return "--csv of functions";
    snprintf(text, size, "--by %s", bp_views[settings->by].word);
    return text;
}

bool bp_report_judges(const struct bp_report_settings *settings) {
    const struct bp_levels usual = BP_DEFAULT_LEVELS;
    return memcmp(&settings->levels, &usual, sizeof(usual)) != 0;
}

struct use {
    const char *option;
    bool given;
    unsigned forms;   /* that it changes */
    unsigned bit;     /* enum bp_view_option, if it does not change every table */
    const char *with; /* those, in words */
};

/* JSON has all tables: what chooses among them is answered, too, so it is only said. */
static int check_use(const struct bp_report_settings *settings, const struct use *use,
                     struct bp_error *error) {
    enum form form = form_of(settings);
    char text[64];
    bool changes = form != TABLE || !use->bit || (options_of(settings) & use->bit);
    if (!use->given || ((use->forms & form) && changes))
        return 0;
    const char *name = name_form(settings, form, text, sizeof(text));
    if (form == JSON) {
        bp_note("--%s changes nothing in %s", use->option, name);
        return 0;
    }
    return bp_error_set(error, BP_USAGE, "report: --%s goes with %s, not with %s", use->option,
                        use->with, name);
}

static int check_uses(const struct bp_report_settings *settings, struct bp_error *error) {
    bool projects = settings->scale || settings->budget_s > 0;
    const struct use uses[] = {
        {"by", settings->by != BP_BY_OVERVIEW, TABLE, 0, "tables"},
        {"top", settings->top, TABLES, 0, "tables"},
        {"search", settings->search.count && !settings->lines, TABLE | FOUND | JSON, BP_VIEW_SEARCH,
         "functions or --by task"},
        {"sort", settings->sort, TABLE | FOUND | ALL_TABLES | JSON | PAGE, BP_VIEW_SORT,
         "functions"},
        {"lines", settings->lines, LINES | JSON, 0, "text or --csv"},
        {"levels", bp_report_judges(settings) && !(settings->budget_s > 0),
         TABLE | ALL_TABLES | JSON | PAGE, BP_VIEW_LEVELS,
         "the overview, --by candidate or --budget"},
        {"outliers", settings->tasks.outlier_k > 0 && !projects && !settings->tasks.drop_outliers,
         TABLE | ALL_TABLES | JSON | PAGE, BP_VIEW_OUTLIERS,
         "the overview, --by task, --scale, --budget or --drop-outliers"},
        {"drop-outliers", settings->tasks.drop_outliers, EVERYTHING & ~STACKS, 0,
         "everything else"},
        {"scale", settings->scale, TABLES | JSON, 0, "tables"},
        {"budget", settings->budget_s > 0, TABLES | JSON, 0, "tables"},
    };
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (check_use(settings, &uses[i], error))
            return -1;
    return 0;
}

static int check_csv(const struct bp_report_settings *settings, struct bp_error *error) {
    if (form_of(settings) != PROJECTION)
        return 0;
    if (settings->by != BP_BY_OVERVIEW)
        return bp_error_set(
            error, BP_USAGE, "report: --csv writes one table: --by %s, or without it %s",
            bp_views[settings->by].word, settings->budget_s > 0 ? "--budget" : "--scale");
    if (settings->search.count)
        return bp_error_set(error, BP_USAGE,
                            "report: --csv writes one table: --search is of "
                            "functions or tasks");
    return 0;
}

/* For a series, series.c says which run to take. */
int bp_report_check(const struct bp_report_settings *settings, int operands,
                    struct bp_error *error) {
    if (settings->small && !settings->html)
        return bp_error_set(error, BP_USAGE, "report: --small goes with --html");
    if (settings->html && operands > 2)
        return bp_error_set(error, BP_USAGE, "report: --html FILE [RUN [OLD]], not %d runs",
                            operands);
    if (operands > 1 && !settings->html)
        return bp_error_set(error, BP_USAGE,
                            "report: one FILE or DIR, not %d; a run of several "
                            "processes is a directory",
                            operands);
    if (settings->csv + settings->folded + !!settings->html + settings->json + settings->tree > 1)
        return bp_error_set(error, BP_USAGE,
                            "report: one of --csv, --folded, --html, --json and --tree");
    if (settings->html && (settings->save || settings->output))
        return bp_error_set(error, BP_USAGE, "report: --html has its FILE: neither -o nor --save");
    if (settings->tree && settings->save)
        return bp_error_set(error, BP_USAGE,
                            "report: --save writes all tables, and --tree none; give -o FILE");
    if ((settings->depth || settings->least >= 0) && !settings->tree)
        return bp_error_set(error, BP_USAGE, "report: --%s goes with --tree",
                            settings->depth ? "depth" : "min");
    if (settings->brief && (settings->json || settings->csv || settings->folded || settings->html ||
                            settings->tree || settings->save || settings->lines ||
                            settings->search.count || settings->by != BP_BY_OVERVIEW))
        return bp_error_set(error, BP_USAGE, "report: --brief is a report of its own");
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
    struct bp_text list = {0};
    int result = 0;
    for (uint32_t i = 0; i < model->phase_count; i++)
        bp_text_add(&list, "%s%s", i ? ", " : "", model->phases[i].name);
    for (size_t i = 0; i < names->count && result == 0; i++)
        if (!has_phase(model, names->word[i]))
            result = bp_error_set(error, BP_FAILED, "--grows: this run has no phase '%s'%s%s",
                                  names->word[i], list.length ? "; it has " : ", and no other",
                                  bp_text_get(&list));
    bp_text_fini(&list);
    return result;
}

int bp_report_check_model(const struct bp_model *model, const struct bp_report_settings *settings,
                          struct bp_error *error) {
    struct bp_projection projection;
    if (check_phases(model, &settings->grows, error))
        return -1;
    if (!settings->csv || !settings->scale)
        return 0;
    bool enough = bp_projection_init(&projection, model, NULL);
    bp_projection_fini(&projection);
    if (!enough)
        return bp_error_set(error, BP_FAILED, "--scale needs %u tasks or more, this run has %u",
                            BP_PROJECTION_FEWEST, projection.from);
    return 0;
}
