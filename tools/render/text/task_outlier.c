/* SPDX-License-Identifier: MIT
 *
 * Tasks that stand out, and why: the functions and phases in which they spent most beyond what the
 * median task spends there.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/text.h"
#include "tools/model/task/typical.h"
#include "tools/render/text/internal.h"
#include "tools/render/text/task.h"

#define FUNCTIONS 3
/* A phase that takes this many times what it usually does causes the slowness. */
#define SLOW_PHASE 2.0

struct row {
    const char *how_often; /* calls, or how many times what is usual */
    double s;
    double usual_s;
};

static const struct bp_column columns[] = {
    BP_LABEL(34),
    BP_COLUMN("", 18, bp_cell_text, struct row, how_often),
    BP_COLUMN("", 10, bp_cell_time, struct row, s),
    BP_LAST_COLUMN,
};

static void print_row(const struct bp_page *page, const char *label, const struct row *row) {
    bp_columns_begin(page, columns, "    ", label, row);
    fputs("  usually", page->out);
    bp_page_right(page, BP_TIME(page, row->usual_s), 9);
    fputc('\n', page->out);
}

static void print_functions(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_task_typical *typical,
                            const struct bp_model_task *task) {
    struct bp_task_function *rows = bp_task_excess(model, typical, task);
    for (uint32_t i = 0; i < task->function_count && i < FUNCTIONS; i++) {
        double usual_s = typical->function_s[rows[i].function];
        char calls[48];
        if (!(rows[i].self_s - usual_s > 0.05 * task->duration_s))
            break;
        snprintf(calls, sizeof(calls), "%s call%s", BP_COUNT(rows[i].calls),
                 rows[i].calls == 1 ? " " : "s");
        struct row row = {calls, rows[i].self_s, usual_s};
        print_row(page, bp_function_part_label(&model->functions[rows[i].function]), &row);
    }
    free(rows);
}

static void print_phases(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_task_typical *typical, const struct bp_model_task *task) {
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *part = &model->tasks.phases[task->first_phase + i];
        double usual_s = typical->phase_s[part->phase];
        char ratio[48] = "new      ";
        if (part->s <= SLOW_PHASE * usual_s || part->s - usual_s < 0.05 * task->duration_s)
            continue;
        if (usual_s > 0)
            snprintf(ratio, sizeof(ratio), "%s x      ", BP_RATIO(part->s / usual_s));
        struct row row = {ratio, part->s, usual_s};
        char *label = bp_make_text("phase %s", model->phases[part->phase].name);
        print_row(page, label, &row);
        free(label);
    }
}

/* From outside it is unknown whether others had the CPU, or it blocked where we do not look. */
static void print_stolen(const struct bp_page *page, const struct bp_model_task *task) {
    double stolen_s = task->duration_s + task->inner_s - task->cpu_s - task->waiting_s - task->io_s;
    if (task->cpu_s > 0 && task->category_s[BP_TRANSFER] == 0 &&
        stolen_s > 0.3 * task->duration_s + BP_TASK_TICK_S)
        fprintf(page->out, "    had no CPU, or was blocked, for %s\n", BP_TIME(page, stolen_s));
}

static void print_outlier(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_task_typical *typical, const struct bp_model_task *task) {
    char *label = bp_task_label(task);
    fputs("  ", page->out);
    bp_page_left(page, label, 32);
    free(label);
    fprintf(page->out, "%s, %s x the median, %s of the wall\n", BP_TIME(page, task->duration_s),
            BP_RATIO(task->duration_s / model->tasks.summary.median_s),
            BP_SHARE(bp_task_cost(task), model->wall.total_s));
    print_functions(page, model, typical, task);
    print_phases(page, model, typical, task);
    print_stolen(page, task);
}

static void print_title(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->tasks.summary;
    fputc('\n', page->out);
    bp_page_heading(page, "Outliers");
    if (!isfinite(summary->outlier_limit_s))
        fputs("  too few tasks to tell\n", page->out);
    else if (summary->outliers == 0)
        fprintf(page->out, "  none beyond %s (median + %g MADs, log scale)\n",
                BP_TIME(page, summary->outlier_limit_s), summary->outlier_k);
    else
        fprintf(page->out, "  %u beyond %s (median + %g MADs, log scale), %s of the wall\n",
                summary->outliers, BP_TIME(page, summary->outlier_limit_s), summary->outlier_k,
                BP_SHARE(summary->outlier_wall_s, model->wall.total_s));
}

void bp_report_outliers(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_report_settings *settings) {
    struct bp_task_typical typical;
    uint32_t count;
    uint32_t shown = 0;
    uint32_t *order = bp_task_order(model, &count);
    print_title(page, model);
    bp_task_typical_init(&typical, model);
    for (uint32_t i = 0; i < count && shown < settings->top; i++) {
        if (!model->tasks.list[order[i]].outlier)
            continue;
        print_outlier(page, model, &typical, &model->tasks.list[order[i]]);
        shown++;
    }
    bp_columns_more(page, "  ", model->tasks.summary.outliers, shown);
    bp_task_typical_fini(&typical);
    free(order);
}
