/* SPDX-License-Identifier: MIT
 *
 * Processes by role and machines, below the table of processes; each where there is more than one.
 */
#include "tools/json.h"
#include "tools/report_internal.h"
#include "tools/report_json.h"

static void cells(const struct bp_page *page, const struct bp_model *model, uint32_t processes,
                  double thread_s, const double *category_s, double wall_s) {
    char text[32];
    bp_page_right(page, bp_page_count(processes, text), 11);
    bp_page_right(page, bp_page_time(page, thread_s, text), 12);
    bp_page_right(page, bp_page_time(page, category_s[BP_DSL], text), 10);
    bp_page_right(page, bp_page_time(page, category_s[BP_FRAMEWORK], text), 10);
    bp_page_right(page, bp_page_share(wall_s, model->wall_s, text), 9);
    fputc('\n', page->out);
}

static void heading(const struct bp_page *page, const char *title) {
    bp_page_title(page, title, 29,
                  BP_COLUMNS({"processes", 10}, {"thread time", 12}, {"DSL", 10}, {"framew.", 10},
                             {"of wall", 9}));
}

static void print_roles(const struct bp_page *page, const struct bp_model *model) {
    heading(page, "Roles");
    for (uint32_t i = 0; i < model->role_count; i++) {
        const struct bp_role *role = &model->roles[i];
        fputs("  ", page->out);
        bp_page_left(page, role->name, 26);
        cells(page, model, role->processes, role->thread_s, role->category_s,
              role->wall_s + role->idle_s);
    }
}

/* Clocks of machines cannot be compared: each has its own wall. */
static void print_machines(const struct bp_page *page, const struct bp_model *model) {
    heading(page, "Machines");
    for (uint32_t i = 0; i < model->machine_count; i++) {
        const struct bp_machine *machine = &model->machines[i];
        char label[160];
        char text[32];
        snprintf(label, sizeof(label), "%s, %s", machine->host[0] ? machine->host : "(unknown)",
                 bp_page_time(page, machine->end_s - machine->start_s, text));
        fputs("  ", page->out);
        bp_page_left(page, label, 26);
        cells(page, model, machine->processes, machine->thread_s, machine->category_s,
              machine->wall_s + machine->idle_s);
    }
}

static void print_ranks(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *process = &model->processes[i];
        char label[64];
        if (process->rank < 0)
            continue;
        if (count++ == 0)
            heading(page, "Ranks");
        snprintf(label, sizeof(label), "%d: %d, %.30s", process->rank, process->profile->header.pid,
                 process->role);
        fputs("  ", page->out);
        bp_page_left(page, label, 26);
        cells(page, model, 1, process->thread_s, process->category_s,
              process->wall_s + process->idle_s);
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
