/* SPDX-License-Identifier: MIT
 *
 * `battprof export`: a profile as a file of another tool, or as tables of a database.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/destination.h"
#include "tools/base/memory.h"
#include "tools/base/runs.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/command/export_tables.h"
#include "tools/command/profile_path.h"
#include "tools/export/export.h"

struct settings {
    const char *format;
    const char *output;
    const char *rules;
    const char *weight;
    const char *by;
    const char *run;
};

#define SETTING(member) offsetof(struct settings, member)

static const char format_words[] =
#define FORMAT(name, ...) "|" #name
#include "tools/export/formats.def"
#undef FORMAT
    ;

static const struct bp_option options[] = {
    {"by", 0, "context|task", "pprof: with task, samples have the task as a label",
     bp_option_choice, SETTING(by)},
    {"format", 'f', &format_words[1], "what is written; see below", bp_option_choice,
     SETTING(format)},
    {"output", 'o', "FILE|DIR",
     "write there; - is stdout; without it battprof.ENDING here, DIR for tables", bp_option_text,
     SETTING(output)},
    {"rules", 0, "FILE", "categories and groups from FILE", bp_option_text, SETTING(rules)},
    {"run", 0, "NAME", "tables: the name of the run; without it its job, or when it began",
     bp_option_text, SETTING(run)},
    {"weight", 0, "wall|thread|cpu|calls|bytes", "folded: what a line weighs (wall)",
     bp_option_choice, SETTING(weight)},
};

static const struct bp_help_item formats[] = {
#define FORMAT(name, ending, carries, loses) {#name, carries "; without: " loses},
#include "tools/export/formats.def"
#undef FORMAT
};

const struct bp_command bp_command_export = {
    .name = "export",
    .summary = "write a profile for other tools: pprof, Perfetto, DuckDB, …",
    .usage = "-f FORMAT [-o FILE|DIR] [FILE|DIR]",
    .about = "Writes a profile, a file or a directory as one run, in the format of another tool. "
             "Total and self times are those of battprof report; [idle], [start] and [overhead] "
             "make the sum the wall.",
    .list_title = "Formats",
    .list = formats,
    .list_count = BP_EXPORT_FORMATS,
    .next = "Example: battprof export -f pprof -o run.pb.gz && go tool pprof run.pb.gz",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_export,
};

static enum bp_export_format find_format(const char *name) {
    enum bp_export_format format = 0;
    while (strcmp(bp_export_kinds[format].name, name) != 0)
        format++;
    return format;
}

static enum bp_weight find_weight(const char *name) {
    enum bp_weight weight = 0;
    while (name && strcmp(bp_weight_names[weight], name) != 0)
        weight++;
    return weight;
}

/* A page of a series would have to choose one of its runs. */
static int check_single(const char *path, const char *format, struct bp_error *error) {
    struct bp_runs runs;
    bp_runs_init(&runs, path);
    bool repeated = runs.repeated;
    bp_runs_fini(&runs);
    if (!repeated)
        return 0;
    return bp_error_set(error, BP_FAILED,
                        "%s is a series, and %s holds one run of it: battprof export -f %s %s/1",
                        path, format, format, path);
}

static int write_file(struct bp_model *model, const struct settings *settings, const char *path,
                      struct bp_error *error) {
    struct bp_destination destination;
    struct bp_export export;
    if (bp_destination_open(&destination, path, stdout, error))
        return -1;
    bp_model_locate(model);
    bp_export_init(&export, model);
    export.weight = find_weight(settings->weight);
    export.by_task = settings->by && strcmp(settings->by, "task") == 0;
    errno = 0;
    int result = bp_export_write(&export, find_format(settings->format), destination.out);
    bp_export_fini(&export);
    return bp_destination_close(&destination, result, "the export", error);
}

/* Share of the wall in code that was only sampled above which exact calls say little. */
#define MOSTLY_SAMPLED 0.5

/* Contexts know of a program's own code that it ran, and samples what: where to find them. */
static void note_samples(const struct bp_model *model, const struct settings *settings,
                         const char *file) {
    static const char *const where[BP_EXPORT_FORMATS] = {
        [BP_EXPORT_pprof] = "go tool pprof -sample_index=cpu",
        [BP_EXPORT_speedscope] = "in the profile 'CPU time of sampled stacks', the third",
        [BP_EXPORT_callgrind] = "in -f pprof, speedscope or folded",
        [BP_EXPORT_firefox] = "in -f pprof, speedscope or folded",
        [BP_EXPORT_folded] = "with --weight cpu",
    };
    enum bp_export_format format = find_format(settings->format);
    bool cpu = settings->weight && find_weight(settings->weight) == BP_WEIGHT_CPU;
    double own_s = 0;
    for (uint32_t i = 0; i < model->function_count; i++)
        if (model->functions[i].kind == BP_FUNC_ROOT)
            own_s += model->functions[i].wall_s;
    if (where[format] && !cpu && model->samples.stack_count &&
        own_s > MOSTLY_SAMPLED * model->wall.total_s)
        bp_note(
            "%.0f %% of the wall is code that was sampled, not intercepted; its functions: %s%s%s",
            100 * own_s / model->wall.total_s, where[format],
            format == BP_EXPORT_pprof && file ? " " : "",
            format == BP_EXPORT_pprof && file ? file : "");
}

static int export_file(const char *path, const struct settings *settings,
                       const struct bp_rules *rules, struct bp_error *error) {
    struct bp_model *model = bp_model_new(path, rules, error);
    if (!model)
        return -1;
    bool to_stdout = settings->output && strcmp(settings->output, "-") == 0;
    char *file =
        to_stdout ? NULL
        : settings->output
            ? bp_copy_text(settings->output)
            : bp_make_text("battprof.%s", bp_export_kinds[find_format(settings->format)].ending);
    if (bp_export_is_empty(model))
        bp_note("%s: no thread was measured: the %s file is empty", path, settings->format);
    int result = write_file(model, settings, file, error);
    if (!result)
        note_samples(model, settings, file);
    free(file);
    bp_model_free(model);
    return result;
}

static int export_profile(const char *path, const struct settings *settings,
                          const struct bp_rules *rules, struct bp_error *error) {
    const char *directory = settings->output ? settings->output : "battprof.tables";
    if (check_single(path, settings->format, error))
        return -1;
    if (find_format(settings->format) != BP_EXPORT_tables)
        return export_file(path, settings, rules, error);
    if (strcmp(directory, "-") == 0)
        return bp_error_set(error, BP_USAGE, "-f tables makes a directory: name one with -o DIR");
    return bp_export_tables(path, directory, settings->run, rules, error);
}

/* 0, or -1: an option for another format. */
static int check(const struct settings *settings, struct bp_error *error) {
    const struct {
        const char *value;
        const char *name;
        const char *format;
    } rows[] = {{settings->weight, "weight", "folded"},
                {settings->by, "by", "pprof"},
                {settings->run, "run", "tables"}};
    if (!settings->format)
        return bp_error_set(error, BP_USAGE, "export: give a format: -f %s", &format_words[1]);
    for (int i = 0; i < 3; i++)
        if (rows[i].value && strcmp(settings->format, rows[i].format) != 0)
            return bp_error_set(error, BP_USAGE, "--%s is for -f %s, not for %s", rows[i].name,
                                rows[i].format, settings->format);
    return 0;
}

int bp_cmd_export(int argc, char **argv, struct bp_error *error) {
    struct settings settings = {0};
    int first = bp_options_parse(&bp_command_export, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (check(&settings, error))
        return BP_USAGE;
    if (argc - first > 1) {
        bp_error_set(error, BP_USAGE,
                     "export: one profile, not '%s' too; battprof merge puts "
                     "several together",
                     argv[first + 1]);
        return BP_USAGE;
    }
    struct bp_rules *rules = bp_rules_new(settings.rules, error);
    char *path = !rules ? NULL : first < argc ? bp_copy_text(argv[first]) : bp_profile_path(error);
    int result = path ? export_profile(path, &settings, rules, error) : -1;
    free(path);
    bp_rules_free(rules);
    return result ? BP_FAILED : BP_FINE;
}
