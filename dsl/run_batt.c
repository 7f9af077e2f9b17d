/* SPDX-License-Identifier: MIT
 *
 * run_batt: the command. The options are a table that also makes --help. Exit 0 fine, 1 data or
 * user, 2 usage. Standard output depends on the tasks only.
 */
#include "dsl/pipeline.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 256, GENERATE, SEED, PROCESSES, LOG, TIMING, DUMP, GPU };

static const struct {
    int code; /* a letter, or one of the above where there is none */
    const char *name, *value, *help;
} table[] = {
    {'c', "count", "COUNT", "run at most COUNT tasks (default: all)"},
    {'s', "start", "START", "skip the first START tasks"},
    {'i', "id", "ID…", "run only the tasks with these ids"},
    {'t', "timeout", "SECONDS", "time limit per sample, looked at between steps (default 10)"},
    {'j', "threads", "THREADS", "threads per process (default 1)"},
    {PROCESSES, "processes", "N", "worker processes (default: this one only)"},
    {GPU, "gpu", "[=MODE]", "turn and recolour on the GPU: batch (default), naive or resident"},
    {DATA, "data", "DIR", "read ARC tasks (*.json) from DIR"},
    {GENERATE, "generate", "N", "generate N tasks (the default, with N = 100)"},
    {SEED, "seed", "S", "seed of generated tasks (default 1)"},
    {DUMP, "dump", "DIR", "write the tasks to DIR as ARC JSON, and run nothing"},
    {LOG, "log", "[=FILE]", "log every DSL call (default file: run_batt.log); very slow"},
    {TIMING, "timing", NULL, "times of the phases and the slowest tasks on standard error"},
    {'h', "help", NULL, "this text"},
};
#define ROWS (sizeof(table) / sizeof(table[0]))

static void print_help(void) {
    printf("usage: run_batt [options]\n"
           "Solves ARC tasks with programs of the grid DSL: loads or generates tasks, generates\n"
           "candidate programs, runs them, validates, and prints the accuracy.\n\n");
    for (size_t k = 0; k < ROWS; k++) {
        char left[48];
        const char *value = table[k].value ? table[k].value : "";
        const char *between = *value && *value != '[' ? " " : "";
        snprintf(left, sizeof(left), "%s%c%s --%s%s%s", table[k].code < 256 ? "-" : " ",
                 table[k].code < 256 ? table[k].code : ' ', table[k].code < 256 ? "," : " ",
                 table[k].name, between, value);
        int wide = strstr(value, "…") ? 28 : 26; /* printf counts bytes */
        printf("  %-*s %s\n", wide, left, table[k].help);
    }
}

static int usage_error(const char *what, const char *value) {
    fprintf(stderr, "run_batt: %s%s%s; see run_batt --help\n", what, value ? ": " : "",
            value ? value : "");
    return 2;
}

static bool take_number(const char *text, int low, int *number) {
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < low || n > 1000000)
        return false;
    *number = (int)n;
    return true;
}

static bool take_seed(const char *text, uint64_t *seed) {
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    return !errno && end != text && !*end && *text != '-';
}

static bool take_seconds(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds > 0 && *seconds < 1e6;
}

static bool take_gpu(const char *text, struct options *options) {
    static const char *const modes[] = {"batch", "naive", "resident"};
    options->gpu = true;
    for (int k = 0; k < 3; k++)
        if (!text || !strcmp(text, modes[k])) {
            options->gpu_mode = (enum dsl_gpu_mode)k;
            return true;
        }
    return false;
}

static bool take_option(struct options *options, int code, const char *value) {
    switch (code) {
    case 'c':
        return take_number(value, 1, &options->count);
    case 's':
        return take_number(value, 0, &options->start);
    case 'i':
        options->ids[options->id_count++] = value;
        return true;
    case 't':
        return take_seconds(value, &options->timeout);
    case 'j':
        return take_number(value, 1, &options->threads) && options->threads <= 1024;
    case PROCESSES:
        return take_number(value, 1, &options->processes) && options->processes <= 1024;
    case GPU:
        return take_gpu(value, options);
    case DATA:
        options->data = value;
        return true;
    case GENERATE:
        return take_number(value, 1, &options->generate);
    case SEED:
        return take_seed(value, &options->seed);
    case DUMP:
        options->dump = value;
        return true;
    case LOG:
        options->log = value ? value : "run_batt.log";
        return true;
    default:
        options->timing = true;
        return true;
    }
}

static void make_getopt(struct option longs[ROWS + 1], char shorts[2 * ROWS + 2]) {
    size_t used = 0;
    shorts[used++] = ':';
    for (size_t k = 0; k < ROWS; k++) {
        const char *value = table[k].value;
        int has = !value ? no_argument : *value == '[' ? optional_argument : required_argument;
        longs[k] = (struct option){table[k].name, has, NULL, table[k].code};
        if (table[k].code < 256) {
            shorts[used++] = (char)table[k].code;
            if (has == required_argument)
                shorts[used++] = ':';
        }
    }
    longs[ROWS] = (struct option){NULL, 0, NULL, 0};
    shorts[used] = '\0';
}

/* -1: go on; otherwise the exit status. */
static int take_options(struct options *options, int argc, char **argv) {
    struct option longs[ROWS + 1];
    char shorts[2 * ROWS + 2];
    make_getopt(longs, shorts);
    for (int code; (code = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (code == 'h')
            return print_help(), 0;
        if (code == '?')
            return usage_error("unknown option", argv[optind - 1]);
        if (code == ':')
            return usage_error("option without its value", argv[optind - 1]);
        if (!take_option(options, code, optarg))
            return usage_error("bad value", optarg);
    }
    /* getopt has moved the further ids of `-i A B C` to the end. */
    if (optind < argc && !options->id_count)
        return usage_error("unexpected argument", argv[optind]);
    while (optind < argc)
        options->ids[options->id_count++] = argv[optind++];
    if (options->data && options->generate >= 0)
        return usage_error("--data and --generate exclude each other", NULL);
    return -1;
}

static void print_slowest(const struct pipeline *pipeline, int n) {
    int64_t below = INT64_MAX;
    for (int shown = 0; shown < n && shown < pipeline->tasks.n; shown++) {
        int slowest = -1;
        int64_t most = -1;
        for (int k = 0; k < pipeline->tasks.n; k++) {
            int64_t took = pipeline->results[k].nanoseconds;
            if (took < below && took > most) {
                most = took;
                slowest = k;
            }
        }
        if (slowest < 0)
            return;
        below = most;
        fprintf(stderr, "slowest %s %10.3f ms\n", pipeline->tasks.task[slowest].id,
                (double)most / 1e6);
    }
}

static int run_phases(struct pipeline *pipeline) {
    static const struct {
        const char *name;
        int (*run)(struct pipeline *pipeline);
    } phases[] = {
        {"data loading", phase_data_loading},
        {"code generation", phase_code_generation},
        {"solver execution", phase_solver_execution},
        {"validation", phase_validation},
    };
    const struct options *options = pipeline->options;
    size_t last = options->dump ? 1 : sizeof(phases) / sizeof(phases[0]);
    for (size_t k = 0; k < last; k++) {
        int64_t began = monotonic_ns();
        int status = phases[k].run(pipeline);
        if (status)
            return status;
        if (options->timing)
            fprintf(stderr, "phase %-17s %10.3f ms\n", phases[k].name,
                    (double)(monotonic_ns() - began) / 1e6);
    }
    if (options->timing && !options->dump)
        print_slowest(pipeline, 5);
    return 0;
}

static int run(const struct options *options) {
    struct pipeline pipeline = {.options = options};
    int status = options->log ? dsl_log_open(options->log) : 0;
    if (status)
        snprintf(pipeline.error, sizeof(pipeline.error), "%.200s: %s", options->log,
                 strerror(-status));
    else
        status = run_phases(&pipeline);
    if (status)
        fprintf(stderr, "run_batt: %s\n", pipeline.error);
    pipeline_fini(&pipeline);
    dsl_log_close();
    return status ? 1 : 0;
}

int main(int argc, char **argv) {
    struct options options = {
        .generate = -1, .count = -1, .threads = 1, .processes = 1, .seed = 1, .timeout = 10};
    options.ids = calloc((size_t)argc + 1, sizeof(*options.ids));
    if (!options.ids)
        return 1;
    int status = take_options(&options, argc, argv);
    if (status < 0)
        status = run(&options);
    free(options.ids);
    return status;
}
