/* SPDX-License-Identifier: MIT
 *
 * The report command: options, which profile is meant, and the choice of how it is shown.
 */
#include "tools/render/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/destination.h"
#include "tools/base/memory.h"
#include "tools/base/terminal/pager.h"
#include "tools/command/commands.h"
#include "tools/command/load.h"
#include "tools/command/page.h"
#include "tools/command/profile_path.h"
#include "tools/export/export.h"
#include "tools/export/html/html.h"
#include "tools/render/text/series.h"
#include "tools/run/output.h"

#define DEFAULT_TOP 12

#define SETTING(member) offsetof(struct bp_report_settings, member)

static bp_option_store store_by;
static bp_option_store store_levels;
static bp_option_store store_lines;
static bp_option_store store_percent;
static bp_option_store store_positive;

static const char by_words[] =
#define VIEW(id, word, ...) "|" word
#include "tools/render/views.def"
#undef VIEW
    ;

static const struct bp_option options[] = {
    {"by", 0, &by_words[1], "what a row of the table is", store_by, SETTING(by)},
    {"brief", 0, NULL, "where the wall went and what to change first, in 20 lines at most",
     bp_option_flag, SETTING(brief)},
    {"budget", 0, "TIME", "how many runs and tasks fit into TIME: 8h, 90m, 300s", bp_option_time,
     SETTING(budget_s)},
    {"csv", 0, NULL, "the table as CSV, all rows unless --top is given", bp_option_flag,
     SETTING(csv)},
    {"depth", 0, "N", "for --tree: N levels of calls", bp_option_number, SETTING(depth)},
    {"drop-outliers", 0, NULL, "leave outlier tasks out of all figures", bp_option_flag,
     SETTING(tasks.drop_outliers)},
    {"folded", 0, NULL,
     "sampled stacks for flamegraph.pl, inferno or speedscope, in microseconds of CPU time",
     bp_option_flag, SETTING(folded)},
    {"grows", 0, "PHASE", "for --scale: this phase takes longer with more tasks; repeatable",
     bp_option_list, SETTING(grows)},
    {"html", 0, "FILE",
     "everything as one HTML page that needs no network; with OLD also what differs; - is stdout",
     bp_option_text, SETTING(html)},
    {"json", 0, NULL, "everything as JSON", bp_option_flag, SETTING(json)},
    {"levels", 0, "H,M,L", "percent of the wall for HIGH, MEDIUM and LOW priority (10,5,1)",
     store_levels, SETTING(levels)},
    {"lines", 0, "[FUNCTION]",
     "lines that dominate their functions, or all lines of FUNCTION or MODULE:FUNCTION; * and ?, "
     "repeatable",
     store_lines, 0},
    {"min", 0, "PCT", "for --tree: leave out what has less of the wall (0.1)", store_percent,
     SETTING(least)},
    {"no-pager", 0, NULL, "never show it in $PAGER", bp_option_flag, SETTING(no_pager)},
    {"outliers", 0, "K",
     "a task is an outlier above the median + K MADs, on a logarithmic scale (5)", store_positive,
     SETTING(tasks.outlier_k)},
    {"output", 'o', "FILE", "write to FILE", bp_option_text, SETTING(output)},
    {"rules", 0, "FILE", "categories and groups from FILE", bp_option_text, SETTING(rules)},
    {"save", 0, NULL, "all tables as text to battprof_report_DATE_TIME.txt", bp_option_flag,
     SETTING(save)},
    {"scale", 0, "TASKS", "how long a run of N tasks would take", bp_option_number, SETTING(scale)},
    {"search", 's', "NAME",
     "functions of this name at any rank, or tasks with --by task; * and ?, repeatable",
     bp_option_list, SETTING(search)},
    {"small", 0, NULL, "for --html: at most 200 kB, with the largest items only", bp_option_flag,
     SETTING(small)},
    {"sort", 0, "self|total|calls|name", "order of functions", bp_option_choice, SETTING(sort)},
    {"top", 'n', "N", "show N rows", bp_option_number, SETTING(top)},
    {"tree", 't', NULL, "the tree of calls", bp_option_flag, SETTING(tree)},
};

const struct bp_command bp_command_report = {
    .name = "report",
    .summary = "show where the time of a profiled run went",
    .usage = "[options] [FILE|DIR [OLD]]",
    .about = "Shows a profile: one file, or all of a directory as one run. Without an argument "
             "./" BP_DEFAULT_OUTPUT " or battprof.*.bp here, whichever run is newest.",
    .next = "battprof report --tree    battprof report --by thread    battprof report --json",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_report,
};

static int store_by(const struct bp_option *option, const char *value, void *to,
                    struct bp_error *error) {
    const char *word;
    if (bp_option_choice(option, value, &word, error))
        return -1;
    *(enum bp_by *)to = bp_view_find(word);
    return 0;
}

static int store_levels(const struct bp_option *option, const char *value, void *to,
                        struct bp_error *error) {
    struct bp_levels *levels = to;
    int end = 0;
    if (sscanf(value, "%lf,%lf,%lf%n", &levels->high, &levels->medium, &levels->low, &end) == 3 &&
        !value[end] && levels->high >= levels->medium && levels->medium >= levels->low &&
        levels->low >= 0)
        return 0;
    return bp_error_set(error, BP_USAGE,
                        "--%s: '%s' is not three falling percentages; the default is 10,5,1",
                        option->name, value);
}

/* The names go where those of --search go. */
static int store_lines(const struct bp_option *option, const char *value, void *to,
                       struct bp_error *error) {
    struct bp_report_settings *settings = to;
    settings->lines = true;
    return value ? bp_option_list(option, value, &settings->search, error) : 0;
}

static int store_percent(const struct bp_option *option, const char *value, void *to,
                         struct bp_error *error) {
    char *end;
    double percent = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
        return bp_error_set(error, BP_USAGE, "--%s: '%s' is no percentage; write 0.5 or 5",
                            option->name, value);
    *(double *)to = percent;
    return 0;
}

static int store_positive(const struct bp_option *option, const char *value, void *to,
                          struct bp_error *error) {
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number > 0) || number > 1e9)
        return bp_error_set(error, BP_USAGE, "--%s: '%s' is not a number above 0", option->name,
                            value);
    *(double *)to = number;
    return 0;
}

/* What `export -f folded --weight cpu` writes. */
static int show_folded(const struct bp_model *model, FILE *out) {
    struct bp_export export;
    bp_export_init(&export, model);
    export.weight = BP_WEIGHT_CPU;
    int result = bp_export_folded(&export, out);
    bp_export_fini(&export);
    return result;
}

static int print(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                 FILE *out) {
    if (settings->save)
        return bp_report_all(analysis, settings, out);
    if (settings->brief)
        return bp_report_brief(analysis, out);
    return settings->tree ? bp_report_tree(analysis, settings, out)
                          : bp_report_text(analysis, settings, out);
}

/* What `run` prints must be on the screen when it ends; a report has a pager. */
static int show_text(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                     FILE *out) {
    struct bp_pager pager;
    struct bp_report_settings brief = *settings;
    brief.brief = true;
    brief.brief_if_long = false;
    if (bp_pager_open(&pager, out))
        return -1;
    int result = print(analysis, settings, pager.memory);
    bp_pager_end(&pager);
    bool instead = settings->brief_if_long && bp_pager_is_long(&pager);
    if (result == 0 && !instead)
        result = bp_pager_show(&pager, !settings->no_pager && !settings->brief_if_long);
    bp_pager_fini(&pager);
    return instead ? show_text(analysis, &brief, out) : result;
}

static int show(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                FILE *out) {
    const struct bp_model *model = analysis->model;
    struct bp_report_settings text = *settings;
    if (!text.top && !text.save)
        text.top = DEFAULT_TOP;
    if (settings->json)
        return bp_report_json(analysis, settings, out);
    if (settings->csv)
        return bp_report_csv(analysis, settings, out);
    if (settings->folded)
        return show_folded(model, out);
    return show_text(analysis, &text, out);
}

/* "battprof_report_20251231_235959.txt": sorts by time, and no older report is overwritten. */
static void name_by_time(char *name, size_t size, const struct bp_report_settings *settings) {
    time_t now = time(NULL);
    struct tm parts;
    char date[32];
    strftime(date, sizeof(date), "%Y%m%d_%H%M%S", localtime_r(&now, &parts));
    snprintf(name, size, "battprof_report_%s.%s", date,
             settings->json     ? "json"
             : settings->csv    ? "csv"
             : settings->folded ? "folded"
                                : "txt");
}

static int report_one(const char *path, const struct bp_report_settings *settings,
                      const struct bp_rules *rules, FILE *out, struct bp_error *error) {
    struct bp_analysis analysis;
    struct bp_destination destination;
    int result = -1;
    struct bp_model *model = bp_load_model(path, rules, &settings->tasks, error);
    if (!model)
        return -1;
    bp_analysis_init(&analysis, model);
    if (bp_report_check_model(model, settings, error) == 0 &&
        bp_destination_open(&destination, settings->output, out, error) == 0)
        result = bp_destination_close(&destination, show(&analysis, settings, destination.out),
                                      "the report", error);
    bp_analysis_fini(&analysis);
    bp_model_free(model);
    return result;
}

static int report(const char *path, const struct bp_report_settings *settings, FILE *out,
                  struct bp_error *error) {
    struct bp_runs runs;
    struct bp_rules *rules = bp_rules_new(settings->rules, error);
    if (!rules)
        return -1;
    bp_runs_init(&runs, path);
    int result = runs.repeated ? bp_report_series(&runs, path, settings, rules, out, error)
                               : report_one(path, settings, rules, out, error);
    bp_runs_fini(&runs);
    bp_rules_free(rules);
    return result;
}

int bp_report_print(const char *path, const struct bp_report_settings *settings, FILE *out,
                    struct bp_error *error) {
    return report(path, settings, out, error);
}

int bp_cmd_report(int argc, char **argv, struct bp_error *error) {
    struct bp_report_settings settings;
    char name[64];
    bp_report_defaults(&settings);
    int first = bp_options_parse(&bp_command_report, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (bp_report_check(&settings, argc - first, error))
        return BP_USAGE;
    if (settings.save && !settings.output) {
        name_by_time(name, sizeof(name), &settings);
        settings.output = name;
    }
    char *path = first < argc ? bp_copy_text(argv[first]) : bp_profile_path(error);
    const char *old = first + 1 < argc ? argv[first + 1] : NULL;
    int result = !path                   ? -1
                 : bp_html_is_page(path) ? bp_page_read(path, &settings, error)
                 : settings.html         ? bp_page_write(path, old, &settings, error)
                                         : report(path, &settings, stdout, error);
    free(path);
    return result ? BP_FAILED : BP_FINE;
}
