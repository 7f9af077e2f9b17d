/* SPDX-License-Identifier: MIT
 *
 * What cannot be shown as it was asked for: an option that would be ignored is an error, so that
 * nobody takes one table for another.
 */
#include <string.h>

#include "tools/projection.h"
#include "tools/report_internal.h"

/* Stacks are shown whole: nothing chooses among them. */
static bool chooses(const struct bp_report_settings *settings) {
    return settings->top || settings->search.count || settings->tasks.drop_outliers ||
           strcmp(settings->by, BP_OVERVIEW) != 0;
}

/* Of a series it is said which run to take, see report_series.c. */
int bp_report_check(const struct bp_report_settings *settings, int operands,
                    struct bp_error *error) {
    bool projects = settings->scale || settings->budget_s > 0;
    if (operands > 1)
        return bp_error_set(error, BP_USAGE,
                            "report: one FILE or DIR, not %d; a run of several "
                            "processes is a directory",
                            operands);
    if (settings->csv + settings->folded + settings->json + settings->tree > 1)
        return bp_error_set(error, BP_USAGE, "report: one of --csv, --folded, --json and --tree");
    if (settings->folded && (projects || chooses(settings)))
        return bp_error_set(error, BP_USAGE,
                            "report: --folded writes all sampled stacks, it takes -o and --rules");
    if (settings->grows.count && !projects)
        return bp_error_set(error, BP_USAGE, "report: --grows goes with --scale or --budget");
    if (settings->csv && projects && strcmp(settings->by, BP_OVERVIEW) != 0)
        return bp_error_set(error, BP_USAGE,
                            "report: --csv writes one table: --by %s, or without it %s",
                            settings->by, settings->budget_s > 0 ? "--budget" : "--scale");
    if (settings->csv && settings->search.count && projects)
        return bp_error_set(error, BP_USAGE,
                            "report: --csv writes one table: --search is of "
                            "functions or tasks");
    return 0;
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
