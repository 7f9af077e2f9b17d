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
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/model.h"
#include "tools/output.h"
#include "tools/runs.h"
#include "tools/text.h"

struct settings {
    bool quiet;
};

static const struct bp_option options[] = {
    {"quiet", 'q', NULL, "do not say what was copied", bp_option_flag,
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

/* 0, or -1 if it is too long. */
static int join(char path[PATH_MAX], const char *directory, const char *name,
                struct bp_error *error) {
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX)
        return 0;
    return bp_error_set(error, BP_FAILED, "%s/%s: the name is too long", directory, name);
}

static int copy_directory(const char *from, const char *to, struct bp_error *error) {
    unsigned count = 0;
    char source[PATH_MAX];
    char target[PATH_MAX];
    DIR *dir = opendir(from);
    if (!dir)
        return bp_error_set(error, BP_FAILED, "%s: %s", from, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir)) && !bp_error_is_set(error);) {
        if (!is_profile(entry->d_name))
            continue;
        if (join(source, from, entry->d_name, error) == 0 &&
            join(target, to, entry->d_name, error) == 0)
            copy_file(source, target, error);
        count++;
    }
    closedir(dir);
    if (!count)
        bp_error_set(error, BP_FAILED, "%s: no profile (*.bp) in it", from);
    return bp_error_is_set(error) ? -1 : 0;
}

/* The last part of the path that says something: "battprof.out" is what all are called. */
static void name_input(const char *path, char name[NAME_MAX]) {
    char text[PATH_MAX];
    snprintf(text, sizeof(text), "%s", path);
    for (;;) {
        size_t length = strlen(text);
        while (length > 1 && text[length - 1] == '/')
            text[--length] = 0;
        char *slash = strrchr(text, '/');
        const char *base = slash ? slash + 1 : text;
        snprintf(name, NAME_MAX, "%.200s", base);
        if (!slash || slash == text || strcmp(base, BP_DEFAULT_OUTPUT) != 0)
            break;
        *slash = 0;
    }
    if (!name[0] || name[0] == '.' || bp_runs_is_number(name)) { /* numbers are series */
        char plain[NAME_MAX];
        snprintf(plain, sizeof(plain), "run-%.200s", name[0] == '.' ? "" : name);
        memcpy(name, plain, sizeof(plain));
    }
}

static int make_place(const char *out, const char *input, char place[PATH_MAX],
                      struct bp_error *error) {
    char name[NAME_MAX];
    name_input(input, name);
    for (int i = 1; i < 100000; i++) {
        int length = i == 1 ? snprintf(place, PATH_MAX, "%s/%s", out, name)
                            : snprintf(place, PATH_MAX, "%s/%s-%d", out, name, i);
        if (length >= PATH_MAX)
            return bp_error_set(error, BP_FAILED, "%s: the name is too long", out);
        if (mkdir(place, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    return bp_error_set(error, BP_FAILED, "%s: cannot make the directory: %s", place,
                        strerror(errno));
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
        char target[PATH_MAX];
        if (join(target, place, bp_base_name(process->path), error) == 0)
            copy_file(process->path, target, error);
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
        char place[PATH_MAX];
        const char *path = runs.path[i];
        if (stat(path, &status))
            bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
        else if (make_place(out, path, place, error) == 0) {
            if (S_ISDIR(status.st_mode))
                copy_directory(path, place, error);
            else
                copy_run(path, place, rules, error);
            ++*count;
        }
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
        bp_note("copied %u run%s; next: battprof report --by process %s", count,
                count == 1 ? "" : "s", out);
    return bp_error_is_set(error) ? BP_FAILED : BP_FINE;
}
