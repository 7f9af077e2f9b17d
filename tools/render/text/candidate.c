/* SPDX-License-Identifier: MIT
 *
 * --by candidate: which functions of the DSL are worth a GPU and whether they would gain from one,
 * and what each part of the framework costs the run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/priority.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"
#include "tools/render/text/internal.h"

/* What a row begins with, as wide for all priorities. */
static const char *mark_of(enum bp_priority priority, char text[16]) {
    snprintf(text, 16, "  %-7s", bp_priority_name(priority));
    return text;
}

static const struct bp_column part_columns[] = {
    BP_LABEL(46),
    BP_COLUMN("of wall", 9, bp_cell_share, struct bp_framework_part, wall_s),
    BP_COLUMN("2x as fast", 12, bp_cell_time, struct bp_framework_part, half_s),
    BP_COLUMN("without", 11, bp_cell_time, struct bp_framework_part, without_s),
    BP_LAST_COLUMN,
};

static void print_line(const struct bp_page *page, const struct bp_candidate *candidate) {
    const struct bp_main_line *main = &candidate->line;
    char share[32];
    bp_page_say(page, 11,
                "         not as a whole: %s:%u has %s of it: make that line cheaper or run it "
                "less often; if it is a loop over a grid, give that loop to the device",
                bp_base_name(main->spot->file), main->spot->line,
                bp_page_share(main->wall_s, main->whole_s, share));
}

static void print_verdict(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_device_cost *device,
                          const struct bp_candidate *candidate) {
    const struct bp_function *function = &model->functions[candidate->function];
    bool finite = isfinite(candidate->break_even);
    uint64_t batch = finite ? bp_whole(candidate->break_even) : 0;
    struct bp_text text = {0};
    if (candidate->verdict == BP_LINE) {
        print_line(page, candidate);
        return;
    }
    if (candidate->verdict == BP_BATCH)
        bp_text_add(&text, "batch at least %s calls", BP_COUNT(batch));
    else
        bp_text_add(&text, "%s", candidate->verdict == BP_KEEP ? "keep on CPU" : "move");
    bp_text_add(&text, ": %s a call, on the device %s, of it launch and two copies %s",
                BP_TIME(page, candidate->call_s), BP_TIME(page, candidate->device_s),
                BP_TIME(page, bp_device_latency(device)));
    if (candidate->verdict == BP_KEEP && finite)
        bp_text_add(&text, "; a batch of %s would break even, %s has %s", BP_COUNT(batch),
                    function->tasks ? "a task" : "the run",
                    BP_COUNT(bp_whole(candidate->together)));
    else if (candidate->verdict == BP_KEEP)
        bp_text_add(&text, "; copying its bytes takes longer than it would save");
    bp_page_say(page, 11, "         %s", bp_text_get(&text));
    bp_text_fini(&text);
}

struct row {
    const struct bp_function *function;
    const struct bp_candidate *candidate;
};

static const char *cell_calls(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    return bp_page_count(((const struct row *)value)->function->calls, text);
}

static const char *cell_wall(const struct bp_page *page, const void *value, char text[64]) {
    return bp_page_share(((const struct row *)value)->function->wall_s, page->whole, text);
}

static const char *cell_factor(const struct bp_page *page, const void *value, char text[64]) {
    const double *factor = ((const struct row *)value)->candidate->factor;
    (void)page;
    snprintf(text, 64, "%.0f-%.0fx", factor[0], factor[1]);
    return text;
}

static const char *cell_after(const struct bp_page *page, const void *value, char text[64]) {
    const double *after_s = ((const struct row *)value)->candidate->after_s;
    char most[16];
    snprintf(most, sizeof(most), "%9.12s", BP_TIME(page, after_s[0]));
    snprintf(text, 64, "%s%s", BP_TIME(page, after_s[1]), most);
    return text;
}

static const struct bp_column columns[] = {
    BP_LABEL(34),
    {"calls", 12, cell_calls, 0},
    {"of wall", 9, cell_wall, 0},
    {"if", 6, cell_factor, 0},
    {"the run takes", 19, cell_after, 0},
    BP_LAST_COLUMN,
};

static void print_candidate(const struct bp_page *page, const struct bp_model *model,
                            const struct bp_priorities *priorities, uint32_t number) {
    const struct bp_candidate *candidate = &priorities->candidates[number];
    struct row row = {&model->functions[candidate->function], candidate};
    char mark[16];
    bp_columns_row(page, columns, mark_of(candidate->priority, mark), row.function->label, &row);
    print_verdict(page, model, &priorities->device, candidate);
}

static uint32_t count_candidates(const struct bp_priorities *priorities) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < priorities->candidate_count; i++)
        count += bp_candidate_counts(&priorities->candidates[i]);
    return count;
}

static void print_sum(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_priorities *priorities) {
    double speed[2] = {model->wall.total_s / priorities->after_s[1],
                       model->wall.total_s / priorities->after_s[0]};
    uint32_t counted = count_candidates(priorities);
    uint32_t all = 0;
    while (all < priorities->candidate_count && priorities->candidates[all].priority >= BP_MEDIUM)
        all++;
    if (all > 0 && counted == 0)
        return;
    bp_page_say(page, 4, "  all HIGH and MEDIUM%s: %s now, then %s to %s, %.2f to %.2f x as fast",
                counted < all ? " but those to keep" : "", BP_TIME(page, model->wall.total_s),
                BP_TIME(page, priorities->after_s[0]), BP_TIME(page, priorities->after_s[1]),
                speed[0], speed[1]);
}

static const char *how_known(bool known) {
    return known ? "measured in this run" : "assumed";
}

static void print_device(const struct bp_page *page, const struct bp_priorities *priorities) {
    const struct bp_device_cost *device = &priorities->device;
    bp_page_say(page, 4, "  launch %s (%s), copy in %s (%s), out %s (%s)",
                BP_TIME(page, device->launch_s), how_known(device->launch_known),
                BP_TIME(page, device->copy_s[0]), how_known(device->copy_known[0]),
                BP_TIME(page, device->copy_s[1]), how_known(device->copy_known[1]));
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
    bp_columns_title(page, "GPU candidates", columns);
    for (uint32_t i = 0; i < priorities->candidate_count && i < settings->top; i++)
        print_candidate(page, model, priorities, i);
    bp_columns_more(page, "  ", priorities->candidate_count, settings->top);
    print_sum(page, model, priorities);
    print_device(page, priorities);
}

static void print_parts(const struct bp_page *page, const struct bp_priorities *priorities,
                        const struct bp_report_settings *settings) {
    uint32_t rest = 0;
    char mark[16];
    bp_columns_title(page, "Framework", part_columns);
    for (uint32_t i = 0; i < priorities->part_count; i++) {
        const struct bp_framework_part *part = &priorities->parts[i];
        if (part->priority == BP_MINIMAL || i >= settings->top) {
            rest++;
            continue;
        }
        bp_columns_row(page, part_columns, mark_of(part->priority, mark), part->label, part);
    }
    if (rest)
        fprintf(page->out, "  and %u smaller: --json has all\n", rest);
}

void bp_report_candidates(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    print_candidates(page, model, priorities, settings);
    print_parts(page, priorities, settings);
    bp_priorities_free(priorities);
}

/* "1.4-1.5 times", "1.4 times"; false if it is none. */
static bool gain_text(const struct bp_model *model, const struct bp_priorities *priorities,
                      char *text, size_t size) {
    char least[16], most[16];
    snprintf(least, sizeof(least), "%.1f", model->wall.total_s / priorities->after_s[1]);
    snprintf(most, sizeof(most), "%.1f", model->wall.total_s / priorities->after_s[0]);
    bool same = strcmp(least, most) == 0;
    snprintf(text, size, "%s%s%s times", least, same ? "" : "-", same ? "" : most);
    return !same || strcmp(least, "1.0") != 0;
}

/* For the overview: one line, where the run used CUDA and there is something to say. */
void bp_report_candidate_line(const struct bp_page *page, const struct bp_model *model,
                              const struct bp_report_settings *settings) {
    struct bp_priorities *priorities = bp_priorities_new(model, &settings->levels);
    uint32_t count = count_candidates(priorities);
    char text[40];
    if (count && bp_model_used_cuda(model) && gain_text(model, priorities, text, sizeof(text)))
        fprintf(page->out, "  on a GPU %u of them might make the run %s as fast: --by candidate\n",
                count, text);
    bp_priorities_free(priorities);
}
