/* SPDX-License-Identifier: MIT
 *
 * --scale and --budget: what a run of more tasks would take, and how many fit into a time, now and
 * after each change that the report proposes.
 */
#include "tools/render/text/projection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/priority.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"

#define ADVICE_ROWS 3
#define CANDIDATE_ROWS 3

static void long_time(const struct bp_page *page, double s, char text[32]) {
    if (s >= 7200)
        snprintf(text, 32, "%.2f h", s / 3600);
    else if (s >= 120)
        snprintf(text, 32, "%.1f min", s / 60);
    else
        bp_page_time(page, s, text);
}

static const char *cell_time(const struct bp_page *page, const void *value, char text[64]) {
    long_time(page, *(const double *)value, text);
    return text;
}

/* A time now and at the other scale. */
struct row {
    double now_s;
    double then_s;
};

static const struct bp_column columns[] = {
    BP_LABEL(40),
    BP_COLUMN("", 12, cell_time, struct row, now_s),
    BP_COLUMN("", 14, cell_time, struct row, then_s),
    BP_LAST_COLUMN,
};

static void print_row(const struct bp_page *page, const char *label, double now_s, double then_s) {
    bp_columns_row(page, columns, "  ", label, &(struct row){now_s, then_s});
}

static void detail(const struct bp_page *page, const char *label, double s) {
    if (fabs(s) >= 0.5e-6)
        bp_columns_row(page, columns, "    ", label, &(struct row){s, s});
}

static bool grows(const struct bp_report_settings *settings, const char *name) {
    for (size_t i = 0; i < settings->grows.count; i++)
        if (strcmp(settings->grows.word[i], name) == 0)
            return true;
    return false;
}

double bp_phase_scaled(const struct bp_model_phase *phase, const struct bp_projection *projection,
                       const struct bp_report_settings *settings) {
    double times = (double)settings->scale / projection->from;
    double outside_s = bp_phase_outside(phase);
    double inside_s = bp_phase_wall(phase) - outside_s;
    double between_s = outside_s * phase->between;
    bool all = grows(settings, phase->name) && !bp_phase_recurs(phase);
    if (all)
        return (inside_s + outside_s) * times;
    return inside_s * times + between_s * bp_projection_gaps(projection, settings->scale) +
           outside_s - between_s;
}

/* Phases that have a hundredth of the wall or more; what is in tasks or between them grows with
 * them. */
static void print_phases(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings,
                         const struct bp_projection *projection) {
    for (uint32_t i = 0; i < model->phase_count; i++) {
        const struct bp_model_phase *phase = &model->phases[i];
        if (!(bp_phase_wall(phase) > 0.01 * model->wall.total_s))
            continue;
        char *label = bp_make_text("phase %s", phase->name);
        print_row(page, label, bp_phase_wall(phase), bp_phase_scaled(phase, projection, settings));
        free(label);
    }
}

static void print_once(const struct bp_page *page, const struct bp_projection *projection) {
    print_row(page, "paid once", projection->once_s, projection->once_s);
    detail(page, "before the first task", projection->before_s);
    detail(page, "after the last one", projection->after_s);
    detail(page, "first tasks, longer than the others", projection->warm_s);
    detail(page, "uneven start and end of workers", projection->uneven_s);
}

static void print_category(const struct bp_page *page, const char *name, double now_s,
                           double wall_s, double then_s, double scaled_s) {
    struct {
        const char *now;
        double then_s;
        const char *then;
    } row = {BP_SHARE(now_s, wall_s), then_s, BP_SHARE(then_s, scaled_s)};
    const struct bp_column shares[] = {
        BP_LABEL(40),
        BP_COLUMN("", 12, bp_cell_text, __typeof__(row), now),
        BP_COLUMN("", 14, cell_time, __typeof__(row), then_s),
        BP_COLUMN("", 12, bp_cell_text, __typeof__(row), then),
        BP_LAST_COLUMN,
    };
    bp_columns_row(page, shares, "  ", name, &row);
}

static void print_scaled(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_projection *projection, const struct bp_scaled *scaled) {
    char each[32];
    char label[80];
    char low[32];
    char high[32];
    bp_page_time(page, bp_projection_step(projection), each);
    snprintf(label, sizeof(label),
             projection->by_workers   ? "tasks, %s each (%u workers)"
             : projection->places > 1 ? "tasks, %s each (%u at once)"
                                      : "tasks, %s each",
             each, projection->places);
    print_row(page, label, model->wall.total_s - projection->once_s,
              scaled->wall_s - projection->once_s);
    print_row(page, "wall", model->wall.total_s, scaled->wall_s);
    long_time(page, scaled->low_s, low);
    long_time(page, scaled->high_s, high);
    if (scaled->tasks != projection->from)
        fprintf(page->out, "    19 of 20 such runs: %s to %s, if the other tasks are like these\n",
                low, high);
    print_category(page, "DSL", model->wall.category_s[BP_DSL], model->wall.total_s,
                   scaled->category_s[BP_DSL], scaled->wall_s);
    print_category(page, "framework", model->wall.category_s[BP_FRAMEWORK], model->wall.total_s,
                   scaled->category_s[BP_FRAMEWORK], scaled->wall_s);
    print_category(page, "transfer", model->wall.category_s[BP_TRANSFER], model->wall.total_s,
                   scaled->category_s[BP_TRANSFER], scaled->wall_s);
    print_category(page, "overhead", model->wall.overhead_s, model->wall.total_s,
                   scaled->overhead_s, scaled->wall_s);
}

/* Where tasks differ by factors the longest decide, and a few tasks may hold none of those. */
static void print_uneven(const struct bp_page *page, const struct bp_projection *projection,
                         const struct bp_scaled *scaled) {
    if (scaled->tasks <= projection->from || !bp_projection_uneven(projection))
        return;
    bp_page_say(page, 4,
                "  tasks differ by %.0f %% of their mean: the interval allows for longer ones than "
                "these %u; more tasks would make it narrower",
                100 * projection->deviation_s / projection->task_s, projection->from);
}

static void print_drift(const struct bp_page *page, const struct bp_projection *projection) {
    if (!projection->drifts)
        return;
    bp_page_say(
        page, 4,
        "  tasks became %s %s from the first to the last: if that goes on, the projection is "
        "too %s",
        BP_TIME(page, fabs(projection->drift_s)), projection->drift_s > 0 ? "longer" : "shorter",
        projection->drift_s > 0 ? "low" : "high");
}

void bp_report_projection(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings) {
    struct bp_projection projection;
    char now[40];
    char then[40];
    if (settings->scale == 0)
        return;
    bool known = bp_projection_init(&projection, model, &settings->grows);
    if (!known) {
        fputc('\n', page->out);
        bp_page_heading(page, "Projection");
        fprintf(page->out, "\n  needs %u tasks or more, this run has %u\n", BP_PROJECTION_FEWEST,
                projection.from);
        bp_projection_fini(&projection);
        return;
    }
    struct bp_scaled scaled = bp_projection_at(&projection, settings->scale);
    snprintf(now, sizeof(now), "%s tasks", BP_COUNT(projection.from));
    snprintf(then, sizeof(then), "%s tasks", BP_COUNT(settings->scale));
    const struct bp_column heads[] = {BP_LABEL(40), BP_HEAD(now, 12), BP_HEAD(then, 14),
                                      BP_LAST_COLUMN};
    bp_columns_title(page, "Projection", heads);
    print_once(page, &projection);
    print_scaled(page, model, &projection, &scaled);
    print_phases(page, model, settings, &projection);
    print_uneven(page, &projection, &scaled);
    print_drift(page, &projection);
    bp_projection_fini(&projection);
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
    fresh->runs = fresh->run_s > 0 ? bp_whole(budget->s / fresh->run_s) : 0;
}

/* With the smaller of the speed-ups, as in the verdict. */
static void add_candidates(struct bp_budget *budget, const struct bp_model *model,
                           const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    for (uint32_t i = 0; i < priorities->candidate_count && i < CANDIDATE_ROWS; i++) {
        const struct bp_candidate *candidate = &priorities->candidates[i];
        const struct bp_function *function = &model->functions[candidate->function];
        add(budget, bp_make_text("%s %.0f times as fast", function->name, candidate->factor[0]),
            function->wall_s * (1 - 1 / candidate->factor[0]), bp_function_in_tasks(function));
    }
    bp_priorities_free(priorities);
}

static void add_advice(struct bp_budget *budget, const struct bp_analysis *analysis) {
    uint32_t rows = 0;
    for (uint32_t i = 0; i < analysis->advice_count && rows < ADVICE_ROWS; i++) {
        const struct bp_advice *advice = &analysis->advice[i];
        if (!(advice->saves_s > 0))
            continue;
        add(budget, bp_copy_text(advice->what), advice->saves_s, advice->in_tasks);
        rows++;
    }
}

void bp_budget_init(struct bp_budget *budget, const struct bp_analysis *analysis,
                    const struct bp_report_settings *settings) {
    const struct bp_model *model = analysis->model;
    *budget = (struct bp_budget){.s = settings->budget_s, .run_s = model->wall.total_s};
    budget->known = bp_projection_init(&budget->projection, model, &settings->grows);
    budget->tasks = settings->scale ? settings->scale : budget->projection.from;
    if (budget->known)
        budget->run_s = bp_projection_at(&budget->projection, budget->tasks).wall_s;
    add(budget, bp_copy_text("as it is"), 0, 0);
    add_advice(budget, analysis);
    if (bp_model_used_cuda(model))
        add_candidates(budget, model, settings);
}

void bp_budget_fini(struct bp_budget *budget) {
    for (uint32_t i = 0; i < budget->count; i++)
        free(budget->rows[i].what);
    free(budget->rows);
    bp_projection_fini(&budget->projection);
}

static const struct bp_column budget_columns[] = {
    BP_LABEL(38),
    BP_COLUMN("a run", 10, cell_time, struct bp_budget_row, run_s),
    BP_COLUMN("runs", 12, bp_cell_count, struct bp_budget_row, runs),
    BP_HEAD("or tasks in one", 19),
    BP_LAST_COLUMN,
};

/* A label that is too long has lines of its own. */
static void print_budget_row(const struct bp_page *page, const struct bp_budget_row *row) {
    bool fits = bp_page_columns(row->what) <= budget_columns[0].width - 2;
    if (!fits)
        bp_page_say(page, 4, "  %s", row->what);
    bp_columns_begin(page, budget_columns, "  ", fits ? row->what : "", row);
    if (row->tasks)
        bp_page_right(page, BP_COUNT(row->tasks), 19);
    fputc('\n', page->out);
}

void bp_report_budget(const struct bp_page *page, const struct bp_analysis *analysis,
                      const struct bp_report_settings *settings) {
    struct bp_budget budget;
    char text[32];
    char title[80];
    if (!(settings->budget_s > 0))
        return;
    bp_budget_init(&budget, analysis, settings);
    long_time(page, budget.s, text);
    snprintf(title, sizeof(title), "Budget %s", text);
    bp_columns_title(page, title, budget_columns);
    for (uint32_t i = 0; i < budget.count; i++)
        print_budget_row(page, &budget.rows[i]);
    bp_budget_fini(&budget);
}
