/* SPDX-License-Identifier: MIT
 *
 * What a process was in the run: its role, from how it began and what it ran; its rank, from the
 * variables by which MPI, Slurm and torchrun number their processes; and the machine it ran on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/internal.h"

static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"};

/* The first that is there wins: of PMI_RANK and SLURM_PROCID, say, the nearer one. */
static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                         "MV2_COMM_WORLD_RANK",  "RANK",      "SLURM_PROCID"};

static bool is_shell(const char *name) {
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
        if (strcmp(name, shells[i]) == 0)
            return true;
    return false;
}

static bool same_machine(const struct bp_header *a, const struct bp_header *b) {
    return strcmp(a->boot_id, b->boot_id) == 0 && strcmp(a->host, b->host) == 0;
}

static bool has_parent(const struct bp_model *model, const struct bp_header *header) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *other = &model->processes[i].profile->header;
        if (other->pid == header->parent_pid && other != header && same_machine(other, header))
            return true;
    }
    return false;
}

/* multiprocessing's "spawn" and its helpers are told by what they are given to run. */
static const char *python_role(const char *command) {
    if (strstr(command, "multiprocessing.spawn"))
        return "spawned Python worker";
    if (strstr(command, "multiprocessing.forkserver"))
        return "Python fork server";
    if (strstr(command, "multiprocessing.resource_tracker"))
        return "Python resource tracker";
    return "Python program";
}

static const char *role_of(const struct bp_model *model, const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    const char *name = bp_base_name(header->executable);
    if (header->image == 0 && header->flags & BP_FORKED)
        return "forked worker";
    if (is_shell(name))
        return "shell";
    if (!has_parent(model, header) && header->image == 0)
        return "main";
    if (strncmp(name, "python", 6) == 0)
        return python_role(header->command);
    return name[0] ? name : "other program";
}

static int rank_of(const struct bp_profile *profile) {
    for (size_t k = 0; k < sizeof(rank_names) / sizeof(rank_names[0]); k++)
        for (uint32_t i = 0; i < profile->variable_count; i++) {
            const struct bp_variable *variable = &profile->variables[i];
            const char *value = bp_profile_string(profile, variable->value);
            char *end;
            long rank = strtol(value, &end, 10);
            if (strcmp(bp_profile_string(profile, variable->name), rank_names[k]) == 0 &&
                end != value && !*end && rank >= 0 && rank < 1 << 30)
                return (int)rank;
        }
    return -1;
}

static struct bp_role *put_role(struct bp_model *model, const char *name) {
    for (uint32_t i = 0; i < model->role_count; i++)
        if (strcmp(model->roles[i].name, name) == 0)
            return &model->roles[i];
    struct bp_role *role = BP_APPEND(model->roles, model->role_count);
    role->name = name;
    return role;
}

static void add_to_role(struct bp_role *role, const struct bp_model_process *process) {
    role->processes++;
    role->threads += process->threads;
    role->lifetime_s += process->lifetime_s;
    role->thread_s += process->thread_s;
    role->waiting_s += process->waiting_s;
    role->wall_s += process->wall_s;
    role->idle_s += process->idle_s;
    for (int i = 0; i < BP_CATEGORIES; i++)
        role->category_s[i] += process->category_s[i];
}

static struct bp_machine *put_machine(struct bp_model *model, const struct bp_header *header) {
    for (uint32_t i = 0; i < model->machine_count; i++)
        if (strcmp(model->machines[i].boot_id, header->boot_id) == 0 &&
            strcmp(model->machines[i].host, header->host) == 0)
            return &model->machines[i];
    struct bp_machine *machine = BP_APPEND(model->machines, model->machine_count);
    machine->host = header->host;
    machine->boot_id = header->boot_id;
    return machine;
}

static void add_to_machine(struct bp_machine *machine, const struct bp_model_process *process) {
    double start_s = 1e-9 * (double)process->profile->header.first.realtime_ns;
    double end_s = start_s + process->lifetime_s;
    if (machine->processes == 0 || start_s < machine->start_s)
        machine->start_s = start_s;
    if (end_s > machine->end_s)
        machine->end_s = end_s;
    machine->processes++;
    machine->threads += process->threads;
    machine->thread_s += process->thread_s;
    machine->wall_s += process->wall_s;
    machine->idle_s += process->idle_s;
    for (int i = 0; i < BP_CATEGORIES; i++)
        machine->category_s[i] += process->category_s[i];
}

void bp_model_find_roles(struct bp_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        struct bp_model_process *process = &model->processes[i];
        process->role = role_of(model, process);
        process->rank = rank_of(process->profile);
        add_to_role(put_role(model, process->role), process);
        add_to_machine(put_machine(model, &process->profile->header), process);
    }
}
