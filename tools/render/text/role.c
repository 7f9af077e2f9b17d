/* SPDX-License-Identifier: MIT
 *
 * Processes by role and machines, below the table of processes; each where there is more than one.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/json.h"
#include "tools/render/json/report.h"
#include "tools/render/text/internal.h"

static const char *cell_wall(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_role *role = value;
    return bp_page_share(role->wall_s + role->idle_s, page->whole, text);
}

static const struct bp_column by_category[] = {
    BP_LABEL(28),
    BP_COLUMN("processes", 11, bp_cell_number, struct bp_role, processes),
    BP_COLUMN("thread time", 12, bp_cell_time, struct bp_role, thread_s),
    BP_COLUMN("DSL", 10, bp_cell_time, struct bp_role, category_s[BP_DSL]),
    BP_COLUMN("framew.", 10, bp_cell_time, struct bp_role, category_s[BP_FRAMEWORK]),
    {"of wall", 9, cell_wall, 0},
    BP_LAST_COLUMN,
};

/* Where no DSL was named all of it would be framework. */
static const struct bp_column undivided[] = {
    BP_LABEL(28 + 20),
    BP_COLUMN("processes", 11, bp_cell_number, struct bp_role, processes),
    BP_COLUMN("thread time", 12, bp_cell_time, struct bp_role, thread_s),
    {"of wall", 9, cell_wall, 0},
    BP_LAST_COLUMN,
};

static const struct bp_column *columns_of(const struct bp_model *model) {
    return model->split.leads ? undivided : by_category;
}

static void print_roles(const struct bp_page *page, const struct bp_model *model) {
    bp_columns_title(page, "Roles", columns_of(model));
    for (uint32_t i = 0; i < model->role_count; i++)
        bp_columns_row(page, columns_of(model), "  ", model->roles[i].name, &model->roles[i]);
}

/* Clocks of machines cannot be compared: each has its own wall. */
static void print_machines(const struct bp_page *page, const struct bp_model *model) {
    bp_columns_title(page, "Machines", columns_of(model));
    for (uint32_t i = 0; i < model->machine_count; i++) {
        const struct bp_machine *machine = &model->machines[i];
        char *label = bp_make_text("%s, %s", machine->host[0] ? machine->host : "(unknown)",
                                   BP_TIME(page, machine->end_s - machine->start_s));
        struct bp_role row = {.processes = machine->processes,
                              .thread_s = machine->thread_s,
                              .wall_s = machine->wall_s,
                              .idle_s = machine->idle_s};
        memcpy(row.category_s, machine->category_s, sizeof(row.category_s));
        bp_columns_row(page, columns_of(model), "  ", label, &row);
        free(label);
    }
}

static void print_ranks(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        if (process->rank < 0)
            continue;
        if (count++ == 0)
            bp_columns_title(page, "Ranks", columns_of(model));
        char *label =
            bp_make_text("%d: %d, %s", process->rank, process->profile->header.pid, process->role);
        struct bp_role row = {.processes = 1,
                              .thread_s = process->thread_s,
                              .wall_s = process->wall_s,
                              .idle_s = process->idle_s};
        memcpy(row.category_s, process->category_s, sizeof(row.category_s));
        bp_columns_row(page, columns_of(model), "  ", label, &row);
        free(label);
    }
}

void bp_report_roles(const struct bp_page *page, const struct bp_model *model) {
    if (model->role_count > 1)
        print_roles(page, model);
    print_ranks(page, model);
    if (model->machine_count > 1)
        print_machines(page, model);
}

static void set_sums(json_t *object, uint32_t processes, uint32_t threads, double thread_s,
                     double wall_s, const double *category_s) {
    json_t *categories = json_object();
    bp_json_set_count(object, "processes", processes);
    bp_json_set_count(object, "threads", threads);
    bp_json_set(object, "threads_lifetime_s", thread_s);
    bp_json_set(object, "wall_s", wall_s);
    for (int i = 0; i < BP_CATEGORIES; i++)
        bp_json_set(categories, bp_category_name((enum bp_category)i), category_s[i]);
    json_object_set_new(object, "thread_s", categories);
}

void bp_report_json_roles(json_t *root, const struct bp_model *model) {
    json_t *roles = json_array();
    json_t *machines = json_array();
    for (uint32_t i = 0; i < model->role_count; i++) {
        const struct bp_role *role = &model->roles[i];
        json_t *object = json_object();
        bp_json_set_text(object, "role", role->name);
        set_sums(object, role->processes, role->threads, role->thread_s, role->wall_s,
                 role->category_s);
        bp_json_set(object, "lifetime_s", role->lifetime_s);
        bp_json_set(object, "waiting_s", role->waiting_s);
        bp_json_set(object, "idle_s", role->idle_s);
        json_array_append_new(roles, object);
    }
    for (uint32_t i = 0; i < model->machine_count; i++) {
        const struct bp_machine *machine = &model->machines[i];
        json_t *object = json_object();
        bp_json_set_text(object, "host", machine->host);
        set_sums(object, machine->processes, machine->threads, machine->thread_s, machine->wall_s,
                 machine->category_s);
        bp_json_set(object, "start", machine->start_s);
        bp_json_set(object, "idle_s", machine->idle_s);
        bp_json_set(object, "span_s", machine->end_s - machine->start_s);
        json_array_append_new(machines, object);
    }
    json_object_set_new(root, "roles", roles);
    json_object_set_new(root, "machines", machines);
}
