/* SPDX-License-Identifier: MIT
 *
 * Tasks that stand out, and why: the functions and phases in which they spent most beyond what the
 * median task spends there.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/report_internal.h"
#include "tools/report_task.h"

#define FUNCTIONS 3
/* A phase that takes this many times what it usually does causes the slowness. */
#define SLOW_PHASE 2.0

static void print_functions(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_task_typical *typical,
                            const struct bp_model_task *task) {
    struct bp_task_function *rows = bp_task_excess(model, typical, task);
    for (uint32_t i = 0; i < task->function_count && i < FUNCTIONS; i++) {
        const struct bp_function *function = &model->functions[rows[i].function];
        double usual_s = typical->function_s[rows[i].function];
        char name[300];
        char label[340];
        char text[32];
        if (!(rows[i].self_s - usual_s > 0.05 * task->duration_s))
            break;
        snprintf(label, sizeof(label), "%s",
                 function->kind == BP_FUNC_ROOT ? "own code"
                                                : bp_report_name(function, name, sizeof(name)));
        fputs("    ", page->out);
        bp_page_left(page, label, 30);
        bp_page_right(page, bp_page_count(rows[i].calls, text), 12);
        fputs(rows[i].calls == 1 ? " call " : " calls", page->out);
        bp_page_right(page, bp_page_time(page, rows[i].self_s, text), 10);
        fputs("  usually", page->out);
        bp_page_right(page, bp_page_time(page, usual_s, text), 9);
        fputc('\n', page->out);
    }
    free(rows);
}

static void print_phases(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_task_typical *typical, const struct bp_model_task *task) {
    for (uint32_t i = 0; i < task->phase_count; i++) {
        const struct bp_task_phase *part = &model->task_phases[task->first_phase + i];
        double usual_s = typical->phase_s[part->phase];
        char text[32];
        char ratio[32] = "new";
        if (part->s <= SLOW_PHASE * usual_s || part->s - usual_s < 0.05 * task->duration_s)
            continue;
        if (usual_s > 0)
            snprintf(ratio, sizeof(ratio), "%.3g x", part->s / usual_s);
        fputs("    phase ", page->out);
        bp_page_left(page, model->phases[part->phase].name, 24);
        bp_page_right(page, ratio, 12);
        fputs("      ", page->out);
        bp_page_right(page, bp_page_time(page, part->s, text), 10);
        fputs("  usually", page->out);
        bp_page_right(page, bp_page_time(page, usual_s, text), 9);
        fputc('\n', page->out);
    }
}

/* Nobody can tell from outside whether others had the CPU, or it blocked where we do not look. */
static void print_stolen(const struct bp_page *page, const struct bp_model_task *task) {
    double stolen_s = task->duration_s - task->cpu_s - task->waiting_s - task->io_s;
    char text[32];
    if (task->cpu_s > 0 && task->category_s[BP_TRANSFER] == 0 &&
        stolen_s > 0.3 * task->duration_s + BP_TASK_TICK_S)
        fprintf(page->out, "    had no CPU, or was blocked, for %s\n",
                bp_page_time(page, stolen_s, text));
}

static void print_outlier(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_task_typical *typical, const struct bp_model_task *task) {
    char label[300];
    char text[32];
    char share[32];
    fputs("  ", page->out);
    bp_page_left(page, bp_task_label(task, label, sizeof(label)), 32);
    fprintf(page->out, "%s, %.3g x the median, %s of the wall\n",
            bp_page_time(page, task->duration_s, text),
            task->duration_s / model->task_summary.median_s,
            bp_page_share(bp_task_cost(task), model->wall_s, share));
    print_functions(page, model, typical, task);
    print_phases(page, model, typical, task);
    print_stolen(page, task);
}

static void print_title(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_task_summary *summary = &model->task_summary;
    char limit[32];
    char share[32];
    fputc('\n', page->out);
    bp_page_heading(page, "Outliers");
    if (!isfinite(summary->outlier_limit_s))
        fputs("  too few tasks to tell\n", page->out);
    else if (summary->outliers == 0)
        fprintf(page->out, "  none beyond %s (median + %g MADs, log scale)\n",
                bp_page_time(page, summary->outlier_limit_s, limit), summary->outlier_k);
    else
        fprintf(page->out, "  %u beyond %s (median + %g MADs, log scale), %s of the wall\n",
                summary->outliers, bp_page_time(page, summary->outlier_limit_s, limit),
                summary->outlier_k, bp_page_share(summary->outlier_wall_s, model->wall_s, share));
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
        if (!model->tasks[order[i]].outlier)
            continue;
        print_outlier(page, model, &typical, &model->tasks[order[i]]);
        shown++;
    }
    if (shown < model->task_summary.outliers)
        fprintf(page->out, "  and %u more: --top %u\n", model->task_summary.outliers - shown,
                model->task_summary.outliers);
    bp_task_typical_fini(&typical);
    free(order);
}
