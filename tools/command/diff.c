/* SPDX-License-Identifier: MIT
 *
 * The diff command: options, which two profiles are meant, and the status that CI looks at.
 */
#include "tools/analyze/diff/diff.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/analyze/again.h"
#include "tools/base/destination.h"
#include "tools/base/invoked.h"
#include "tools/base/terminal/pager.h"
#include "tools/command/commands.h"
#include "tools/run/output.h"

static int store_percent(const struct bp_option *option, const char *value, void *to,
                         struct bp_error *error) {
    char *end;
    double percent = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent < 1e6))
        return bp_error_set(error, BP_USAGE, "--%s: '%s' is no percentage; write 5%%", option->name,
                            value);
    *(double *)to = percent / 100;
    return 0;
}

static const struct bp_option options[] = {
    {"by", 0, "category|function|group|kernel|sampled|task|transfer",
     "for --csv: all rows of this kind, whether they differ or not", bp_option_choice,
     offsetof(struct bp_diff_settings, by)},
    {"csv", 0, NULL, "the differences as CSV", bp_option_flag,
     offsetof(struct bp_diff_settings, csv)},
    {"fail-over", 0, "P", "exit with status 1 if NEW is certainly more than P per cent slower",
     store_percent, offsetof(struct bp_diff_settings, fail_over)},
    {"json", 0, NULL, "all of it as JSON", bp_option_flag, offsetof(struct bp_diff_settings, json)},
    {"no-pager", 0, NULL, "never show it in $PAGER", bp_option_flag,
     offsetof(struct bp_diff_settings, no_pager)},
    {"output", 'o', "FILE", "write to FILE", bp_option_text,
     offsetof(struct bp_diff_settings, output)},
    {"rules", 0, "FILE", "categories and groups from FILE", bp_option_text,
     offsetof(struct bp_diff_settings, rules)},
    {"same-speed", 0, NULL,
     "assume that the machine was equally fast: a change that all functions share is the program's",
     bp_option_flag, offsetof(struct bp_diff_settings, same_speed)},
    {"top", 'n', "N", "show N differences", bp_option_number,
     offsetof(struct bp_diff_settings, top)},
};

const struct bp_command bp_command_diff = {
    .name = "diff",
    .summary = "how much faster or slower a run became, and why",
    .usage = "[options] [OLD NEW]",
    .about = "Compares two profiles, or two series of them (run --repeat). Without arguments "
             "./" BP_DEFAULT_OUTPUT ".old with ./" BP_DEFAULT_OUTPUT
             ". Times are compared as seconds of self time; only what exceeds the spread is "
             "called a difference.",
    .next = "Examples:\n"
            "  battprof diff\n"
            "  battprof diff --fail-over 5% baseline battprof.out",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_diff,
};

static int print_text(const struct bp_diff *diff, const struct bp_diff_settings *settings,
                      FILE *out) {
    struct bp_pager pager;
    if (bp_pager_open(&pager, out))
        return -1;
    int result = bp_diff_text(diff, settings, pager.memory);
    bp_pager_end(&pager);
    if (result == 0)
        result = bp_pager_show(&pager, !settings->no_pager);
    bp_pager_fini(&pager);
    return result;
}

static int print(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out) {
    if (settings->json)
        return bp_diff_json(diff, out);
    return settings->csv ? bp_diff_csv(diff, settings, out) : print_text(diff, settings, out);
}

/* A status that stops others needs a slowdown that is certain, and not the machine's. */
static int judge(const struct bp_diff *diff, double limit, struct bp_error *error) {
    double part = bp_diff_slower_part(diff);
    double measured = bp_diff_measured_part(diff);
    double even = diff->wall.old_s > 0 ? diff->wall.even_s / diff->wall.old_s : 0;
    char size[64];
    if (part > limit)
        return bp_error_set(error, BP_FAILED, "NEW %s %s; the limit is %.3g %%",
                            part < 0.5 ? "is" : "takes", bp_diff_factor(1 + part, false, size),
                            100 * limit);
    if (measured > limit)
        bp_note("NEW is %.3g %% slower as measured, but runs like these may differ as much by "
                "chance: --fail-over cannot detect %.3g %%",
                100 * measured, 100 * limit);
    else if (measured + even > limit)
        bp_note("NEW is %.3g %% slower as measured, but most of it is spread evenly over all "
                "functions and may be the machine: --same-speed counts it",
                100 * (measured + even));
    return 0;
}

static int show(struct bp_diff *diff, const struct bp_diff_settings *settings,
                struct bp_error *error) {
    struct bp_destination destination;
    if (bp_destination_open(&destination, settings->output, stdout, error) ||
        bp_destination_close(&destination, print(diff, settings, destination.out), "the comparison",
                             error))
        return -1;
    return settings->fail_over < 0 ? 0 : judge(diff, settings->fail_over, error);
}

static int compare(const char *old_path, const char *new_path,
                   const struct bp_diff_settings *settings, struct bp_error *error) {
    struct bp_runs old_runs;
    struct bp_runs new_runs;
    struct bp_rules *rules = bp_rules_new(settings->rules, error);
    if (!rules)
        return -1;
    bp_runs_init(&old_runs, old_path);
    bp_runs_init(&new_runs, new_path);
    int result = -1;
    struct bp_diff *diff = bp_diff_new(&old_runs, &new_runs, rules, error);
    if (diff) {
        diff->old_side.path = old_path;
        diff->new_side.path = new_path;
        bp_diff_compare(diff, settings->same_speed);
        result = show(diff, settings, error);
        bp_diff_free(diff);
    }
    bp_runs_fini(&old_runs);
    bp_runs_fini(&new_runs);
    bp_rules_free(rules);
    return result;
}

/* The command of the one run makes another. */
static int refuse_one(struct bp_error *error) {
    struct bp_rules *rules = bp_rules_new(NULL, error);
    struct bp_model *model = rules ? bp_model_new(BP_DEFAULT_OUTPUT, rules, error) : NULL;
    if (model) {
        char *again = bp_again_sentence(model, "");
        bp_error_set(error, BP_FAILED,
                     "only one run is here, " BP_DEFAULT_OUTPUT "; it becomes " BP_DEFAULT_OUTPUT
                     ".old when there is another%s",
                     again);
        free(again);
        bp_model_free(model);
    }
    bp_rules_free(rules);
    return -1;
}

/* Without names the last two runs are compared: both must be there. */
static int check_last_two(struct bp_error *error) {
    if (access(BP_DEFAULT_OUTPUT, F_OK))
        return bp_error_set(error, BP_FAILED,
                            "no " BP_DEFAULT_OUTPUT
                            " here: run the program twice, or name two profiles, "
                            "OLD and NEW; how to run it:\n%s help run",
                            bp_invoked());
    return access(BP_DEFAULT_OUTPUT ".old", F_OK) ? refuse_one(error) : 0;
}

static int check(const struct bp_diff_settings *settings, int operands, struct bp_error *error) {
    if (operands != 0 && operands != 2)
        return bp_error_set(error, BP_USAGE,
                            "diff: give two profiles, OLD and NEW, or none for " BP_DEFAULT_OUTPUT
                            ".old and " BP_DEFAULT_OUTPUT);
    if (settings->csv && settings->json)
        return bp_error_set(error, BP_USAGE, "diff: --csv or --json, not both");
    if (settings->by && !settings->csv)
        return bp_error_set(error, BP_USAGE, "diff: --by %s goes with --csv; --json has all tables",
                            settings->by);
    if (settings->json && settings->top)
        bp_note("--top changes nothing in --json, which has all of it");
    return 0;
}

int bp_cmd_diff(int argc, char **argv, struct bp_error *error) {
    struct bp_diff_settings settings = {.fail_over = -1};
    int first = bp_options_parse(&bp_command_diff, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (check(&settings, argc - first, error))
        return BP_USAGE;
    if (first == argc && check_last_two(error))
        return BP_FAILED;
    const char *old_path = first < argc ? argv[first] : BP_DEFAULT_OUTPUT ".old";
    const char *new_path = first < argc ? argv[first + 1] : BP_DEFAULT_OUTPUT;
    return compare(old_path, new_path, &settings, error) ? BP_FAILED : BP_FINE;
}
