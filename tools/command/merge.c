/* SPDX-License-Identifier: MIT
 *
 * `battprof merge OUT IN...`: profiles of ranks or machines in one directory that is reported as
 * one run. Each input keeps its files, unchanged, in a directory of its own below OUT: files of
 * different machines may have the same names, and a process finds its wall page by its name.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/runs.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/model/model.h"
#include "tools/run/output.h"

struct settings {
    bool quiet;
};

static const struct bp_option options[] = {
    {"quiet", 'q', NULL, "do not print what was copied", bp_option_flag,
     offsetof(struct settings, quiet)},
};

const struct bp_command bp_command_merge = {
    .name = "merge",
    .summary = "put profiles of ranks or machines together",
    .usage = "[options] OUT IN...",
    .about = "Copies the profiles IN, directories or files, into the new directory OUT, where "
             "report shows them as one run: by process, role, rank and machine. Wall times of "
             "separate runs are added.",
    .next = "Example:\n"
            "  battprof merge all rank0 rank1 node2/battprof.out\n"
            "Next: battprof report --by process all",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_merge,
};

static int copy_file(const char *from, const char *to, struct bp_error *error) {
    struct stat status = {0};
    ssize_t got = 0;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out >= 0 && fstat(in, &status) == 0)
        for (off_t left = status.st_size; left > 0; left -= got) {
            got = sendfile(out, in, NULL, (size_t)left);
            if (got <= 0) /* it may have been cut meanwhile */
                break;
        }
    if (in < 0 || out < 0 || got < 0)
        bp_error_set(error, BP_FAILED, "%s: cannot be copied to %s: %s", from, to, strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out))
        bp_error_set(error, BP_FAILED, "%s: %s", to, strerror(errno));
    return bp_error_is_set(error) ? -1 : 0;
}

static bool is_profile(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".bp") == 0;
}

static int copy_directory(const char *from, const char *to, struct bp_error *error) {
    unsigned count = 0;
    DIR *dir = opendir(from);
    if (!dir)
        return bp_error_set(error, BP_FAILED, "%s: %s", from, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir)) && !bp_error_is_set(error);) {
        if (!is_profile(entry->d_name))
            continue;
        char *source = bp_make_text("%s/%s", from, entry->d_name);
        char *target = bp_make_text("%s/%s", to, entry->d_name);
        copy_file(source, target, error);
        free(source);
        free(target);
        count++;
    }
    closedir(dir);
    if (!count)
        bp_error_set(error, BP_FAILED, "%s: no profile (*.bp) in it", from);
    return bp_error_is_set(error) ? -1 : 0;
}

/* The last part of the path that says something, as a new text: "battprof.out" is what all are
 * called. Numbers are series. */
static char *name_input(const char *path) {
    char *text = bp_copy_text(path);
    const char *base;
    for (;;) {
        size_t length = strlen(text);
        while (length > 1 && text[length - 1] == '/')
            text[--length] = 0;
        char *slash = strrchr(text, '/');
        base = slash ? slash + 1 : text;
        if (!slash || slash == text || strcmp(base, BP_DEFAULT_OUTPUT) != 0)
            break;
        *slash = 0;
    }
    bool plain = base[0] && base[0] != '.' && !bp_runs_is_number(base);
    char *name = plain ? bp_copy_text(base) : bp_make_text("run-%s", base[0] == '.' ? "" : base);
    free(text);
    return name;
}

/* A new directory for the input: a new text, or NULL. */
static char *make_place(const char *out, const char *input, struct bp_error *error) {
    char *name = name_input(input);
    char *place = bp_make_text("%s/%s", out, name);
    int failed = mkdir(place, 0777);
    for (int i = 2; failed && errno == EEXIST && i < 100000; i++) {
        free(place);
        place = bp_make_text("%s/%s-%d", out, name, i);
        failed = mkdir(place, 0777);
    }
    free(name);
    if (!failed)
        return place;
    bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s", place, strerror(errno));
    free(place);
    return NULL;
}

/* A file stands for its run: those beside it that share its wall page. */
static int copy_run(const char *input, const char *place, const struct bp_rules *rules,
                    struct bp_error *error) {
    struct bp_model *model = bp_model_new(input, rules, error);
    if (!model)
        return -1;
    for (uint32_t i = 0; i < model->process_count + model->session_count; i++) {
        const struct bp_model_process *process = i < model->process_count
                                                     ? &model->processes[i]
                                                     : &model->sessions[i - model->process_count];
        char *target = bp_make_text("%s/%s", place, bp_base_name(process->path));
        copy_file(process->path, target, error);
        free(target);
    }
    bp_model_free(model);
    return bp_error_is_set(error) ? -1 : 0;
}

static int copy_input(const char *out, const char *input, unsigned *count,
                      const struct bp_rules *rules, struct bp_error *error) {
    struct bp_runs runs;
    struct stat status;
    bp_runs_init(&runs, input);
    for (uint32_t i = 0; i < runs.count && !bp_error_is_set(error); i++) {
        const char *path = runs.path[i];
        if (stat(path, &status)) {
            bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
            break;
        }
        char *place = make_place(out, path, error);
        if (place && S_ISDIR(status.st_mode))
            copy_directory(path, place, error);
        else if (place)
            copy_run(path, place, rules, error);
        *count += place != NULL;
        free(place);
    }
    bp_runs_fini(&runs);
    return bp_error_is_set(error) ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void tell_next(unsigned count, const char *out) {
    char *command = bp_hint_report(out, "--by process");
    bp_note("copied %u run%s; next:\n%s", count, count == 1 ? "" : "s", command);
    free(command);
}

int bp_cmd_merge(int argc, char **argv, struct bp_error *error) {
    struct settings settings = {0};
    unsigned count = 0;
    int first = bp_options_parse(&bp_command_merge, &settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (argc - first < 2) {
        bp_error_set(error, BP_USAGE,
                     "merge: give the new directory and what goes into it: "
                     "battprof merge all rank0 rank1");
        return BP_USAGE;
    }
    const char *out = argv[first];
    if (mkdir(out, 0777)) {
        bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s; choose a new name", out,
                     strerror(errno));
        return BP_FAILED;
    }
    struct bp_rules *rules = bp_rules_new(NULL, error);
    for (int i = first + 1; i < argc && !bp_error_is_set(error); i++)
        copy_input(out, argv[i], &count, rules, error);
    bp_rules_free(rules);
    if (bp_error_is_set(error)) /* half of it would be in the way of the next attempt */
        nftw(out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    else if (!settings.quiet)
        tell_next(count, out);
    return bp_error_is_set(error) ? BP_FAILED : BP_FINE;
}
