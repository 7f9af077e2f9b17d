/* SPDX-License-Identifier: MIT
 *
 * The report command: options, which profile is meant, and the choice of how it is shown.
 */
#include "tools/report.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commands.h"
#include "tools/memory.h"
#include "tools/output.h"

#define DEFAULT_TOP 12

static const struct bp_option options[] = {
    {"by", 0, "function|thread|process|group|transfer", "what a row of the table is",
     bp_option_choice, offsetof(struct bp_report_settings, by)},
    {"json", 0, NULL, "all of it as JSON", bp_option_flag,
     offsetof(struct bp_report_settings, json)},
    {"rules", 0, "FILE", "categories and groups from FILE", bp_option_text,
     offsetof(struct bp_report_settings, rules)},
    {"sort", 0, "self|total|calls|name", "order of functions", bp_option_choice,
     offsetof(struct bp_report_settings, sort)},
    {"top", 'n', "N", "show N rows", bp_option_number, offsetof(struct bp_report_settings, top)},
    {"tree", 't', NULL, "the tree of calls", bp_option_flag,
     offsetof(struct bp_report_settings, tree)},
};

const struct bp_command bp_command_report = {
    .name = "report",
    .summary = "show where the time of a profiled run went",
    .usage = "[options] [FILE|DIR]",
    .about = "Shows a profile: one file, or all of a directory as one run. Without an argument "
             "./" BP_DEFAULT_OUTPUT " or the newest battprof.*.bp here.",
    .next = "battprof report --tree    battprof report --by thread    battprof report --json",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_report,
};

/* The newest file that is the root of its run: it holds the wall page. */
static char *find_newest(void) {
    glob_t found;
    char *best = NULL;
    uint64_t best_time = 0;
    if (glob("battprof.*.bp", 0, NULL, &found))
        return NULL;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct bp_header header;
        struct bp_read_error ignored;
        if (bp_profile_read_header(found.gl_pathv[i], &header, &ignored) || header.tree[0])
            continue;
        if (best && header.first.realtime_ns < best_time)
            continue;
        free(best);
        best = bp_copy_text(found.gl_pathv[i]);
        best_time = header.first.realtime_ns;
    }
    globfree(&found);
    return best;
}

static char *choose_path(struct bp_error *error) {
    struct stat status;
    if (stat(BP_DEFAULT_OUTPUT, &status) == 0)
        return bp_copy_text(BP_DEFAULT_OUTPUT);
    char *path = find_newest();
    if (!path)
        bp_error_set(error, BP_FAILED,
                     "no profile here (neither " BP_DEFAULT_OUTPUT " nor battprof.*.bp); make one: "
                     "battprof run -- COMMAND");
    return path;
}

static int show(const struct bp_model *model, const struct bp_report_settings *settings, FILE *out,
                struct bp_error *error) {
    int result;
    if (settings->json)
        result = bp_report_json(model, settings, out);
    else if (settings->tree)
        result = bp_report_tree(model, settings, out);
    else
        result = bp_report_text(model, settings, out);
    if (result || fflush(out) || ferror(out))
        return bp_error_set(error, BP_FAILED, "the report could not be written: %s",
                            strerror(errno));
    return 0;
}

static int report(const char *path, const struct bp_report_settings *settings, FILE *out,
                  struct bp_error *error) {
    struct bp_rules *rules = bp_rules_new(settings->rules, error);
    if (!rules)
        return -1;
    struct bp_model *model = bp_model_new(path, rules, error);
    int result = model ? show(model, settings, out, error) : -1;
    bp_model_free(model);
    bp_rules_free(rules);
    return result;
}

int bp_report_print(const char *path, const char *rules, FILE *out, struct bp_error *error) {
    struct bp_report_settings settings = {.by = "function", .sort = "self", .top = DEFAULT_TOP};
    settings.rules = rules;
    return report(path, &settings, out, error);
}

int bp_cmd_report(int argc, char **argv, struct bp_error *error) {
    struct bp_report_settings settings = {.by = "function", .sort = "self", .top = DEFAULT_TOP};
    int first = bp_options_parse(&bp_command_report, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (argc - first > 1) {
        bp_error_set(error, BP_USAGE,
                     "report: one FILE or DIR, not %d; a run of several "
                     "processes is a directory",
                     argc - first);
        return BP_USAGE;
    }
    char *path = first < argc ? bp_copy_text(argv[first]) : choose_path(error);
    int result = path ? report(path, &settings, stdout, error) : -1;
    free(path);
    return result ? BP_FAILED : BP_FINE;
}
