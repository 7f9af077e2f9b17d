/* SPDX-License-Identifier: MIT
 *
 * Runs the steps of internal.h and owns what they make.
 */
#include "tools/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"
#include "tools/symbols/symbols.h"

/* Files that were asked for names and gave none. */
static void find_unnamed(struct bp_model *model) {
    uint32_t count = model->samples.symbols ? bp_symbols_count(model->samples.symbols) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *problem = bp_symbols_problem(model->samples.symbols, i);
        if (problem[0] && bp_keys_get(&model->samples.files, &i, sizeof(i)) != BP_KEYS_NONE)
            *BP_APPEND(model->samples.unnamed, model->samples.unnamed_count) = problem;
    }
}

static void build(struct bp_model *model) {
    bp_model_settle_processes(model);
    bp_model_find_trees(model);
    bp_model_map_functions(model);
    for (uint32_t i = 0; i < model->process_count; i++) {
        bp_model_settle_pauses(&model->processes[i]);
        bp_model_account_process(model, i);
    }
    bp_model_find_pauses(model);
    bp_model_finish_functions(model);
    bp_model_finish_exact_lines(model);
    bp_model_finish_devices(model);
    bp_model_split_wall(model);
    bp_model_settle_devices(model);
    bp_model_share_idle(model);
    bp_model_add_tasks(model);
    bp_model_sum_contexts(model);
    bp_model_find_all_wait(model);
    bp_model_make_groups(model);
    bp_model_find_sites(model);
    bp_model_find_roles(model);
    find_unnamed(model);
}

static void work_free(struct bp_model *model) {
    struct bp_model_work *work = model->work;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        free(work->threads[i].split);
        free(work->threads[i].self_s);
        free(work->threads[i].task_self_s);
        free(work->threads[i].function);
        free(work->threads[i].context);
        free(work->threads[i].around);
        free(work->threads[i].beyond);
    }
    bp_keys_fini(&work->function_table);
    bp_keys_fini(&work->name_table);
    free(work->names);
    bp_keys_fini(&work->context_table);
    bp_keys_fini(&work->coverage_table);
    bp_keys_fini(&work->transfer_table);
    bp_keys_fini(&work->kernel_table);
    free(work->functions);
    free(work->threads);
    free(work->trees);
    free(work->key);
    free(work);
    model->work = NULL;
}

static struct bp_model *make(const char *path, const struct bp_rules *rules,
                             const struct bp_task_wishes *wishes, struct bp_symbols *symbols,
                             struct bp_error *error) {
    struct bp_model *model = bp_alloc(1, sizeof(*model));
    if (wishes)
        model->tasks.wishes = *wishes;
    model->samples.symbols = symbols;
    model->samples.lent = symbols != NULL;
    model->run.path = path;
    model->work = bp_alloc(1, sizeof(*model->work));
    model->contexts = bp_alloc(1, sizeof(*model->contexts));
    model->contexts[0].parent = BP_NO_NODE;
    model->context_count = 1;
    bp_keys_put(&model->work->context_table, "", 0);
    int result = bp_model_load(model, error);
    if (result == 0) {
        bp_model_choose_rules(model, rules);
        build(model);
    }
    work_free(model);
    if (result == 0)
        return model;
    bp_model_free(model);
    return NULL;
}

struct bp_model *bp_model_new(const char *path, const struct bp_rules *rules,
                              struct bp_error *error) {
    return make(path, rules, NULL, NULL, error);
}

struct bp_model *bp_model_new_with(const char *path, const struct bp_rules *rules,
                                   const struct bp_task_wishes *wishes, struct bp_error *error) {
    return make(path, rules, wishes, NULL, error);
}

struct bp_model *bp_model_new_of_many(const char *path, const struct bp_rules *rules,
                                      struct bp_symbols *symbols, struct bp_error *error) {
    return make(path, rules, NULL, symbols, error);
}

static void processes_free(struct bp_model_process *processes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        bp_profile_free(processes[i].profile);
        free(processes[i].path);
        free(processes[i].functions);
    }
    free(processes);
}

static void threads_free(struct bp_model_thread *threads, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free(threads[i].contexts);
        free(threads[i].stacks);
    }
    free(threads);
}

void bp_model_free(struct bp_model *model) {
    if (!model)
        return;
    processes_free(model->processes, model->process_count);
    processes_free(model->sessions, model->session_count);
    threads_free(model->threads, model->thread_count);
    bp_model_free_functions(model);
    free(model->call_times);
    free(model->contexts);
    free(model->coverage);
    free(model->in_flight);
    free(model->samples.stacks);
    free(model->cuda.devices);
    free(model->cuda.transfers);
    for (uint32_t i = 0; i < model->cuda.kernel_count; i++)
        free(model->cuda.kernels[i].name);
    free(model->cuda.kernels);
    free(model->tasks.list);
    free(model->tasks.functions);
    free(model->tasks.phases);
    free(model->lines.exact);
    free(model->phases);
    bp_model_free_groups(model);
    bp_model_free_lines(model);
    bp_model_free_sites(model);
    free(model->lines.spots);
    free(model->lines.shares);
    if (!model->samples.lent)
        bp_symbols_free(model->samples.symbols);
    bp_keys_fini(&model->samples.files);
    free(model->roles);
    free(model->machines);
    free(model->samples.unnamed);
    free(model->pauses.marks);
    for (uint32_t i = 0; i < model->run.left_out_count; i++) {
        free(model->run.left_out[i].name);
        free(model->run.left_out[i].reason);
    }
    free(model->run.left_out);
    for (uint32_t i = 0; i < model->text_count; i++)
        free(model->texts[i]);
    free(model->texts);
    bp_rules_free(model->rules);
    free(model);
}
