/* SPDX-License-Identifier: MIT
 *
 * Checks what the command line asks for, and says it in variables. Only what cannot be meant is an
 * error here: the target does not start then.
 */
#include "tools/run_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/library.h"

#define MOST_SAMPLES 10000 /* a second: the finest clock tick of any kernel is 1 ms */

/* Words behind what is there, with commas between. Whether they fit. */
static bool join(char *text, size_t size, const struct bp_words *words) {
    size_t used = strlen(text);
    for (size_t i = 0; i < words->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", words->word[i]);
    return used < size;
}

/* Nothing before its colon, or behind. */
static bool is_half(const char *word) {
    const char *colon = strchr(word, ':');
    return colon == word || (colon && !colon[1]);
}

static int check_hooks(struct bp_run_environment *environment, struct bp_error *error) {
    const char *inherited = getenv("BATTPROF_HOOK");
    const struct bp_words *words = &environment->settings->hooks;
    for (size_t i = 0; i < words->count; i++)
        if (is_half(words->word[i]))
            return bp_error_set(error, BP_USAGE,
                                "run: --hook '%s': write 'lib*.so*' or 'lib.so:sym*'",
                                words->word[i]);
    size_t used = (size_t)snprintf(environment->hooks, sizeof environment->hooks, "%s",
                                   inherited ? inherited : "");
    if (used >= sizeof environment->hooks ||
        !join(environment->hooks, sizeof environment->hooks, words))
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
    if (!join(environment->python, sizeof environment->python, words))
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
    if (!join(environment->count, sizeof environment->count, words))
        return bp_error_set(error, BP_USAGE, "run: the --count patterns are too long together");
    return 0;
}

static int check_tasks(struct bp_run_environment *environment, struct bp_error *error) {
    const struct bp_run_settings *settings = environment->settings;
    struct bp_task_rules *rules = &environment->tasks;
    bool none = settings->tasks.count && strcmp(settings->tasks.word[0], "none") == 0;
    if (settings->progress && none && !settings->rules)
        return bp_error_set(error, BP_USAGE, "run: --progress tells of tasks, --task none of none");
    return bp_task_rules_add_words(rules, BP_RULE_TASK, &settings->tasks, "run: --task", error) ||
           bp_task_rules_add_words(rules, BP_RULE_PHASE, &settings->phases, "run: --phase",
                                   error) ||
           bp_task_rules_add_words(rules, BP_RULE_SAMPLE, &settings->samples, "run: --sample",
                                   error) ||
           bp_task_rules_add_words(rules, BP_RULE_GENERATOR, &settings->generators,
                                   "run: --generator", error);
}

int bp_run_environment_add_tasks(struct bp_run_environment *environment, const char *text) {
    struct bp_task_rules *tasks = &environment->tasks;
    size_t room = sizeof(tasks->text) - tasks->used;
    if (strlen(text) + 1 >= room)
        return -1;
    if (*text)
        tasks->used +=
            (size_t)snprintf(tasks->text + tasks->used, room, "%s%s", tasks->used ? ";" : "", text);
    return 0;
}

static void assign(struct bp_run_environment *environment, const char *name, const char *value) {
    char *text;
    if (environment->assigned < BP_RUN_ASSIGNMENTS && asprintf(&text, "%s=%s", name, value) >= 0)
        environment->assignment[environment->assigned++] = text;
}

static void assign_before(struct bp_run_environment *environment, const char *name,
                          const char *value) {
    const char *others = getenv(name);
    char *text = NULL;
    if (others && others[0] && asprintf(&text, "%s:%s", value, others) < 0)
        text = NULL;
    assign(environment, name, text ? text : value);
    free(text);
}

/* The stand-in libraries have the names of the real ones and are found before them. */
static int use_device(struct bp_run_environment *environment, struct bp_error *error) {
    static const char *const known[] = {"t4", "p100", "l4"};
    const char *device = environment->settings->device;
    char folder[PATH_MAX];
    if (!device)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(device, "sim:", 4) || strcmp(device + 4, known[i]))
            continue;
        if (bp_library_find_sim(folder, error))
            return -1;
        assign(environment, "BATTPROF_SIM", known[i]);
        assign_before(environment, "LD_LIBRARY_PATH", folder);
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
                            "run: --check-transfers needs copies, --cuda off records none");
    for (size_t i = 0; mode && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i]) == 0)
            return 0;
    if (!mode || !mode[0])
        return 0;
    return bp_error_set(error, BP_USAGE, "run: %s '%s': write full, transfers, wrappers or off",
                        option ? "--cuda" : "BATTPROF_CUDA", mode);
}

static int check_rate(struct bp_run_environment *environment, struct bp_error *error) {
    if (environment->settings->rate && environment->settings->no_sampling)
        return bp_error_set(error, BP_USAGE, "run: --rate or --no-sampling, not both");
    if (environment->settings->rate > MOST_SAMPLES)
        return bp_error_set(error, BP_USAGE, "run: --rate %u: at most %u a second",
                            environment->settings->rate, MOST_SAMPLES);
    snprintf(environment->rate, sizeof environment->rate, "%u", environment->settings->rate);
    return 0;
}

/* The driver opens what the variable names and tells it when CUDA starts. */
static void assign_cuda(struct bp_run_environment *environment, const char *library) {
    const char *mode = environment->settings->cuda, *other = getenv("CUDA_INJECTION64_PATH");
    if (mode)
        assign(environment, "BATTPROF_CUDA", mode);
    if (environment->settings->check_transfers)
        assign(environment, "BATTPROF_CUDA_HASH", "1");
    if (!(other && other[0]) && (!mode || !strcmp(mode, "full") || !strcmp(mode, "transfers")))
        assign(environment, "CUDA_INJECTION64_PATH", library);
}

/* The same for programs that announce ranges with NVTX. */
static void assign_nvtx(struct bp_run_environment *environment, const char *library) {
    const char *other = getenv("NVTX_INJECTION64_PATH");
    if (!(other && other[0]))
        assign(environment, "NVTX_INJECTION64_PATH", library);
}

void bp_run_environment_keep(struct bp_run_environment *environment, size_t count) {
    while (environment->assigned > count)
        free(environment->assignment[--environment->assigned]);
    environment->assignment[count] = NULL;
}

void bp_run_environment_profile(struct bp_run_environment *environment, const char *library,
                                const char *directory, const char *tree) {
    bp_run_environment_keep(environment, environment->lasting);
    assign_before(environment, "LD_PRELOAD", library);
    assign(environment, "BATTPROF_DIR", directory);
    assign(environment, "BATTPROF_TREE", tree);
    assign(environment, "BATTPROF_QUIET", "1");
    if (environment->hooks[0])
        assign(environment, "BATTPROF_HOOK", environment->hooks);
    if (environment->settings->no_wait)
        assign(environment, "BATTPROF_WAIT", "0");
    if (environment->python[0])
        assign(environment, "BATTPROF_PYTHON", environment->python);
    if (environment->settings->python_all)
        assign(environment, "BATTPROF_PYTHON_ALL", "1");
    if (environment->count[0])
        assign(environment, "BATTPROF_COUNT", environment->count);
    if (environment->tasks.used)
        assign(environment, "BATTPROF_TASKS", environment->tasks.text);
    if (environment->settings->no_sampling)
        assign(environment, "BATTPROF_SAMPLE", "0");
    else if (environment->settings->rate)
        assign(environment, "BATTPROF_SAMPLE", environment->rate);
    assign_cuda(environment, library);
    assign_nvtx(environment, library);
}

int bp_run_environment_init(struct bp_run_environment *environment,
                            const struct bp_run_settings *settings, struct bp_error *error) {
    environment->settings = settings;
    if (check_hooks(environment, error) || check_python(environment, error) ||
        check_count(environment, error) || check_tasks(environment, error) ||
        use_device(environment, error) || check_cuda(environment, error) ||
        check_rate(environment, error))
        return -1;
    environment->lasting = environment->assigned;
    return 0;
}
