/* SPDX-License-Identifier: MIT
 *
 * The comparison for people: which run is faster and by how much, then the rows that differ, the
 * largest change first. Times of NEW are shown at the speed that the machine had for OLD.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/diff.h"
#include "tools/page.h"

/* The machine is worth a sentence from this factor on; less is taken out without a word. */
#define NOTABLE 1.03
#define MACHINE 1.10
/* Of the wall: calls that change less are counted, not listed. */
#define QUIET_PART 0.001
/* Of the time of threads: more without a CPU is worth a sentence. */
#define LOST_PART 0.3
#define DEFAULT_TOP 20
/* Of what a call takes: less is as long as before. */
#define AS_LONG 0.1

static void write_date(uint64_t realtime_ns, bool seconds, char text[48]) {
    time_t when = (time_t)(realtime_ns / 1000000000u);
    time_t now = time(NULL);
    struct tm then;
    struct tm today;
    char clock[16];
    localtime_r(&when, &then);
    localtime_r(&now, &today);
    strftime(clock, sizeof(clock), seconds ? "%H:%M:%S" : "%H:%M", &then);
    today.tm_hour = today.tm_min = today.tm_sec = 0;
    double before_midnight_s = difftime(mktime(&today), when);
    if (before_midnight_s <= 0 && when <= now)
        snprintf(text, 48, "today %s", clock);
    else if (before_midnight_s > 0 && before_midnight_s <= 24 * 3600)
        snprintf(text, 48, "yesterday %s", clock);
    else {
        char day[24];
        strftime(day, sizeof(day), "%Y-%m-%d", &then);
        snprintf(text, 48, "%s %s", day, clock);
    }
}

static void dates(const struct bp_diff *diff, char old_date[48], char new_date[48]) {
    write_date(diff->old_side.began_ns, false, old_date);
    write_date(diff->new_side.began_ns, false, new_date);
    bool seconds = strcmp(old_date, new_date) == 0;
    write_date(diff->old_side.began_ns, seconds, old_date);
    write_date(diff->new_side.began_ns, seconds, new_date);
}

static void print_side(const struct bp_page *page, const char *label,
                       const struct bp_diff_side *side, const struct bp_diff_run *runs,
                       double wall_s, const char *date) {
    char text[32];
    fprintf(page->out, "%s  %s: ", label, side->path);
    if (side->count > 1)
        fprintf(page->out, "%u runs, %s on average", side->count, bp_page_time(page, wall_s, text));
    else
        fprintf(page->out, "%s", bp_page_time(page, wall_s, text));
    fprintf(page->out, ", %s%s\n     ", side->count > 1 ? "from " : "", date);
    if (bp_page_columns(runs[0].model->command) < BP_PAGE_WIDTH - 5)
        fprintf(page->out, "%s\n", runs[0].model->command);
    else {
        bp_page_left(page, runs[0].model->command, BP_PAGE_WIDTH - 5);
        fputc('\n', page->out);
    }
}

/* A factor where per cent of one side or the other would read as different sizes. */
static void describe_part(const struct bp_page *page, double part, char *text, size_t size) {
    const char *times = page->utf8 ? "×" : "x";
    if (part > 1)
        snprintf(text, size, "takes %.3g %s as long as", 1 + part, times);
    else if (part < -0.5 && part > -1)
        snprintf(text, size, "is %.3g %s as fast as", 1 / (1 + part), times);
    else
        snprintf(text, size, "is %.3g %% %s than", 100 * fabs(part),
                 part > 0 ? "slower" : "faster");
}

/* What the differences amount to; the two wall times alone are full of chance. */
static void print_headline(const struct bp_page *page, const struct bp_diff *diff,
                           const char *old_date, const char *new_date) {
    double part = bp_diff_part(diff);
    double unclear = bp_diff_unclear(diff);
    char line[400];
    char size[64];
    describe_part(page, part, size, sizeof(size));
    if (unclear > 0)
        snprintf(
            line, sizeof(line),
            "No difference in time can be shown between OLD (%s) and NEW (%s): runs like these "
            "may differ by %.0f %% by chance; run --repeat narrows that.",
            old_date, new_date, 100 * unclear);
    else if (diff->differences == 0)
        snprintf(line, sizeof(line), "No differences between OLD (%s) and NEW (%s).", old_date,
                 new_date);
    else if (fabs(part) < BP_DIFF_LEAST)
        snprintf(line, sizeof(line),
                 "NEW (%s) takes as long as OLD (%s), but not everything is the same.", new_date,
                 old_date);
    else
        snprintf(line, sizeof(line), "NEW (%s) %s OLD (%s)%s", new_date, size, old_date,
                 diff->slowness > MACHINE || diff->slowness < 1 / MACHINE
                     ? " at the same speed of the machine."
                     : ".");
    bp_page_wrap(page, line, 0);
}

static double lost_part(const struct bp_diff_run *runs, uint32_t count) {
    double lost_s = 0;
    double busy_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        lost_s += runs[i].lost_s;
        busy_s += runs[i].busy_s;
    }
    return busy_s > 0 ? lost_s / busy_s : 0;
}

/* Then the wall is longer than the work, for reasons outside of the program. */
static void print_lost(const struct bp_page *page, const struct bp_diff *diff) {
    double old_part = lost_part(diff->runs, diff->old_side.count);
    double new_part = lost_part(diff->runs + diff->old_side.count, diff->new_side.count);
    char line[400];
    if (old_part < LOST_PART && new_part < LOST_PART)
        return;
    snprintf(line, sizeof(line),
             "Threads that had work were not on a CPU for %.0f %% of the time in OLD, %.0f %% in "
             "NEW: on a quieter machine all of this takes less.",
             100 * old_part, 100 * new_part);
    bp_page_wrap(page, line, 0);
}

static void print_modes(const struct bp_page *page, const struct bp_diff *diff) {
    char line[400];
    if (bp_diff_describe_modes(diff, line, sizeof(line)))
        bp_page_wrap(page, line, 0);
}

static bool has_device(const struct bp_diff *diff) {
    for (uint32_t i = 0; i < diff->row_count; i++)
        if (bp_diff_on_device(&diff->rows[i]) && !diff->rows[i].other)
            return true;
    return false;
}

/* What could not have been seen. */
static void print_spread(const struct bp_page *page, const struct bp_diff *diff) {
    char line[400];
    char device[100] = "";
    double spread = bp_diff_relative_spread(diff);
    if (has_device(diff))
        snprintf(device, sizeof(device), ", +%.0f %% or -%.0f %% of a device's,",
                 100 * bp_diff_chance_slower(BP_DIFF_DEVICE_SPREAD),
                 100 * bp_diff_chance_faster(BP_DIFF_DEVICE_SPREAD));
    if (diff->run_count > 2)
        snprintf(line, sizeof(line), "The spread is that of %u runs.", diff->run_count);
    else if (isinf(bp_diff_chance_slower(spread)))
        snprintf(line, sizeof(line),
                 "Two single runs that differ in everything: no change of a function's time can be "
                 "told from chance.");
    else
        snprintf(line, sizeof(line),
                 "Two single runs: up to +%.0f %% or -%.0f %% of a function's time%s is taken for "
                 "chance.",
                 100 * bp_diff_chance_slower(spread), 100 * bp_diff_chance_faster(spread), device);
    bp_page_wrap(page, line, 0);
}

static void print_machine(const struct bp_page *page, const struct bp_diff *diff) {
    char line[400];
    double factor = diff->slowness > 1 ? diff->slowness : 1 / diff->slowness;
    const char *word = diff->slowness > 1 ? "slower" : "faster";
    const char *times = page->utf8 ? "×" : "x";
    if (diff->changed)
        snprintf(line, sizeof(line),
                 "Functions take %.2g times as long as before, too much for the machine: something "
                 "that most of them do has changed.",
                 diff->changed);
    else if (!diff->alike)
        snprintf(line, sizeof(line),
                 "Fewer than five functions are large enough to tell the speed of the machine.");
    else if (factor >= MACHINE)
        snprintf(line, sizeof(line),
                 "Everything %.2f %s %s (median of %u functions): the machine, not the program. "
                 "NEW is shown at OLD's speed.",
                 factor, times, word, diff->alike);
    else if (factor >= NOTABLE)
        snprintf(line, sizeof(line), "The machine was %.0f %% %s for NEW; taken out below.",
                 100 * (factor - 1), word);
    else
        return;
    bp_page_wrap(page, line, 0);
}

/* From ten times on the factor beside it says more than a percentage. */
static void cell_change(const struct bp_page *page, double change_s, double old_s) {
    char time[32];
    char text[48];
    snprintf(text, sizeof(text), "%s%s", change_s < 0 ? "-" : "+",
             bp_page_time(page, fabs(change_s), time));
    bp_page_right(page, text, 10);
    if (!(old_s > 0))
        return;
    double percent = 100 * change_s / old_s;
    snprintf(text, sizeof(text), fabs(percent) < 1000 ? "%+.1f %%" : "> 1000 %%", percent);
    bp_page_right(page, text, 9);
}

static void print_values(const struct bp_page *page, const struct bp_diff_row *row,
                         const char *name) {
    char text[32];
    double old_s = row->old_s;
    fputs("  ", page->out);
    bp_page_left(page, name, 24);
    bp_page_right(page, row->in_old ? bp_page_time(page, old_s, text) : "-", 10);
    bp_page_right(page, row->in_new ? bp_page_time(page, row->even_s, text) : "-", 10);
    cell_change(page, row->change_s, old_s);
}

static void print_heading(const struct bp_page *page, const char *title, const char *last) {
    bp_page_title(
        page, title, 26,
        BP_COLUMNS({"OLD", 10}, {"NEW", 10}, {last, bp_page_columns(last) > 10 ? 19 : 10}));
}

static void print_sum(const struct bp_page *page, const char *name, const struct bp_diff_row *row,
                      double net_s, double wall_s) {
    char text[32];
    fputs("  ", page->out);
    bp_page_left(page, name, 24);
    bp_page_right(page, bp_page_time(page, row->old_s, text), 10);
    bp_page_right(page, bp_page_time(page, row->new_s, text), 10);
    if (net_s != 0)
        cell_change(page, net_s, wall_s);
    fputc('\n', page->out);
}

/* As measured, and what of the change is explained. */
static void print_sums(const struct bp_page *page, const struct bp_diff *diff) {
    static const char *const names[] = {"DSL", "framework", "transfer"};
    const struct bp_diff_row *wall = bp_diff_find(diff, BP_DIFF_WALL);
    print_heading(page, "Wall, as measured", "explained below");
    print_sum(page, "all", wall, diff->net_s, wall->old_s);
    for (int k = 0; k < BP_CATEGORIES; k++)
        for (uint32_t i = 0; i < diff->row_count; i++) {
            const struct bp_diff_row *row = &diff->rows[i];
            if (row->kind == BP_DIFF_CATEGORY && (row->old_s > 0 || row->new_s > 0) &&
                strcmp(row->name, bp_category_name((enum bp_category)k)) == 0)
                print_sum(page, names[k], row, diff->category_net_s[k], wall->old_s);
        }
    const struct bp_diff_row *task = bp_diff_find(diff, BP_DIFF_TASK);
    if (task)
        print_sum(page, task->name, task, 0, wall->old_s);
}

static void name_of(const struct bp_diff_row *row, char *text, size_t size) {
    const char *prefix = row->kind == BP_DIFF_TRANSFER ? "copies "
                         : row->kind != BP_DIFF_KERNEL ? ""
                         : row->category == BP_DSL     ? "DSL kernel "
                                                       : "kernel ";
    size_t length = (size_t)snprintf(text, size, "%s", prefix);
    bp_diff_name(row, text + length, size - length);
}

/* The first call of CUDA's makes the context: where the number differs, a mean says nothing. */
static bool has_first(const struct bp_diff_row *row) {
    return row->count_differs && row->function && row->function->cuda;
}

static bool is_about(double a, double b) {
    return fabs(a - b) <= AS_LONG * fmax(a, b);
}

/* Copies of another size: what each of them takes says nothing of their speed. */
static bool is_resized(const struct bp_diff_row *row) {
    return row->old_count > 0 && row->new_count > 0 &&
           !is_about(row->old_bytes / row->old_count, row->new_bytes / row->new_count);
}

/* "2.0 × faster" of one call. */
static void print_per_call(const struct bp_page *page, const struct bp_diff_row *row) {
    double scale = row->old_count > 0 && row->new_count > 0 ? row->new_count / row->old_count : 1;
    double expected_s = row->old_s * scale;
    double now_s = row->even_s;
    if (has_first(row) || is_resized(row) || !row->time_differs || !row->in_old || !row->in_new ||
        !(expected_s > 0) || !(now_s > 0))
        return;
    double ratio = now_s > expected_s ? now_s / expected_s : expected_s / now_s;
    fprintf(page->out, ratio < 100 ? "  %.1f %s %s" : "  %.0f %s %s", ratio, page->utf8 ? "×" : "x",
            now_s > expected_s ? "slower" : "faster");
}

static double longest_first(const struct bp_diff_row *row, uint32_t first, uint32_t count) {
    double s = 0;
    for (uint32_t i = first; i < first + count; i++)
        s = fmax(s, row->values[i].first_s);
    return s;
}

/* What each of them takes, if their number is not all that differs. */
static void print_each(const struct bp_page *page, const struct bp_diff *diff,
                       const struct bp_diff_row *row) {
    char old_text[32];
    char new_text[32];
    double old_s = row->old_s / row->old_count;
    double new_s = row->even_s / row->new_count;
    if (is_resized(row)) {
        fprintf(page->out, "; together %s, before %s", bp_page_bytes(row->new_bytes, new_text),
                bp_page_bytes(row->old_bytes, old_text));
    } else if (row->time_differs && has_first(row)) {
        uint32_t count = diff->old_side.count;
        fprintf(page->out, "; the first %s, before %s",
                bp_page_time(page, longest_first(row, count, diff->new_side.count), new_text),
                bp_page_time(page, longest_first(row, 0, count), old_text));
    } else if (!row->time_differs && is_about(old_s, new_s)) {
        fprintf(page->out, "; each takes as long as before");
    } else if (!row->time_differs) {
        fprintf(page->out, "; each %s, before %s, maybe by chance",
                bp_page_time(page, new_s, new_text), bp_page_time(page, old_s, old_text));
    }
}

static void print_count(const struct bp_page *page, const struct bp_diff *diff,
                        const struct bp_diff_row *row) {
    char old_text[32];
    char new_text[32];
    static const char *const one[] = {"call", "copy", "launch"};
    static const char *const many[] = {"calls", "copies", "launches"};
    int what = row->kind == BP_DIFF_TRANSFER ? 1 : row->kind == BP_DIFF_KERNEL ? 2 : 0;
    fprintf(page->out, "    %s %s, before %s", bp_page_count((uint64_t)row->new_count, new_text),
            row->new_count == 1 ? one[what] : many[what],
            bp_page_count((uint64_t)row->old_count, old_text));
    if (!row->in_old || !row->in_new)
        fprintf(page->out, row->in_new ? ": new" : ": gone");
    else if (row->old_count > 0 && row->new_count > 0)
        print_each(page, diff, row);
    fputc('\n', page->out);
}

static void print_row(const struct bp_page *page, const struct bp_diff *diff,
                      const struct bp_diff_row *row) {
    char name[300];
    name_of(row, name, sizeof(name));
    print_values(page, row, name);
    print_per_call(page, row);
    fputc('\n', page->out);
    if (row->count_differs || is_resized(row))
        print_count(page, diff, row);
}

/* Groups apart: their functions are named already. */
static void print_rows(const struct bp_page *page, const struct bp_diff *diff, const char *title,
                       bool groups, unsigned top) {
    uint32_t shown = 0;
    uint32_t quiet = 0;
    double wall_s = bp_diff_find(diff, BP_DIFF_WALL)->old_s;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        bool is_sum =
            row->kind == BP_DIFF_WALL || row->kind == BP_DIFF_CATEGORY || row->kind == BP_DIFF_TASK;
        if (is_sum || !bp_diff_differs(row) || groups != (row->kind == BP_DIFF_GROUP))
            continue;
        if (!row->time_differs && fabs(row->wall_change_s) < QUIET_PART * wall_s) {
            quiet++;
            continue;
        }
        if (shown == 0)
            print_heading(page, title, "change");
        if (shown++ < top)
            print_row(page, diff, row);
    }
    if (shown > top)
        fprintf(page->out, "  and %u more: --top %u\n", shown - top, shown);
    if (quiet)
        fprintf(page->out, "%s  %u more %s number of calls, not in time: --json\n",
                shown ? "" : "\n", quiet, quiet == 1 ? "differs in its" : "differ in their");
}

static void print_next(const struct bp_page *page, const struct bp_diff *diff) {
    fputc('\n', page->out);
    bool wide = bp_diff_unclear(diff) > 0 || bp_diff_relative_spread(diff) > BP_DIFF_WIDE;
    if (diff->run_count == 2 && wide)
        fprintf(page->out, "next: battprof run --repeat 5 -- COMMAND, for both: it narrows the "
                           "spread\n");
    else
        fprintf(page->out, "next: battprof report %s\n", diff->new_side.path);
}

int bp_diff_text(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out) {
    struct bp_page page;
    char old_date[48];
    char new_date[48];
    bp_page_init(&page, out);
    dates(diff, old_date, new_date);
    const struct bp_diff_row *wall = bp_diff_find(diff, BP_DIFF_WALL);
    print_side(&page, "OLD", &diff->old_side, diff->runs, wall->old_s, old_date);
    print_side(&page, "NEW", &diff->new_side, diff->runs + diff->old_side.count, wall->new_s,
               new_date);
    fputc('\n', out);
    print_headline(&page, diff, old_date, new_date);
    print_modes(&page, diff);
    print_machine(&page, diff);
    print_lost(&page, diff);
    if (!(bp_diff_unclear(diff) > 0))
        print_spread(&page, diff);
    if (diff->differences)
        print_sums(&page, diff);
    unsigned top = settings->top ? settings->top : DEFAULT_TOP;
    print_rows(&page, diff, "Differences", false, top);
    print_rows(&page, diff, "Groups", true, top);
    print_next(&page, diff);
    return 0;
}
