/* SPDX-License-Identifier: MIT */
#include "tools/command/page.h"

#include <stdlib.h>
#include <string.h>

#include "tools/analyze/analysis.h"
#include "tools/analyze/diff/diff.h"
#include "tools/base/destination.h"
#include "tools/base/runs.h"
#include "tools/base/terminal/hint.h"
#include "tools/command/load.h"
#include "tools/export/html/html.h"
#include "tools/render/json/report.h"

/* Rows of the tables in the text: as the report has them unless --top says otherwise. */
#define TEXT_TOP 12

/* The text report: a new text. */
static char *make_text(const struct bp_analysis *analysis,
                       const struct bp_report_settings *settings) {
    struct bp_report_settings text = *settings;
    char *data;
    size_t size;
    FILE *memory = open_memstream(&data, &size);
    if (!memory)
        return NULL;
    text.top = text.top ? text.top : TEXT_TOP;
    bp_report_text(analysis, &text, memory);
    fclose(memory);
    return data;
}

static json_t *read_json(const struct bp_diff *diff) {
    char *data;
    size_t size;
    FILE *memory = open_memstream(&data, &size);
    if (!memory)
        return NULL;
    bp_diff_json(diff, memory);
    fclose(memory);
    json_t *json = json_loads(data, 0, NULL);
    free(data);
    return json;
}

/* `diff --json OLD RUN`; NULL with the error set. */
static json_t *compare(const char *old, const char *path, const struct bp_rules *rules,
                       struct bp_error *error) {
    struct bp_runs old_runs;
    struct bp_runs new_runs;
    json_t *json = NULL;
    bp_runs_init(&old_runs, old);
    bp_runs_init(&new_runs, path);
    struct bp_diff *diff = bp_diff_new(&old_runs, &new_runs, rules, error);
    if (diff) {
        diff->old_side.path = old;
        diff->new_side.path = path;
        bp_diff_compare(diff, false);
        json = read_json(diff);
        bp_diff_free(diff);
    }
    bp_runs_fini(&old_runs);
    bp_runs_fini(&new_runs);
    return json;
}

static int write_page(const struct bp_html_input *input, const char *path, struct bp_error *error) {
    struct bp_destination destination;
    if (bp_destination_open(&destination, strcmp(path, "-") == 0 ? NULL : path, stdout, error))
        return -1;
    return bp_destination_close(&destination, bp_export_html(input, destination.out), "the page",
                                error);
}

static int write_model(const struct bp_model *model, json_t *diff,
                       const struct bp_report_settings *settings, struct bp_error *error) {
    struct bp_html_input input = {.model = model, .diff = diff, .small = settings->small};
    struct bp_analysis analysis;
    bp_analysis_init(&analysis, model);
    char *text = make_text(&analysis, settings);
    input.text = text;
    input.report = bp_report_json_make(&analysis, settings);
    int result = write_page(&input, settings->html, error);
    json_decref(input.report);
    free(text);
    bp_analysis_fini(&analysis);
    return result;
}

static int check_single(const char *path, struct bp_error *error) {
    struct bp_runs runs;
    bp_runs_init(&runs, path);
    bool repeated = runs.repeated;
    bp_runs_fini(&runs);
    return repeated
               ? bp_error_set(error, BP_FAILED,
                              "%s is a series, and a page shows one run of it: %s/1", path, path)
               : 0;
}

int bp_page_write(const char *path, const char *old, const struct bp_report_settings *settings,
                  struct bp_error *error) {
    struct bp_rules *rules = bp_rules_new(settings->rules, error);
    if (!rules)
        return -1;
    int result = -1;
    struct bp_model *model =
        check_single(path, error) ? NULL : bp_load_model(path, rules, &settings->tasks, error);
    json_t *diff = model && old ? compare(old, path, rules, error) : NULL;
    if (model && (diff || !old) && bp_report_check_model(model, settings, error) == 0)
        result = write_model(model, diff, settings, error);
    json_decref(diff);
    bp_model_free(model);
    bp_rules_free(rules);
    return result;
}

static int refuse_text(const char *path, struct bp_error *error) {
    char *command = bp_hint_report(path, "--json");
    bp_error_set(error, BP_FAILED, "%s is a page, which holds the JSON report alone:\n%s", path,
                 command);
    free(command);
    return -1;
}

int bp_page_read(const char *path, const struct bp_report_settings *settings,
                 struct bp_error *error) {
    struct bp_destination destination;
    if (!settings->json)
        return refuse_text(path, error);
    char *text = bp_html_read(path, error);
    int result = -1;
    if (text && bp_destination_open(&destination, settings->output, stdout, error) == 0) {
        fprintf(destination.out, "%s\n", text);
        result = bp_destination_close(&destination, 0, "the report", error);
    }
    free(text);
    return result;
}
