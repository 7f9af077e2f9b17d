/* SPDX-License-Identifier: MIT
 *
 * --by candidate: which functions of the DSL are worth a GPU and whether they would gain from one,
 * and what each part of the framework costs the run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/priority_internal.h"
#include "tools/report_internal.h"

static void cell_time(const struct bp_page *page, double s, int width) {
    char text[32];
    bp_page_right(page, bp_page_time(page, s, text), width);
}

static void print_verdict(const struct bp_page *page, const struct bp_device_cost *device,
                          const struct bp_function *function,
                          const struct bp_candidate *candidate) {
    char line[400];
    char call[32];
    char latency[32];
    char on_device[32];
    char count[32];
    char calls[32];
    char verdict[80] = "move";
    char limit[120] = "";
    if (isfinite(candidate->break_even))
        bp_page_count((uint64_t)candidate->break_even, count);
    if (candidate->verdict == BP_BATCH)
        snprintf(verdict, sizeof(verdict), "batch at least %s calls", count);
    if (candidate->verdict == BP_KEEP) {
        snprintf(verdict, sizeof(verdict), "keep on CPU");
        snprintf(limit, sizeof(limit), "; copying its bytes takes longer than it would save");
        if (isfinite(candidate->break_even))
            snprintf(limit, sizeof(limit), "; a batch of %s would break even, %s has %s", count,
                     function->tasks ? "a task" : "the run",
                     bp_page_count((uint64_t)candidate->together, calls));
    }
    snprintf(line, sizeof(line),
             "         %s: %s a call, on the device %s, of it launch and two copies %s%s", verdict,
             bp_page_time(page, candidate->call_s, call),
             bp_page_time(page, candidate->device_s, on_device),
             bp_page_time(page, bp_device_latency(device), latency), limit);
    bp_page_wrap(page, line, 11);
}

static void print_candidate(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_priorities *priorities, uint32_t number) {
    const struct bp_candidate *candidate = &priorities->candidates[number];
    const struct bp_function *function = &model->functions[candidate->function];
    char name[300];
    char text[32];
    fputs("  ", page->out);
    bp_page_left(page, bp_priority_name(candidate->priority), 7);
    bp_page_left(page, bp_report_name(function, name, sizeof(name)), 25);
    bp_page_right(page, bp_page_count(function->calls, text), 12);
    bp_page_right(page, bp_page_share(function->wall_s, model->wall_s, text), 9);
    snprintf(text, sizeof(text), "%.0f-%.0fx", candidate->factor[0], candidate->factor[1]);
    bp_page_right(page, text, 6);
    cell_time(page, candidate->after_s[1], 10);
    cell_time(page, candidate->after_s[0], 9);
    fputc('\n', page->out);
    print_verdict(page, &priorities->device, function, candidate);
}

static uint32_t count_candidates(const struct bp_priorities *priorities) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < priorities->candidate_count; i++)
        count += bp_candidate_counts(&priorities->candidates[i]);
    return count;
}

static void print_sum(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_priorities *priorities) {
    char now[32];
    char from[32];
    char to[32];
    char line[200];
    double speed[2] = {model->wall_s / priorities->after_s[1],
                       model->wall_s / priorities->after_s[0]};
    uint32_t counted = count_candidates(priorities);
    uint32_t all = 0;
    while (all < priorities->candidate_count && priorities->candidates[all].priority >= BP_MEDIUM)
        all++;
    if (all > 0 && counted == 0)
        return;
    snprintf(line, sizeof(line),
             "  all HIGH and MEDIUM%s: %s now, then %s to %s, %.2f to %.2f x as fast",
             counted < all ? " but those to keep" : "", bp_page_time(page, model->wall_s, now),
             bp_page_time(page, priorities->after_s[0], from),
             bp_page_time(page, priorities->after_s[1], to), speed[0], speed[1]);
    bp_page_wrap(page, line, 4);
}

static const char *how_known(bool known) {
    return known ? "measured in this run" : "assumed";
}

static void print_device(const struct bp_page *page, const struct bp_priorities *priorities) {
    const struct bp_device_cost *device = &priorities->device;
    char line[400];
    char launch[32];
    char in[32];
    char out[32];
    snprintf(line, sizeof(line), "  launch %s (%s), copy in %s (%s), out %s (%s)",
             bp_page_time(page, device->launch_s, launch), how_known(device->launch_known),
             bp_page_time(page, device->copy_s[0], in), how_known(device->copy_known[0]),
             bp_page_time(page, device->copy_s[1], out), how_known(device->copy_known[1]));
    bp_page_wrap(page, line, 4);
}

static void print_candidates(const struct bp_page *page, const struct bp_model *model,
                             const struct bp_priorities *priorities,
                             const struct bp_report_settings *settings) {
    if (priorities->candidate_count == 0) {
        fputc('\n', page->out);
        bp_page_heading(page, "GPU candidates\n");
        fprintf(page->out, "  no DSL function has more than %g %% of the wall\n",
                settings->levels.low);
        return;
    }
    bp_page_title(page, "GPU candidates", 34,
                  BP_COLUMNS({"calls", 12}, {"of wall", 9}, {"if", 6}, {"the run takes", 19}));
    for (uint32_t i = 0; i < priorities->candidate_count && i < settings->top; i++)
        print_candidate(page, model, priorities, i);
    if (priorities->candidate_count > settings->top)
        fprintf(page->out, "  and %u more: --top %u\n", priorities->candidate_count - settings->top,
                priorities->candidate_count);
    print_sum(page, model, priorities);
    print_device(page, priorities);
}

static void print_parts(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_priorities *priorities,
                        const struct bp_report_settings *settings) {
    uint32_t rest = 0;
    bp_page_title(page, "Framework", 46,
                  BP_COLUMNS({"of wall", 9}, {"2x as fast", 12}, {"without", 11}));
    for (uint32_t i = 0; i < priorities->part_count; i++) {
        const struct bp_framework_part *part = &priorities->parts[i];
        char text[32];
        if (part->priority == BP_MINIMAL || i >= settings->top) {
            rest++;
            continue;
        }
        fputs("  ", page->out);
        bp_page_left(page, bp_priority_name(part->priority), 7);
        bp_page_left(page, part->label, 37);
        bp_page_right(page, bp_page_share(part->wall_s, model->wall_s, text), 9);
        cell_time(page, part->half_s, 12);
        cell_time(page, part->without_s, 11);
        fputc('\n', page->out);
    }
    if (rest)
        fprintf(page->out, "  and %u smaller: --json has all\n", rest);
}

void bp_report_candidates(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    print_candidates(page, model, priorities, settings);
    print_parts(page, model, priorities, settings);
    bp_priorities_free(priorities);
}

/* "1.4-1.5 times", "1.4 times"; false if it is none. */
static bool gain_text(const struct bp_model *model, const struct bp_priorities *priorities,
                      char *text, size_t size) {
    char least[16], most[16];
    snprintf(least, sizeof(least), "%.1f", model->wall_s / priorities->after_s[1]);
    snprintf(most, sizeof(most), "%.1f", model->wall_s / priorities->after_s[0]);
    bool same = strcmp(least, most) == 0;
    snprintf(text, size, "%s%s%s times", least, same ? "" : "-", same ? "" : most);
    return !same || strcmp(least, "1.0") != 0;
}

/* For the overview: one line, if there is something to say. */
void bp_report_candidate_line(const struct bp_page *page, const struct bp_model *model,
                              const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    uint32_t count = count_candidates(priorities);
    char text[40];
    if (count && gain_text(model, priorities, text, sizeof(text)))
        fprintf(page->out, "  on a GPU %u of them might make the run %s as fast: --by candidate\n",
                count, text);
    bp_priorities_free(priorities);
}
