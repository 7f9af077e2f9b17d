/* SPDX-License-Identifier: MIT
 *
 * Checks what the command line asks for, and says it in variables. Only what cannot be meant is an
 * error here: the target does not start then.
 */
#include "tools/run/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/run/library.h"

#define MOST_SAMPLES 10000 /* a second: the finest clock tick of any kernel is 1 ms */

/* Words behind what is there, with commas between. Whether the library takes so many. */
static bool join(struct bp_text *text, size_t size, const struct bp_words *words) {
    for (size_t i = 0; i < words->count; i++)
        bp_text_add(text, "%s%s", text->length ? "," : "", words->word[i]);
    return text->length < size;
}

/* Nothing before its colon, or behind. */
static bool is_half(const char *word) {
    const char *colon = strchr(word, ':');
    return colon == word || (colon && !colon[1]);
}

/* A pattern stands between commas. A path with a dot in front is meant from here, wherever the
 * target goes: it is made whole. */
static char *complete_pattern(const char *word) {
    if (strncmp(word, "./", 2) != 0 && strncmp(word, "../", 3) != 0)
        return bp_copy_text(word);
    char *here = getcwd(NULL, 0);
    char *whole = bp_plain_path(here ? here : "", word);
    free(here);
    return whole;
}

static int check_dsl(struct bp_run_environment *environment, struct bp_error *error) {
    const struct bp_words *words = &environment->settings->dsl;
    for (size_t i = 0; i < words->count; i++) {
        if (is_half(words->word[i]) || !words->word[i][0] || strpbrk(words->word[i], ",\n"))
            return bp_error_set(error, BP_USAGE,
                                "run: --dsl '%s': write a module, file or library, or "
                                "'module:function*' or 'libfoo:sym*'",
                                words->word[i]);
        char *pattern = complete_pattern(words->word[i]);
        int full = bp_run_environment_add_dsl(environment, pattern);
        free(pattern);
        if (full)
            return bp_error_set(error, BP_USAGE, "run: the --dsl patterns are too long together");
    }
    return 0;
}

static int check_hooks(struct bp_run_environment *environment, struct bp_error *error) {
    const char *inherited = getenv("BATTPROF_HOOK");
    const struct bp_words *words = &environment->settings->hooks;
    for (size_t i = 0; i < words->count; i++)
        if (is_half(words->word[i]))
            return bp_error_set(error, BP_USAGE,
                                "run: --hook '%s': write 'lib*.so*' or 'lib.so:sym*'",
                                words->word[i]);
    bp_text_add(&environment->hooks, "%s", inherited ? inherited : "");
    if (!join(&environment->hooks, BP_LONGEST_VARIABLE, words))
        return bp_error_set(error, BP_USAGE, "run: the --hook patterns are too long together");
    return 0;
}

static int check_python(struct bp_run_environment *environment, struct bp_error *error) {
    const struct bp_words *words = &environment->settings->python;
    bool none = false;
    for (size_t i = 0; i < words->count; i++)
        none |= strcmp(words->word[i], "none") == 0;
    if (none && words->count > 1)
        return bp_error_set(error, BP_USAGE, "run: --python none goes with no other --python");
    if (none && environment->settings->python_all)
        return bp_error_set(error, BP_USAGE, "run: --python none or --python-all, not both");
    if (!join(&environment->python, BP_LONGEST_VARIABLE, words))
        return bp_error_set(error, BP_USAGE, "run: the --python globs are too long together");
    return 0;
}

static int check_count(struct bp_run_environment *environment, struct bp_error *error) {
    const struct bp_words *words = &environment->settings->count;
    for (size_t i = 0; i < words->count; i++)
        if (is_half(words->word[i]) || strpbrk(words->word[i], ", \t\n"))
            return bp_error_set(error, BP_USAGE,
                                "run: --count '%s': write 'module:function*' or 'lib.so:sym*'",
                                words->word[i]);
    if (!join(&environment->count, BP_LONGEST_VARIABLE, words))
        return bp_error_set(error, BP_USAGE, "run: the --count patterns are too long together");
    return 0;
}

/* Lines are those of Python. */
static bool names_library(const char *word) {
    size_t left = strcspn(word, ":");
    const char *object = strstr(word, ".so");
    return strncmp(word, "lib", 3) == 0 || (object && object < word + left);
}

static int check_lines(struct bp_run_environment *environment, struct bp_error *error) {
    const struct bp_words *words = &environment->settings->lines;
    for (size_t i = 0; i < words->count; i++)
        if (is_half(words->word[i]) || strpbrk(words->word[i], ", \t\n") ||
            names_library(words->word[i]))
            return bp_error_set(error, BP_USAGE,
                                "run: --lines '%s': write 'module:function*', of Python",
                                words->word[i]);
    if (!join(&environment->lines, BP_LONGEST_VARIABLE, words))
        return bp_error_set(error, BP_USAGE, "run: the --lines patterns are too long together");
    return 0;
}

static int check_tasks(struct bp_run_environment *environment, struct bp_error *error) {
    const struct bp_run_settings *settings = environment->settings;
    struct bp_text *rules = &environment->tasks;
    bool none = settings->tasks.count && strcmp(settings->tasks.word[0], "none") == 0;
    if (settings->progress && none && !settings->rules)
        return bp_error_set(error, BP_USAGE,
                            "run: --progress needs tasks, but --task none turns them off");
    return bp_task_rules_add_words(rules, BP_RULE_TASK, &settings->tasks, "run: --task", error) ||
           bp_task_rules_add_words(rules, BP_RULE_PHASE, &settings->phases, "run: --phase",
                                   error) ||
           bp_task_rules_add_words(rules, BP_RULE_SAMPLE, &settings->samples, "run: --sample",
                                   error) ||
           bp_task_rules_add_words(rules, BP_RULE_GENERATOR, &settings->generators,
                                   "run: --generator", error);
}

int bp_run_environment_add_tasks(struct bp_run_environment *environment, const char *text) {
    struct bp_text *tasks = &environment->tasks;
    if (tasks->length + strlen(text) + 1 >= BP_TASK_RULES_SIZE)
        return -1;
    if (*text)
        bp_text_add(tasks, "%s%s", tasks->length ? ";" : "", text);
    return 0;
}

int bp_run_environment_add_dsl(struct bp_run_environment *environment, const char *patterns) {
    struct bp_text *dsl = &environment->dsl;
    if (dsl->length + strlen(patterns) + 1 >= BP_LONGEST_VARIABLE)
        return -1;
    if (*patterns)
        bp_text_add(dsl, "%s%s", dsl->length ? "," : "", patterns);
    return 0;
}

static void assign(struct bp_run_environment *environment, const char *name, const char *value) {
    if (environment->assigned < BP_RUN_ASSIGNMENTS)
        environment->assignment[environment->assigned++] = bp_make_text("%s=%s", name, value);
}

/* One of ours, if there is a value. */
static void set(struct bp_run_environment *environment, enum bp_known_variable name,
                const char *value) {
    if (value && value[0])
        assign(environment, bp_variable_rows[name].name, value);
}

static void assign_before(struct bp_run_environment *environment, const char *name,
                          const char *value) {
    const char *others = getenv(name);
    bool alone = !others || !others[0];
    char *text = bp_make_text("%s%s%s", value, alone ? "" : ":", alone ? "" : others);
    assign(environment, name, text);
    free(text);
}

/* The simulated libraries have the names of the real ones and are found before them. */
static int use_device(struct bp_run_environment *environment, struct bp_error *error) {
    static const char *const known[] = {"t4", "p100", "l4"};
    const char *device = environment->settings->device;
    if (!device)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(device, "sim:", 4) || strcmp(device + 4, known[i]))
            continue;
        char *folder = bp_library_find_sim(error);
        if (!folder)
            return -1;
        set(environment, BATTPROF_SIM, known[i]);
        assign_before(environment, "LD_LIBRARY_PATH", folder);
        free(folder);
        return 0;
    }
    return bp_error_set(error, BP_USAGE, "run: --device '%s': write sim:t4, sim:p100 or sim:l4",
                        device);
}

static int check_cuda(const struct bp_run_environment *environment, struct bp_error *error) {
    static const char *const modes[] = {"full", "transfers", "wrappers", "off"};
    const char *option = environment->settings->cuda;
    const char *mode = option ? option : getenv("BATTPROF_CUDA");
    if (mode && strcmp(mode, "off") == 0 && environment->settings->check_transfers)
        return bp_error_set(error, BP_USAGE,
                            "run: --check-transfers needs copies, but --cuda off records none");
    for (size_t i = 0; mode && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i]) == 0)
            return 0;
    if (!mode || !mode[0])
        return 0;
    return bp_error_set(error, BP_USAGE, "run: %s '%s': write full, transfers, wrappers or off",
                        option ? "--cuda" : "BATTPROF_CUDA", mode);
}

/* One that was mistyped has no effect, and nothing else would say so. */
static void check_variables(void) {
    struct bp_variable_match match;
    for (char **text = environ; *text; text++)
        if (bp_variable_match(*text, &match) && !match.row)
            bp_note("%s is set, but battprof has no such variable%s%s%s", match.name,
                    match.nearest ? "; did you mean " : "", match.nearest ? match.nearest : "",
                    match.nearest ? "?" : "");
}

static int check_rate(struct bp_run_environment *environment, struct bp_error *error) {
    if (environment->settings->rate && environment->settings->no_sampling)
        return bp_error_set(error, BP_USAGE, "run: --rate or --no-sampling, not both");
    if (environment->settings->rate > MOST_SAMPLES)
        return bp_error_set(error, BP_USAGE, "run: --rate %u: at most %u a second",
                            environment->settings->rate, MOST_SAMPLES);
    if (environment->settings->rate || environment->settings->no_sampling)
        bp_text_set(&environment->rate, "%u", environment->settings->rate);
    return 0;
}

/* The driver opens what the variable names and tells it when CUDA starts. */
static void assign_cuda(struct bp_run_environment *environment, const char *library) {
    const char *mode = environment->settings->cuda, *other = getenv("CUDA_INJECTION64_PATH");
    set(environment, BATTPROF_CUDA, mode);
    set(environment, BATTPROF_CUDA_HASH, environment->settings->check_transfers ? "1" : NULL);
    if (!(other && other[0]) && (!mode || !strcmp(mode, "full") || !strcmp(mode, "transfers")))
        assign(environment, "CUDA_INJECTION64_PATH", library);
}

/* Programs that announce ranges with NVTX open what this one names. */
static void assign_nvtx(struct bp_run_environment *environment, const char *library) {
    const char *other = getenv("NVTX_INJECTION64_PATH");
    if (!(other && other[0]))
        assign(environment, "NVTX_INJECTION64_PATH", library);
}

void bp_run_environment_fini(struct bp_run_environment *environment) {
    bp_run_environment_keep(environment, 0);
    bp_text_fini(&environment->dsl);
    bp_text_fini(&environment->hooks);
    bp_text_fini(&environment->python);
    bp_text_fini(&environment->count);
    bp_text_fini(&environment->lines);
    bp_text_fini(&environment->tasks);
    bp_text_fini(&environment->rate);
}

void bp_run_environment_keep(struct bp_run_environment *environment, size_t count) {
    while (environment->assigned > count)
        free(environment->assignment[--environment->assigned]);
    environment->assignment[count] = NULL;
}

void bp_run_environment_profile(struct bp_run_environment *environment, const char *library,
                                const char *directory, const char *tree) {
    const struct bp_run_settings *settings = environment->settings;
    bp_run_environment_keep(environment, environment->lasting);
    assign_before(environment, "LD_PRELOAD", library);
    set(environment, BATTPROF_DIR, directory);
    set(environment, BATTPROF_TREE, tree);
    set(environment, BATTPROF_QUIET, "1");
    set(environment, BATTPROF_DSL, environment->dsl.data);
    set(environment, BATTPROF_HOOK, environment->hooks.data);
    set(environment, BATTPROF_WAIT, settings->no_wait ? "0" : NULL);
    set(environment, BATTPROF_PYTHON, environment->python.data);
    set(environment, BATTPROF_PYTHON_ALL, settings->python_all ? "1" : NULL);
    set(environment, BATTPROF_COUNT, environment->count.data);
    set(environment, BATTPROF_LINES, environment->lines.data);
    set(environment, BATTPROF_TASKS, environment->tasks.data);
    set(environment, BATTPROF_SAMPLE, environment->rate.data);
    set(environment, BATTPROF_EXACT, settings->exact ? "1" : NULL);
    assign_cuda(environment, library);
    assign_nvtx(environment, library);
}

int bp_run_environment_init(struct bp_run_environment *environment,
                            const struct bp_run_settings *settings, struct bp_error *error) {
    environment->settings = settings;
    if (check_dsl(environment, error) || check_hooks(environment, error) ||
        check_python(environment, error) || check_count(environment, error) ||
        check_lines(environment, error) || check_tasks(environment, error) ||
        use_device(environment, error) || check_cuda(environment, error) ||
        check_rate(environment, error))
        return -1;
    check_variables();
    environment->lasting = environment->assigned;
    return 0;
}
