/* SPDX-License-Identifier: MIT
 *
 * The report for people: what the run was, the three categories, what the framework did, a table,
 * how much of the library was seen, what the numbers cost and what to know about them.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/report_internal.h"

#define BAR 40
#define MOST_NOTES 12
/* Of the wall: a difference between own cost and its category that is to be seen. */
#define LEAST_BEFORE 0.005

static const char *plural(uint32_t count) {
    return count == 1 ? "" : "s";
}

static void print_status(const struct bp_page *page, const struct bp_model *model) {
    if (model->live)
        fprintf(page->out, "still running");
    else if (model->signal)
        fprintf(page->out, "killed by signal %d (%s)", model->signal, strsignal(model->signal));
    else if (model->exit_status >= 0)
        fprintf(page->out, "exit status %d", model->exit_status);
    else if (model->imported)
        fprintf(page->out, "imported");
    else
        fprintf(page->out, "end not seen");
}

void bp_report_headline(const struct bp_page *page, const struct bp_model *model) {
    char text[32];
    char count[32];
    const char *dot = page->utf8 ? " · " : ", ";
    const char *command = model->command[0] ? model->command : model->path;
    if (bp_page_columns(command) <= BP_PAGE_WIDTH)
        bp_page_heading(page, command);
    else
        bp_page_left(page, command, BP_PAGE_WIDTH);
    fprintf(page->out, "\nwall %s%s%u process%s, ", bp_page_time(page, model->wall_s, text), dot,
            model->pid_count, model->pid_count == 1 ? "" : "es");
    fprintf(page->out, "%s thread%s%s", bp_page_count(model->threads, count),
            plural(model->threads), dot);
    print_status(page, model);
    fputc('\n', page->out);
    bp_report_device_line(page, model);
    fputc('\n', page->out);
}

static void print_category(const struct bp_page *page, const struct bp_model *model,
                           const char *name, double s, int colour) {
    char text[32];
    fputs("  ", page->out);
    bp_page_left(page, name, 11);
    bp_page_bar(page, model->wall_s > 0 ? s / model->wall_s : 0, BAR, colour);
    bp_page_right(page, bp_page_share(s, model->wall_s, text), 10);
    bp_page_right(page, bp_page_time(page, s, text), 11);
    fputc('\n', page->out);
}

static void print_categories(const struct bp_page *page, const struct bp_model *model) {
    print_category(page, model, "DSL", model->category_s[BP_DSL], 32);
    print_category(page, model, "framework", model->category_s[BP_FRAMEWORK], 33);
    print_category(page, model, "transfer", model->category_s[BP_TRANSFER], 35);
    print_category(page, model, "profiler", model->overhead_wall_s, 90);
    if (model->unsplit_s > 0.005 * model->wall_s)
        print_category(page, model, "unknown", model->unsplit_s, 90);
}

static void print_coverage(const struct bp_page *page, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->coverage_count; i++) {
        const struct bp_coverage *coverage = &model->coverage[i];
        char exports[32];
        char hooked[32];
        char called[32];
        fprintf(page->out, "%s%.40s: %s %s functions, %s hooked, %s called%s%s\n",
                i == 0 ? "\n" : "", coverage->library, bp_page_count(coverage->exports, exports),
                coverage->listed ? "watched" : "exported", bp_page_count(coverage->hooked, hooked),
                bp_page_count(coverage->called, called), coverage->reason[0] ? "; " : "",
                coverage->reason);
    }
}

static bool has_sampled(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].kind == BP_PART_SAMPLED)
            return true;
    return false;
}

/* The category has what no thread has, too. */
static void print_cost(const struct bp_page *page, const struct bp_model *model) {
    char cost[32];
    char share[32];
    char time[32];
    char before[80] = "";
    char line[240];
    double before_s = bp_report_cost_before(model);
    if (before_s > LEAST_BEFORE * model->wall_s)
        snprintf(before, sizeof(before), " and %s before the first thread,",
                 bp_page_time(page, before_s, time));
    snprintf(line, sizeof(line), "own cost %s, %s of thread time,%s taken out of the lines above",
             bp_page_time(page, model->overhead_s, cost),
             bp_page_share(model->overhead_s, model->thread_s, share), before);
    bp_page_wrap(page, line, 2);
}

static void print_sums(const struct bp_page *page, const struct bp_model *model) {
    char sum[32];
    char lifetime[32];
    double sum_s = 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        sum_s += model->thread_list[i].sum_s;
    if (model->thread_count == 0)
        return;
    if (model->coverage_count == 0)
        fputc('\n', page->out);
    print_cost(page, model);
    if (model->samples && has_sampled(model))
        fprintf(page->out, "~ exact times, divided by %s samples%s\n",
                bp_page_count(model->samples, sum),
                page->utf8 ? "; ± holds in 95 of 100 cases" : "");
    fprintf(page->out, "self times and own cost sum to %s; lifetimes of threads to %s\n",
            bp_page_time(page, sum_s, sum), bp_page_time(page, model->thread_s, lifetime));
}

void bp_report_notes(const struct bp_page *page, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->note_count && i < MOST_NOTES; i++) {
        char text[1100];
        snprintf(text, sizeof(text), "note: %s", model->notes[i]);
        if (i == 0)
            fputc('\n', page->out);
        bp_page_wrap(page, text, 6);
    }
    if (model->note_count > MOST_NOTES)
        fprintf(page->out, "note: %u more notes: --json\n", model->note_count - MOST_NOTES);
}

static bool is_by(const struct bp_report_settings *settings, const char *word) {
    return strcmp(settings->by, word) == 0;
}

static void print_table(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_report_settings *settings) {
    if (settings->search.count && is_by(settings, "task"))
        bp_report_task_search(page, model, settings);
    else if (settings->search.count && !is_by(settings, "function"))
        bp_report_search(page, model, settings);
    else if (is_by(settings, "candidate"))
        bp_report_candidates(page, model, settings);
    else if (is_by(settings, "kernel"))
        bp_report_by_kernel(page, model, settings);
    else if (is_by(settings, "task"))
        bp_report_tasks(page, model, settings);
    else if (is_by(settings, "phase"))
        bp_report_phases(page, model, settings);
    else if (is_by(settings, "function"))
        bp_report_functions(page, model, settings);
    else
        bp_report_table(page, model, settings);
}

int bp_report_text(const struct bp_model *model, const struct bp_report_settings *settings,
                   FILE *out) {
    struct bp_page page;
    bool overview = is_by(settings, BP_OVERVIEW) && settings->search.count == 0;
    bp_page_init(&page, out);
    bp_report_headline(&page, model);
    if (bp_model_is_lost(model)) {
        bp_page_wrap(&page, model->notes[0], 0);
        fprintf(out, "\nnext: battprof run -o DIR -- COMMAND\n");
        return 0;
    }
    print_categories(&page, model);
    if (overview)
        bp_report_framework(&page, model);
    print_table(&page, model, settings);
    if (overview) {
        bp_report_candidate_line(&page, model, settings);
        bp_report_below_dsl(&page, model);
        bp_report_task_lines(&page, model);
    }
    if (overview || is_by(settings, "transfer")) {
        bp_report_transfers(&page, model, settings);
        bp_report_kernels(&page, model);
    }
    if (overview || (is_by(settings, "transfer") && model->transfer_count))
        bp_report_advice(&page, model, settings);
    bp_report_projection(&page, model, settings);
    bp_report_budget(&page, model, settings);
    print_coverage(&page, model);
    print_sums(&page, model);
    bp_report_in_flight(&page, model);
    bp_report_notes(&page, model);
    bp_report_next(&page, model, settings);
    return 0;
}
