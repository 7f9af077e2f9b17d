/* SPDX-License-Identifier: MIT
 *
 * Everything behind the reader: the model and its reports must stand any file that the reader lets
 * pass, and no number in it may overflow a conversion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/analyze/diff/diff.h"
#include "tools/export/export.h"
#include "tools/render/report.h"

int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH]) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

static FILE *nowhere(void) {
    static FILE *file;
    if (!file)
        file = fopen("/dev/null", "w");
    return file;
}

static void show_lines(const struct bp_analysis *analysis, struct bp_report_settings settings) {
    static char any[] = "*";
    settings.lines = true;
    bp_report_text(analysis, &settings, nowhere());
    settings.search = (struct bp_words){.word = {any}, .count = 1};
    bp_report_text(analysis, &settings, nowhere());
    settings.lines = false;
    bp_report_text(analysis, &settings, nowhere());
}

/* A few tasks only: a forecast simulates up to 1000 runs of as many as are asked for. */
static void show_forecast(const struct bp_analysis *analysis, struct bp_report_settings settings) {
    settings.scale = 8;
    bp_report_text(analysis, &settings, nowhere());
    settings.scale = 0;
    settings.budget_s = analysis->model->wall.total_s;
    if (settings.budget_s > 0)
        bp_report_text(analysis, &settings, nowhere());
}

static void show_csv(const struct bp_analysis *analysis, struct bp_report_settings settings) {
    const struct bp_model *model = analysis->model;
    const enum bp_by tables[] = {BP_BY_FUNCTION, BP_BY_TASK, BP_BY_THREAD, BP_BY_PROCESS};
    const uint32_t counts[] = {model->function_count, model->tasks.count, model->thread_count,
                               model->process_count};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        settings.by = tables[i];
        if (counts[i] > 0)
            bp_report_csv(analysis, &settings, nowhere());
    }
}

static void show_json(const struct bp_analysis *analysis, struct bp_report_settings settings) {
    if (bp_report_json(analysis, &settings, nowhere()))
        abort();
}

static void show_text(const struct bp_analysis *analysis, struct bp_report_settings settings) {
    bp_report_all(analysis, &settings, nowhere());
    bp_report_tree(analysis, &settings, nowhere());
    struct bp_export export;
    bp_export_init(&export, analysis->model);
    bp_export_folded(&export, nowhere());
    bp_export_fini(&export);
}

static void (*const views[])(const struct bp_analysis *analysis,
                             struct bp_report_settings settings) = {
    show_json, show_text, show_lines, show_forecast, show_csv,
};
#define VIEWS (sizeof(views) / sizeof(views[0]))
_Static_assert(FUZZ_VIEWS == (1u << VIEWS) - 1, "a bit for each");

static void report_as(const char *path, const struct bp_rules *rules, unsigned wanted,
                      const struct bp_task_wishes *wishes) {
    struct bp_error error = {0};
    struct bp_report_settings settings;
    struct bp_model *model = bp_model_new_with(path, rules, wishes, &error);
    struct bp_analysis analysis;
    bp_report_defaults(&settings);
    if (!model && !bp_error_is_set(&error))
        abort();
    bp_error_fini(&error);
    if (!model)
        return;
    bp_analysis_init(&analysis, model);
    for (size_t i = 0; i < VIEWS; i++)
        if (wanted & 1u << i)
            views[i](&analysis, settings);
    bp_analysis_fini(&analysis);
    bp_model_free(model);
}

/* A run with itself: nothing may differ. */
static void compare(const char *path, const struct bp_rules *rules) {
    struct bp_error error = {0};
    struct bp_runs runs;
    bp_runs_init(&runs, path);
    struct bp_diff *diff = bp_diff_new(&runs, &runs, rules, &error);
    if (!diff && !bp_error_is_set(&error))
        abort();
    bp_error_fini(&error);
    if (diff) {
        struct bp_diff_settings settings = {.fail_over = -1};
        diff->old_side.path = path;
        diff->new_side.path = path;
        bp_diff_compare(diff, false);
        bp_diff_text(diff, &settings, nowhere());
        bp_diff_csv(diff, &settings, nowhere());
        if (bp_diff_json(diff, nowhere()) || diff->differences > 0)
            abort();
        bp_diff_free(diff);
    }
    bp_runs_fini(&runs);
}

void fuzz_report(const char *path, unsigned wanted) {
    struct bp_task_wishes without = {.drop_outliers = true};
    struct bp_error error = {0};
    struct bp_rules *rules = bp_rules_new(NULL, &error);
    if (wanted & FUZZ_VIEWS)
        report_as(path, rules, wanted, NULL);
    if (wanted & FUZZ_WITHOUT)
        report_as(path, rules, FUZZ_VIEWS, &without);
    if (wanted & FUZZ_DIFF)
        compare(path, rules);
    bp_rules_free(rules);
}
