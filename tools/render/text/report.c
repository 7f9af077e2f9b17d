/* SPDX-License-Identifier: MIT
 *
 * The report for people: what the run was, the three categories, what the framework did, a table,
 * how much of the library was seen, what the numbers cost and what to know about them.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/again.h"
#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/render/text/internal.h"

#define BAR 40
#define MOST_NOTES 12
/* Share of the wall from which a difference between overhead and its category is shown. */
#define LEAST_BEFORE 0.005
/* Error of the overhead from which it is shown, as a part of the wall. */
#define LEAST_ERROR 0.0005

static const char *plural(uint32_t count) {
    return count == 1 ? "" : "s";
}

static void print_status(const struct bp_page *page, const struct bp_model *model) {
    if (model->run.live)
        fprintf(page->out, "still running");
    else if (model->run.signal)
        fprintf(page->out, "killed by signal %d (%s)", model->run.signal,
                strsignal(model->run.signal));
    else if (model->run.exit_status >= 0)
        fprintf(page->out, "exit status %d", model->run.exit_status);
    else if (model->run.imported)
        fprintf(page->out, "imported");
    else
        fprintf(page->out, "end not seen");
}

void bp_report_headline(const struct bp_page *page, const struct bp_model *model) {
    const char *dot = page->utf8 ? " · " : ", ";
    const char *command = model->run.command[0] ? model->run.command : model->run.path;
    if (bp_page_columns(command) <= page->width)
        bp_page_heading(page, command);
    else
        bp_page_left(page, command, page->width);
    fprintf(page->out, "\nwall %s%s%u process%s, ", BP_TIME(page, model->wall.total_s), dot,
            model->pid_count, model->pid_count == 1 ? "" : "es");
    fprintf(page->out, "%s thread%s%s", BP_COUNT(model->lived_count), plural(model->lived_count),
            dot);
    print_status(page, model);
    fputc('\n', page->out);
    bp_report_device_line(page, model);
    fputc('\n', page->out);
}

static void print_bar(const struct bp_page *page, const struct bp_model *model, const char *name,
                      double s, int colour) {
    fputs("  ", page->out);
    bp_page_left(page, name, 11);
    bp_page_bar(page, model->wall.total_s > 0 ? s / model->wall.total_s : 0,
                BAR + bp_columns_extra(page), colour);
    bp_page_right(page, BP_SHARE(s, model->wall.total_s), 10);
    bp_page_right(page, BP_TIME(page, s), 11);
}

static void print_category(const struct bp_page *page, const struct bp_model *model,
                           const char *name, double s, int colour) {
    print_bar(page, model, name, s, colour);
    fputc('\n', page->out);
}

/* With its error in points of the wall, where there is one to be seen. */
static void print_overhead(const struct bp_page *page, const struct bp_model *model) {
    double error_s = 0;
    if (model->thread_time.overhead_s > 0)
        error_s = model->thread_time.overhead_error_s * model->wall.overhead_s /
                  model->thread_time.overhead_s;
    print_bar(page, model, "overhead", model->wall.overhead_s, 90);
    if (error_s > LEAST_ERROR * model->wall.total_s)
        fprintf(page->out, " %s%.1f", page->utf8 ? "±" : "+-", 100 * error_s / model->wall.total_s);
    fputc('\n', page->out);
}

static void print_paused(const struct bp_page *page, const struct bp_model *model) {
    if (model->pauses.count)
        print_category(page, model, "paused", model->wall.paused_s, 90);
}

void bp_report_categories(const struct bp_page *page, const struct bp_model *model) {
    if (model->split.leads) {
        bp_report_split(page, model);
        return;
    }
    print_category(page, model, "DSL", model->wall.category_s[BP_DSL], 32);
    print_category(page, model, "framework", model->wall.category_s[BP_FRAMEWORK], 33);
    print_category(page, model, "transfer", model->wall.category_s[BP_TRANSFER], 35);
    print_overhead(page, model);
    print_paused(page, model);
    if (model->wall.unsplit_s > 0.005 * model->wall.total_s)
        print_category(page, model, "unknown", model->wall.unsplit_s, 90);
}

static void print_coverage(const struct bp_page *page, const struct bp_model *model) {
    for (uint32_t i = 0; i < model->coverage_count; i++) {
        const struct bp_coverage *coverage = &model->coverage[i];
        fprintf(page->out, "%s%s: %s %s function%s, %s hooked, %s called%s%s\n", i == 0 ? "\n" : "",
                coverage->library, BP_COUNT(coverage->exports),
                coverage->listed ? "watched" : "exported", coverage->exports == 1 ? "" : "s",
                BP_COUNT(coverage->hooked), BP_COUNT(coverage->called),
                coverage->reason[0] ? "; " : "", coverage->reason);
    }
}

static bool has_sampled(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].kind == BP_PART_SAMPLED)
            return true;
    return false;
}

/* The category has what no thread has, too. */
static void print_overhead_line(const struct bp_page *page, const struct bp_model *model) {
    char before[80] = "";
    double before_s = bp_report_overhead_before(model);
    if (before_s > LEAST_BEFORE * model->wall.total_s)
        snprintf(before, sizeof(before), " and %s before the first thread,",
                 BP_TIME(page, before_s));
    bp_page_say(page, 2, "overhead %s, %s of thread time,%s taken out of the lines above",
                BP_TIME(page, model->thread_time.overhead_s),
                BP_SHARE(model->thread_time.overhead_s, model->thread_time.total_s), before);
}

static void print_sums(const struct bp_page *page, const struct bp_model *model) {
    char sum[32];
    char lifetime[32];
    double sum_s = 0;
    for (uint32_t i = 0; i < model->thread_count; i++)
        sum_s += model->threads[i].sum_s;
    if (model->thread_count == 0)
        return;
    if (model->coverage_count == 0)
        fputc('\n', page->out);
    print_overhead_line(page, model);
    if (model->samples.count && (has_sampled(model) || bp_report_has_lines(model)))
        fprintf(page->out, "~ exact times, divided by %s samples%s\n",
                bp_page_count(model->samples.count, sum),
                page->utf8 ? "; ± holds in 95 of 100 cases" : "");
    fprintf(page->out, "self times and overhead sum to %s; lifetimes of threads to %s\n",
            bp_page_time(page, sum_s, sum),
            bp_page_time(page, model->thread_time.total_s, lifetime));
}

void bp_report_notes(const struct bp_page *page, const struct bp_analysis *analysis) {
    for (uint32_t i = 0; i < analysis->note_count && i < MOST_NOTES; i++) {
        if (i == 0)
            fputc('\n', page->out);
        bp_page_say(page, 6, "note: %s", analysis->notes[i]);
    }
    if (analysis->note_count > MOST_NOTES)
        fprintf(page->out, "note: %u more notes: --json\n", analysis->note_count - MOST_NOTES);
}

void bp_report_overview(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_report_settings *settings) {
    if (model->split.leads) {
        bp_report_owned_functions(page, model, settings);
    } else {
        bp_report_framework(page, model);
        bp_report_dsl_functions(page, model, settings);
    }
    bp_report_candidate_line(page, model, settings);
    bp_report_below_dsl(page, model);
    bp_report_exact_lines(page, model);
    bp_report_task_lines(page, model);
    bp_report_devices(page, model, settings);
}

/* Only what has a search is searched, see bp_report_check(). */
static void print_view(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_report_settings *settings) {
    const struct bp_view *view = &bp_views[settings->by];
    if (settings->lines)
        bp_report_lines(page, model, settings);
    else if (settings->search.count)
        view->search(page, model, settings);
    else
        view->print(page, model, settings);
}

static bool advises(const struct bp_model *model, const struct bp_report_settings *settings) {
    return bp_views[settings->by].advises && bp_view_exists(settings->by, model) &&
           settings->search.count == 0 && !settings->lines;
}

/* Where there may be more room than in the place that had too little. */
static void print_elsewhere(const struct bp_page *page, const struct bp_model *model) {
    const char *here = model->run.path;
    bool temporary = strncmp(here, "/tmp/", 5) == 0;
    char *command = bp_again_run(model, temporary ? "-o ~/battprof.out" : "-o /tmp/battprof.out");
    bp_report_next_command(page, command ? command : bp_make_text("%s doctor", bp_invoked()));
}

int bp_report_text(const struct bp_analysis *analysis, const struct bp_report_settings *settings,
                   FILE *out) {
    const struct bp_model *model = analysis->model;
    struct bp_page page;
    bp_page_init(&page, out);
    page.whole = model->wall.total_s;
    bp_report_headline(&page, model);
    if (bp_model_lost(model)) {
        bp_page_wrap(&page, analysis->notes[0], 0);
        print_elsewhere(&page, model);
        return 0;
    }
    bp_report_categories(&page, model);
    bp_report_choice(&page, model);
    bp_report_recording(&page, model);
    print_view(&page, model, settings);
    if (advises(model, settings))
        bp_report_advice(&page, analysis, settings);
    bp_report_projection(&page, model, settings);
    bp_report_budget(&page, analysis, settings);
    print_coverage(&page, model);
    print_sums(&page, model);
    bp_report_in_flight(&page, model);
    bp_report_notes(&page, analysis);
    bp_report_next(&page, model, settings);
    return 0;
}
