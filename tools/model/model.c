/* SPDX-License-Identifier: MIT
 *
 * Runs the steps of model_internal.h and owns what they make.
 */
#include "tools/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/model_internal.h"
#include "tools/symbols.h"

#define LONGEST_AGAIN 60 /* columns that a command may take in a hint */

void bp_model_note(struct bp_model *model, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    char **note = BP_APPEND(model->notes, model->note_count);
    *note = bp_copy_text(text);
}

/* A session has quoted its words; what a process knows of its own are words without marks. */
const char *bp_model_again(const struct bp_model *model) {
    bool known = model->session_count > 0 || !strpbrk(model->command, "\"'\\$`;&|<>()*?[]{}~#!\n");
    return known && model->command[0] && strlen(model->command) < LONGEST_AGAIN ? model->command
                                                                                : "COMMAND";
}

static void build(struct bp_model *model) {
    bp_model_settle_processes(model);
    bp_model_find_trees(model);
    for (uint32_t i = 0; i < model->process_count; i++)
        bp_model_account_process(model, i);
    bp_model_finish_functions(model);
    bp_model_finish_devices(model);
    bp_model_split_wall(model);
    bp_model_settle_devices(model);
    bp_model_share_idle(model);
    bp_model_add_tasks(model);
    bp_model_find_all_wait(model);
    bp_model_make_groups(model);
    bp_model_find_sites(model);
    bp_model_find_roles(model);
    bp_model_advise(model);
    bp_model_note_all(model);
}

static void work_free(struct bp_model *model) {
    struct bp_model_work *work = model->work;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        free(work->threads[i].split);
        free(work->threads[i].self_s);
        free(work->threads[i].task_self_s);
        free(work->threads[i].function);
        free(work->threads[i].context);
    }
    bp_table_fini(&work->function_table);
    bp_table_fini(&work->context_table);
    bp_table_fini(&work->coverage_table);
    bp_table_fini(&work->transfer_table);
    bp_table_fini(&work->kernel_table);
    free(work->functions);
    free(work->threads);
    free(work->trees);
    free(work->key);
    free(work);
    model->work = NULL;
}

struct bp_model *bp_model_new_with(const char *path, const struct bp_rules *rules,
                                   const struct bp_task_wishes *wishes, struct bp_error *error) {
    struct bp_model *model = bp_alloc(1, sizeof(*model));
    if (wishes)
        model->task_wishes = *wishes;
    model->path = path;
    model->work = bp_alloc(1, sizeof(*model->work));
    model->work->rules = rules;
    model->contexts = bp_alloc(1, sizeof(*model->contexts));
    model->contexts[0].parent = BP_NO_NODE;
    model->context_count = 1;
    bp_table_put(&model->work->context_table, "", 0);
    int result = bp_model_load(model, error);
    if (result == 0)
        build(model);
    work_free(model);
    if (result == 0)
        return model;
    bp_model_free(model);
    return NULL;
}

struct bp_model *bp_model_new(const char *path, const struct bp_rules *rules,
                              struct bp_error *error) {
    return bp_model_new_with(path, rules, NULL, error);
}

static void processes_free(struct bp_model_process *processes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        bp_profile_free(processes[i].profile);
        free(processes[i].path);
    }
    free(processes);
}

void bp_model_free(struct bp_model *model) {
    if (!model)
        return;
    processes_free(model->processes, model->process_count);
    processes_free(model->sessions, model->session_count);
    for (uint32_t i = 0; i < model->note_count; i++)
        free(model->notes[i]);
    free(model->notes);
    free(model->thread_list);
    free(model->functions);
    free(model->contexts);
    free(model->coverage);
    free(model->in_flight);
    free(model->stacks);
    free(model->devices);
    free(model->transfers);
    for (uint32_t i = 0; i < model->kernel_count; i++)
        free(model->kernels[i].name);
    free(model->kernels);
    free(model->tasks);
    free(model->task_functions);
    free(model->task_phases);
    free(model->phases);
    bp_model_free_groups(model);
    bp_model_free_sites(model);
    bp_symbols_free(model->symbols);
    free(model->roles);
    free(model->machines);
    for (uint32_t i = 0; i < model->advice_count; i++) {
        free(model->advice[i].what);
        free(model->advice[i].why);
    }
    free(model->advice);
    free(model);
}
