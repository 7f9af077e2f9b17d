/* SPDX-License-Identifier: MIT
 *
 * --scale and --budget: what a run of more tasks would take, and how many fit into a time, now and
 * after each change that the report proposes.
 */
#include "tools/report_projection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/priority.h"
#include "tools/text.h"

#define ADVICE_ROWS 3
#define CANDIDATE_ROWS 3
#define BUDGET_LABEL 36

static void long_time(const struct bp_page *page, double s, char text[32]) {
    if (s >= 7200)
        snprintf(text, 32, "%.2f h", s / 3600);
    else if (s >= 120)
        snprintf(text, 32, "%.1f min", s / 60);
    else
        bp_page_time(page, s, text);
}

static void cell(const struct bp_page *page, double s, int width) {
    char text[32];
    long_time(page, s, text);
    bp_page_right(page, text, width);
}

static void row(const struct bp_page *page, const char *label, double now_s, double then_s) {
    fputs("  ", page->out);
    bp_page_left(page, label, 38);
    cell(page, now_s, 12);
    cell(page, then_s, 14);
    fputc('\n', page->out);
}

static void detail(const struct bp_page *page, const char *label, double s) {
    if (!(fabs(s) >= 0.5e-6))
        return;
    fputs("    ", page->out);
    bp_page_left(page, label, 36);
    cell(page, s, 12);
    cell(page, s, 14);
    fputc('\n', page->out);
}

static bool grows(const struct bp_report_settings *settings, const char *name) {
    for (size_t i = 0; i < settings->grows.count; i++)
        if (strcmp(settings->grows.word[i], name) == 0)
            return true;
    return false;
}

/* Phases in which no task runs say what is paid before and after them; which of both, nobody has
 * recorded. */
static void print_phases(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    for (uint32_t i = 0; i < model->phase_count; i++) {
        const struct bp_model_phase *phase = &model->phases[i];
        char text[32];
        if (phase->tasks || !(phase->wall_s > 0.01 * model->wall_s))
            continue;
        fprintf(page->out, "    in them, phase %.30s: %s%s\n", phase->name,
                bp_page_time(page, phase->wall_s, text),
                grows(settings, phase->name) ? ", grows with the tasks" : "");
    }
}

static void print_once(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings,
                       const struct bp_projection *projection) {
    row(page, "paid once", projection->once_s, projection->once_s);
    detail(page, "before the first task", projection->before_s);
    detail(page, "after the last one", projection->after_s);
    detail(page, "first tasks, longer than the others", projection->warm_s);
    detail(page, "uneven start and end of workers", projection->uneven_s);
    print_phases(page, model, settings);
}

static void print_category(const struct bp_page *page, const char *name, double now_s,
                           double wall_s, double then_s, double scaled_s) {
    char text[32];
    fputs("  ", page->out);
    bp_page_left(page, name, 38);
    bp_page_right(page, bp_page_share(now_s, wall_s, text), 12);
    cell(page, then_s, 14);
    bp_page_right(page, bp_page_share(then_s, scaled_s, text), 12);
    fputc('\n', page->out);
}

static void print_scaled(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_projection *projection, const struct bp_scaled *scaled) {
    char each[32];
    char label[80];
    char low[32];
    char high[32];
    bp_page_time(page, bp_projection_step(projection), each);
    snprintf(label, sizeof(label),
             projection->places > 1 ? "tasks, %s each (%u at once)" : "tasks, %s each", each,
             projection->places);
    row(page, label, model->wall_s - projection->once_s, scaled->wall_s - projection->once_s);
    row(page, "wall", model->wall_s, scaled->wall_s);
    long_time(page, scaled->low_s, low);
    long_time(page, scaled->high_s, high);
    if (scaled->tasks != projection->from)
        fprintf(page->out, "    95 %% interval: %s to %s, if the other tasks are like these\n", low,
                high);
    print_category(page, "DSL", model->category_s[BP_DSL], model->wall_s,
                   scaled->category_s[BP_DSL], scaled->wall_s);
    print_category(page, "framework", model->category_s[BP_FRAMEWORK], model->wall_s,
                   scaled->category_s[BP_FRAMEWORK], scaled->wall_s);
    print_category(page, "transfer", model->category_s[BP_TRANSFER], model->wall_s,
                   scaled->category_s[BP_TRANSFER], scaled->wall_s);
    print_category(page, "profiler", model->overhead_wall_s, model->wall_s, scaled->profiler_s,
                   scaled->wall_s);
}

/* Of tasks that differ by factors the longest decide, and a few may hold none of them. */
static void print_uneven(const struct bp_page *page, const struct bp_projection *projection,
                         const struct bp_scaled *scaled) {
    char line[200];
    if (scaled->tasks <= projection->from || !bp_projection_uneven(projection))
        return;
    snprintf(line, sizeof(line),
             "  tasks differ by %.0f %% of their mean: a rare long one that is not among these %u "
             "would make it longer, beyond the interval; project from more tasks",
             100 * projection->deviation_s / projection->task_s, projection->from);
    bp_page_wrap(page, line, 4);
}

static void print_drift(const struct bp_page *page, const struct bp_projection *projection) {
    char line[200];
    char text[32];
    if (!projection->drifts)
        return;
    snprintf(line, sizeof(line),
             "  tasks became %s %s from the first to the last: if that goes on, the projection is "
             "too %s",
             bp_page_time(page, fabs(projection->drift_s), text),
             projection->drift_s > 0 ? "longer" : "shorter",
             projection->drift_s > 0 ? "low" : "high");
    bp_page_wrap(page, line, 4);
}

void bp_report_projection(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings) {
    struct bp_projection projection;
    char now[40];
    char then[40];
    char text[32];
    bool known = bp_projection_init(&projection, model, &settings->grows);
    if (settings->scale == 0)
        return;
    fputc('\n', page->out);
    bp_page_heading(page, "Projection");
    if (!known) {
        fprintf(page->out, "\n  needs %u tasks or more, this run has %u\n", BP_PROJECTION_FEWEST,
                projection.from);
        return;
    }
    struct bp_scaled scaled = bp_projection_at(&projection, settings->scale);
    snprintf(now, sizeof(now), "%s tasks", bp_page_count(projection.from, text));
    bp_page_right(page, now, 42);
    snprintf(then, sizeof(then), "%s tasks", bp_page_count(settings->scale, text));
    bp_page_right(page, then, 14);
    fputc('\n', page->out);
    print_once(page, model, settings, &projection);
    print_scaled(page, model, &projection, &scaled);
    print_uneven(page, &projection, &scaled);
    print_drift(page, &projection);
}

/* `saved_s` of this run's wall, `in_tasks` of it by its tasks. */
static void add(struct bp_budget *budget, char *what, double saved_s, double in_tasks) {
    struct bp_saving saving = {.once_s = saved_s};
    struct bp_budget_row *fresh = BP_APPEND(budget->rows, budget->count);
    if (budget->known) {
        saving = bp_projection_saving(&budget->projection, saved_s, in_tasks);
        fresh->tasks = bp_projection_fit(&budget->projection, budget->s, &saving);
    }
    fresh->what = what;
    fresh->run_s = fmax(budget->run_s - saving.once_s - saving.step_s * (double)budget->tasks, 0);
    fresh->runs = fresh->run_s > 0 ? (uint64_t)(budget->s / fresh->run_s) : 0;
}

/* With the smaller of the speed-ups, as in the verdict. */
static void add_candidates(struct bp_budget *budget, const struct bp_model *model,
                           const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    for (uint32_t i = 0; i < priorities->candidate_count && i < CANDIDATE_ROWS; i++) {
        const struct bp_candidate *candidate = &priorities->candidates[i];
        const struct bp_function *function = &model->functions[candidate->function];
        add(budget, bp_make_text("%.200s %.0f times as fast", function->name, candidate->factor[0]),
            function->wall_s * (1 - 1 / candidate->factor[0]), bp_function_in_tasks(function));
    }
    bp_priorities_free(priorities);
}

static void add_advice(struct bp_budget *budget, const struct bp_model *model) {
    uint32_t rows = 0;
    for (uint32_t i = 0; i < model->advice_count && rows < ADVICE_ROWS; i++) {
        const struct bp_advice *advice = &model->advice[i];
        if (!(advice->saves_s > 0))
            continue;
        add(budget, bp_copy_text(advice->what), advice->saves_s, advice->in_tasks);
        rows++;
    }
}

void bp_budget_init(struct bp_budget *budget, const struct bp_model *model,
                    const struct bp_report_settings *settings) {
    *budget = (struct bp_budget){.s = settings->budget_s, .run_s = model->wall_s};
    budget->known = bp_projection_init(&budget->projection, model, &settings->grows);
    budget->tasks = settings->scale ? settings->scale : budget->projection.from;
    if (budget->known)
        budget->run_s = bp_projection_at(&budget->projection, budget->tasks).wall_s;
    add(budget, bp_copy_text("as it is"), 0, 0);
    add_advice(budget, model);
    add_candidates(budget, model, settings);
}

void bp_budget_fini(struct bp_budget *budget) {
    for (uint32_t i = 0; i < budget->count; i++)
        free(budget->rows[i].what);
    free(budget->rows);
}

/* A label that is too long has lines of its own. */
static void print_budget_label(const struct bp_page *page, const char *what) {
    char line[600];
    bool fits = bp_page_columns(what) <= BUDGET_LABEL;
    snprintf(line, sizeof(line), "  %s", what);
    if (!fits)
        bp_page_wrap(page, line, 4);
    fputs("  ", page->out);
    bp_page_left(page, fits ? what : "", BUDGET_LABEL);
}

void bp_report_budget(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    struct bp_budget budget;
    char text[32];
    char title[80];
    if (!(settings->budget_s > 0))
        return;
    bp_budget_init(&budget, model, settings);
    long_time(page, budget.s, text);
    snprintf(title, sizeof(title), "Budget %s", text);
    bp_page_title(page, title, 38,
                  BP_COLUMNS({"a run", 10}, {"runs", 12}, {"or tasks in one", 19}));
    for (uint32_t i = 0; i < budget.count; i++) {
        print_budget_label(page, budget.rows[i].what);
        cell(page, budget.rows[i].run_s, 10);
        bp_page_right(page, bp_page_count(budget.rows[i].runs, text), 12);
        if (budget.known && budget.rows[i].tasks)
            bp_page_right(page, bp_page_count(budget.rows[i].tasks, text), 19);
        fputc('\n', page->out);
    }
    bp_budget_fini(&budget);
}
