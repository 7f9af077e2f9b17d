/* SPDX-License-Identifier: MIT
 *
 * Processes by role and machines, below the table of processes; each where there is more than one.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/json.h"
#include "tools/base/memory.h"
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

/* A rank or a machine. */
struct line {
    char *label;
    uint32_t order; /* of equals */
    struct bp_role row;
};

static double line_wall(const struct line *line) {
    return line->row.wall_s + line->row.idle_s;
}

static int compare_line(const void *a, const void *b) {
    const struct line *x = a;
    const struct line *y = b;
    if (line_wall(x) != line_wall(y))
        return line_wall(x) > line_wall(y) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The one that all others wait for is the first. The lines are gone then. */
static void print_lines(const struct bp_page *page, const struct bp_column *columns,
                        const char *title, struct line *lines, uint32_t count, uint32_t top) {
    double hidden_s = 0;
    if (count) {
        qsort(lines, count, sizeof(*lines), compare_line);
        bp_columns_title(page, title, columns);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i < top)
            bp_columns_row(page, columns, "  ", lines[i].label, &lines[i].row);
        else
            hidden_s += line_wall(&lines[i]);
        free(lines[i].label);
    }
    bp_report_hidden_row(page, count, top, hidden_s);
    free(lines);
}

/* Clocks of machines cannot be compared: each has its own wall. */
static void print_machines(const struct bp_page *page, const struct bp_model *model, uint32_t top) {
    struct line *lines = bp_alloc(model->machine_count + 1, sizeof(*lines));
    for (uint32_t i = 0; i < model->machine_count; i++) {
        const struct bp_machine *machine = &model->machines[i];
        lines[i].order = i;
        lines[i].label = bp_make_text("%s, %s", machine->host[0] ? machine->host : "(unknown)",
                                      BP_TIME(page, machine->end_s - machine->start_s));
        lines[i].row = (struct bp_role){.processes = machine->processes,
                                        .thread_s = machine->thread_s,
                                        .wall_s = machine->wall_s,
                                        .idle_s = machine->idle_s};
        memcpy(lines[i].row.category_s, machine->category_s, sizeof(machine->category_s));
    }
    print_lines(page, columns_of(model), "Machines", lines, model->machine_count, top);
}

static void set_rank(struct line *line, const struct bp_model *model,
                     const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    bool several = model->machine_count > 1;
    line->order = (uint32_t)process->rank;
    line->label = bp_make_text("%d%s%s: %d, %s", process->rank, several ? " on " : "",
                               several ? header->host : "", header->pid, process->role);
    line->row = (struct bp_role){.processes = 1,
                                 .thread_s = process->thread_s,
                                 .wall_s = process->wall_s,
                                 .idle_s = process->idle_s};
    memcpy(line->row.category_s, process->category_s, sizeof(process->category_s));
}

static void print_ranks(const struct bp_page *page, const struct bp_model *model, uint32_t top) {
    struct line *lines = bp_alloc(model->process_count + 1, sizeof(*lines));
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->process_count; i++)
        if (model->processes[i].rank >= 0)
            set_rank(&lines[count++], model, &model->processes[i]);
    print_lines(page, columns_of(model), "Ranks", lines, count, top);
}

void bp_report_roles(const struct bp_page *page, const struct bp_model *model, uint32_t top) {
    if (model->role_count > 1)
        print_roles(page, model);
    print_ranks(page, model, top);
    if (model->machine_count > 1)
        print_machines(page, model, top);
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
