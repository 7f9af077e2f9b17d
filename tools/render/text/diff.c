/* SPDX-License-Identifier: MIT
 *
 * The comparison for people: what was measured of the walls and how far that may be off, then what
 * the change is made of, then the rows that certainly changed, the largest change first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/analyze/again.h"
#include "tools/analyze/diff/diff.h"
#include "tools/base/columns.h"
#include "tools/base/terminal/hint.h"
#include "tools/base/text.h"

/* Share of the wall in which others had the CPU; more is worth a sentence. */
#define LOST_PART 0.1
/* Stray time, in per cent of the wall, that is worth one: it widens the interval. */
#define STRAY_PERCENT 10
/* Share of the larger wall: a smaller part of the change is among what is unexplained. */
#define SMALL_PART 0.002
#define DEFAULT_TOP 20
/* Part of OLD's wall below which a difference is not worth a sentence. */
#define NOTABLE 0.005
/* Columns of names: as many as fit beside 56 others. */
#define LEAST_NAME 12
#define LONGEST_NAME 44
#define OTHERS 56
/* Share of the wall below which it is rounding. */
#define ROUNDING 1e-6

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
    fprintf(page->out, "%s  ", label);
    if (side->count > 1)
        bp_page_say(page, 5, "%s: %u runs, %s on average, from %s", side->path, side->count,
                    BP_TIME(page, wall_s), date);
    else
        bp_page_say(page, 5, "%s: %s, %s", side->path, BP_TIME(page, wall_s), date);
    fputs("     ", page->out);
    if (bp_page_columns(runs[0].model->run.command) < page->width - 5)
        fputs(runs[0].model->run.command, page->out);
    else
        bp_page_left(page, runs[0].model->run.command, page->width - 5);
    fputc('\n', page->out);
}

/* "1.91 s -> 103 ms" */
static void describe_walls(const struct bp_page *page, double old_s, double new_s, char text[80]) {
    snprintf(text, 80, "%s %s %s", BP_TIME(page, old_s), page->utf8 ? "→" : "->",
             BP_TIME(page, new_s));
}

/* "5.34 s less is certain", where the walls alone do not say it. */
static void add_certain(struct bp_text *text, const struct bp_page *page,
                        const struct bp_diff_wall *wall) {
    if (!wall->certain && fabs(wall->certain_s) >= NOTABLE * wall->old_s)
        bp_text_add(text, "; %s %s is certain, see below", BP_TIME(page, fabs(wall->certain_s)),
                    wall->certain_s > 0 ? "more" : "less");
    bp_text_add(text, ".");
}

/* What was measured; whether that is a difference follows from its interval and its parts. */
static void print_headline(const struct bp_page *page, const struct bp_diff *diff) {
    const struct bp_diff_wall *wall = &diff->wall;
    bool known = wall->certain || bp_diff_is_likely(diff);
    struct bp_text text = {0};
    char walls[80];
    char size[64];
    describe_walls(page, wall->old_s, wall->new_s, walls);
    bp_diff_factor(wall->factor, page->utf8, size);
    if (known)
        bp_text_add(&text, "NEW %s%s %s%s OLD: %s, %s %s", strstr(size, "as long") ? "takes" : "is",
                    wall->certain ? "" : " probably", size, strchr(size, '%') ? " than" : " as",
                    walls, BP_TIME(page, fabs(wall->new_s - wall->old_s)),
                    wall->factor > 1 ? "more" : "less");
    else if (wall->old_s == wall->new_s)
        bp_text_add(&text, "No difference between the walls of OLD and NEW.");
    else
        bp_text_add(&text, "No certain difference between the walls: %s, %s, maybe by chance",
                    walls, size);
    if (known || wall->old_s != wall->new_s)
        add_certain(&text, page, wall);
    bp_page_colour(page, !wall->certain ? 0 : wall->factor > 1 ? BP_PAGE_RED : BP_PAGE_GREEN);
    bp_page_wrap(page, bp_text_get(&text), 0);
    bp_page_colour(page, 0);
    bp_text_fini(&text);
}

/* Then the wall is longer than the work, for reasons outside of the program. */
static void print_lost(const struct bp_page *page, const struct bp_diff *diff) {
    double old_s = bp_diff_quiet_mean(diff->runs, diff->old_side.count);
    double new_s = bp_diff_quiet_mean(diff->runs + diff->old_side.count, diff->new_side.count);
    double old_part = 1 - old_s / diff->wall.old_s;
    double new_part = 1 - new_s / diff->wall.new_s;
    char walls[80];
    if (!(old_part >= LOST_PART) && !(new_part >= LOST_PART))
        return;
    describe_walls(page, old_s, new_s, walls);
    bp_page_say(page, 0,
                "Other programs had the CPU for %.0f %% of OLD and %.0f %% of NEW; on a quiet "
                "machine about %s.",
                100 * old_part, 100 * new_part, walls);
}

static double stray_percent(const struct bp_diff_run *runs, uint32_t count, double wall_s) {
    double s = 0;
    for (uint32_t i = 0; i < count; i++)
        s += (runs[i].stray_s + (count > 1 ? 0 : runs[i].stall_s)) / count;
    return 100 * fmin(s / wall_s, 1);
}

static void print_stray(const struct bp_page *page, const struct bp_diff *diff) {
    const struct bp_diff_run *new_runs = diff->runs + diff->old_side.count;
    double old_percent = stray_percent(diff->runs, diff->old_side.count, diff->wall.old_s);
    double new_percent = stray_percent(new_runs, diff->new_side.count, diff->wall.new_s);
    if (!(old_percent >= STRAY_PERCENT) && !(new_percent >= STRAY_PERCENT))
        return;
    bp_page_say(
        page, 0,
        "%.0f %% of OLD and %.0f %% of NEW is idle, the start of programs, or without a CPU "
        "for unknown reasons: that widens the interval.",
        old_percent, new_percent);
}

static void print_interval(const struct bp_page *page, const struct bp_diff *diff) {
    int next = 0;
    if (diff->wall.old_s != diff->wall.new_s) {
        char *interval = bp_diff_describe_interval(diff, page->utf8);
        bp_page_wrap(page, interval, 0);
        free(interval);
        print_lost(page, diff);
        print_stray(page, diff);
    }
    for (char *odd; (odd = bp_diff_describe_sides(diff, &next)); free(odd))
        bp_page_wrap(page, odd, 0);
}

static int name_width(const struct bp_page *page) {
    int left = page->width - OTHERS;
    return left < LEAST_NAME ? LEAST_NAME : left > LONGEST_NAME ? LONGEST_NAME : left;
}

void bp_diff_text_change(const struct bp_page *page, double change_s, const char *how) {
    char text[48];
    snprintf(text, sizeof(text), "%s%s", change_s < 0 ? "-" : "+", BP_TIME(page, fabs(change_s)));
    bp_page_colour(page, change_s > 0 ? BP_PAGE_RED : BP_PAGE_GREEN);
    bp_page_right(page, text, 10);
    bp_page_colour(page, 0);
    fputs(how[0] ? "  " : "", page->out);
    fputs(how, page->out);
}

/* A change as part of OLD's wall; seconds say more than thousands of per cent. */
static void print_percent(const struct bp_page *page, double s, double wall_s) {
    char text[48] = "";
    double percent = wall_s > 0 ? 100 * s / wall_s : 0;
    if (wall_s > 0 && fabs(percent) < 1000)
        snprintf(text, sizeof(text), "%+.1f %%", percent);
    bp_page_right(page, text, text[0] ? 9 : 0);
    fputc('\n', page->out);
}

static void print_sum(const struct bp_page *page, const char *name, const struct bp_diff_row *row,
                      double wall_s, const struct bp_column *columns) {
    bp_columns_begin(page, columns, "  ", name, row);
    bool changed = fabs(row->change_s) > ROUNDING * row->old_s;
    if (changed)
        bp_diff_text_change(page, row->change_s, "");
    print_percent(page, row->change_s, changed ? wall_s : 0);
}

static const char *headline_key(int number) {
    return number < BP_CATEGORIES ? bp_category_name((enum bp_category)number)
                                  : bp_split_key((enum bp_split_row)(number - BP_CATEGORIES));
}

/* Categories or rows of the split, in their order. */
static void print_shares(const struct bp_page *page, const struct bp_diff *diff,
                         const struct bp_diff_row *wall, const struct bp_column *columns) {
    for (int k = 0; k < BP_CATEGORIES + BP_SPLIT_ROWS; k++)
        for (uint32_t i = 0; i < diff->row_count; i++) {
            const struct bp_diff_row *row = &diff->rows[i];
            if (bp_diff_is_headline(diff, row) &&
                (row->kind == BP_DIFF_SPLIT) == (k >= BP_CATEGORIES) &&
                strcmp(row->name, headline_key(k)) == 0 &&
                fmax(row->old_s, row->new_s) > ROUNDING * wall->old_s)
                print_sum(page, bp_diff_headline_name(row), row, wall->old_s, columns);
        }
}

/* As measured, in per cent of OLD's wall. */
static void print_sums(const struct bp_page *page, const struct bp_diff *diff) {
    const struct bp_diff_row *wall = bp_diff_find(diff, BP_DIFF_WALL);
    const struct bp_column columns[] = {
        BP_LABEL(2 + name_width(page) - bp_columns_extra(page)),
        BP_COLUMN("OLD", 10, bp_cell_time, struct bp_diff_row, old_s),
        BP_COLUMN("NEW", 10, bp_cell_time, struct bp_diff_row, new_s),
        BP_HEAD("change", 10),
        BP_HEAD("of OLD", 9),
        BP_LAST_COLUMN,
    };
    bp_columns_title(page, "Wall, as measured", columns);
    print_sum(page, "all", wall, wall->old_s, columns);
    print_shares(page, diff, wall, columns);
    const struct bp_diff_row *task = bp_diff_find(diff, BP_DIFF_TASK);
    if (task)
        print_sum(page, task->name, task, 0, columns);
}

static void print_part(const struct bp_page *page, const char *name, double s, double wall_s) {
    fputs("  ", page->out);
    bp_page_left(page, name, name_width(page) + 20);
    if (fabs(s) > ROUNDING * wall_s)
        bp_diff_text_change(page, s, "");
    else
        bp_page_right(page, "0", 10);
    print_percent(page, s, fabs(s) > ROUNDING * wall_s ? wall_s : 0);
}

/* The parts add up to the change; those that are too small to show are in the last one. */
static void print_parts(const struct bp_page *page, const struct bp_diff *diff) {
    const struct bp_diff_wall *wall = &diff->wall;
    const struct {
        const char *name;
        double s;
    } parts[] = {
        {"certain: the differences below", wall->certain_s},
        {"shared evenly by all functions", wall->even_s},
        {wall->parallel_s < 0 ? "more threads busy at once" : "fewer threads busy at once",
         wall->parallel_s},
        {"overhead", wall->overhead_s},
    };
    double rest_s = wall->new_s - wall->old_s;
    double least_s = SMALL_PART * fmax(wall->old_s, wall->new_s);
    fputc('\n', page->out);
    bp_page_heading(page, "What the change consists of\n");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (fabs(parts[i].s) > least_s || (i == 0 && diff->differences)) {
            print_part(page, parts[i].name, parts[i].s, wall->old_s);
            rest_s -= parts[i].s;
        }
    print_part(page, "unexplained", rest_s, wall->old_s);
}

static void print_shared(const struct bp_page *page, const struct bp_diff *diff) {
    char size[64];
    double s = diff->wall.even_s;
    bp_diff_factor(diff->common, page->utf8, size);
    if (fabs(s) > SMALL_PART * fmax(diff->wall.old_s, diff->wall.new_s)) {
        bp_page_say(
            page, 2,
            "  %s%s is spread evenly over %u functions, %s each: the machine, or something that "
            "makes everything %s.",
            s < 0 ? "-" : "+", BP_TIME(page, fabs(s)), diff->alike, size,
            s > 0 ? "slower" : "faster");
    }
}

/* What could not have been seen. */
static void print_spread(const struct bp_page *page, const struct bp_diff *diff) {
    double spread = bp_diff_relative_spread(diff);
    if (diff->run_count > 2 || diff->chosen || diff->wall.old_s == diff->wall.new_s)
        return;
    bp_page_say(page, 0,
                "In a single run a function's change of up to +%.0f %% or -%.0f %% is taken for "
                "chance, and more if its shortest call is as short as before.",
                100 * bp_diff_chance_slower(spread), 100 * bp_diff_chance_faster(spread));
}

/* A line of its own holds the command, to be pasted. */
static void print_next(const struct bp_page *page, const struct bp_diff *diff) {
    double half = log(diff->wall.high / diff->wall.low) / 2;
    bool wide = diff->run_count <= 2 && half > BP_DIFF_WIDE && diff->wall.old_s != diff->wall.new_s;
    char *again = wide ? bp_again_run(diff->runs[diff->old_side.count].model, "--repeat 5") : NULL;
    char *command = again ? again : bp_hint_report(diff->new_side.path, "");
    fputs("\nnext: ", page->out);
    bp_page_command(page, command, 6, 6);
    free(command);
    if (again)
        fputs("      for OLD and NEW each: it narrows the interval\n", page->out);
    else if (wide)
        bp_page_wrap(page, "      --repeat 5 for OLD and NEW each narrows the interval", 6);
}

/* That nothing differs is only said of what could be compared. */
static void print_wall(const struct bp_page *page, const struct bp_diff *diff) {
    if (diff->differences == 0 && !bp_diff_is_likely(diff)) {
        if (!diff->chosen)
            fprintf(page->out, "No differences in any %sfunction, copy or kernel.\n",
                    bp_diff_find(diff, BP_DIFF_SAMPLED) ? "counted " : "");
        else
            print_sums(page, diff);
        return;
    }
    print_sums(page, diff);
    print_parts(page, diff);
    print_shared(page, diff);
}

int bp_diff_text(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out) {
    struct bp_page page;
    char old_date[48];
    char new_date[48];
    unsigned top = settings->top ? settings->top : DEFAULT_TOP;
    bp_page_init(&page, out);
    dates(diff, old_date, new_date);
    print_side(&page, "OLD", &diff->old_side, diff->runs, diff->wall.old_s, old_date);
    print_side(&page, "NEW", &diff->new_side, diff->runs + diff->old_side.count, diff->wall.new_s,
               new_date);
    fputc('\n', out);
    print_headline(&page, diff);
    print_interval(&page, diff);
    print_wall(&page, diff);
    bp_diff_text_causes(&page, diff, top);
    bp_diff_text_rows(&page, diff, BP_DIFF_SAMPLED, "Differences by samples", top);
    bp_diff_text_rows(&page, diff, BP_DIFF_GROUP, "Groups", top);
    print_spread(&page, diff);
    print_next(&page, diff);
    return 0;
}
