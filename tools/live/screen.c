/* SPDX-License-Identifier: MIT
 *
 * The head of the screen: bars, threads, tasks, copies.
 */
#include "tools/live/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"
#include "tools/base/text.h"
#include "tools/live/tasks.h"

#define BAR 24       /* columns of a bar */
#define NUMBERS 62   /* columns of the line without the bar */
#define FRAME_ROWS 4 /* around the rows of a table: an empty line and names, one more and keys */
#define LEAST_ROWS 3 /* of a table, however small the screen is */

static const struct {
    const char *name;
    int colour;
} categories[BP_CATEGORIES] = {
    [BP_DSL] = {"DSL", 32}, [BP_FRAMEWORK] = {"framework", 33}, [BP_TRANSFER] = {"transfer", 35}};

static void print_title(const struct bp_screen *screen, const struct bp_look *look) {
    const struct bp_page *page = &screen->page;
    char state[64];
    char *title = bp_make_text("%s  %s", look->directory, bp_look_program(look));
    snprintf(state, sizeof(state), "  %s %s%s", look->since_start.running ? "running" : "ended,",
             BP_TIME(page, look->since_start.wall_s), screen->frozen ? "  FROZEN" : "");
    bp_page_left(page, title, page->width - bp_page_columns(state));
    fprintf(page->out, "%s\n", state);
    free(title);
}

/* On a narrow terminal the numbers beside it have precedence. */
static int bar_length(const struct bp_page *page) {
    int room = page->width - NUMBERS;
    return room > BAR ? BAR : room > 0 ? room : 0;
}

/* One bar of three colours, each as long as its share; without colour, letters tell them apart. */
static void print_stack(const struct bp_page *page, const struct bp_live_totals *totals) {
    static const char letters[BP_CATEGORIES] = {
        [BP_DSL] = 'D', [BP_FRAMEWORK] = '.', [BP_TRANSFER] = 'T'};
    static const enum bp_category order[] = {BP_DSL, BP_TRANSFER, BP_FRAMEWORK};
    double sum = 0;
    int used = 0, length = bar_length(page);
    for (int i = 0; i < BP_CATEGORIES; i++) {
        sum += totals->category_s[order[i]];
        int end = totals->wall_s > 0 ? (int)(length * sum / totals->wall_s + 0.5) : 0;
        bp_page_colour(page, categories[order[i]].colour);
        for (; used < end && used < length; used++)
            if (page->colour && page->utf8)
                fputs("█", page->out);
            else
                fputc(letters[order[i]], page->out);
        bp_page_colour(page, 0);
    }
    fprintf(page->out, "%*s", length - used, "");
}

static void print_bar(const struct bp_page *page, const char *name,
                      const struct bp_live_totals *totals) {
    bp_page_left(page, name, 13); /* "last 99.8 ms" and a blank */
    print_stack(page, totals);
    for (int i = 0; totals->wall_s > 0 && i < BP_CATEGORIES; i++)
        fprintf(page->out, "  %s %s", categories[i].name,
                BP_SHARE(totals->category_s[i], totals->wall_s));
    if (totals->wall_s > 0 && totals->paused_s > 0)
        fprintf(page->out, "  paused %s", BP_SHARE(totals->paused_s, totals->wall_s));
    fputs(totals->wall_s > 0 ? "\n" : "  unknown yet\n", page->out);
}

/* What threads of such a process did last, and their parts of the wall, are not known. */
static void print_lost(const struct bp_page *page, const struct bp_look *look) {
    uint32_t lost = look->since_start.lost;
    if (lost)
        fprintf(page->out, "%s%u process%s disappeared (killed?) and %s not in it: %s report %s\n",
                look->since_start.running ? "" : "since start  unknown: ", lost,
                lost == 1 ? "" : "es", lost == 1 ? "is" : "are", bp_invoked(), look->directory);
}

static void print_bars(const struct bp_page *page, const struct bp_look *look) {
    char name[48];
    if (look->since_start.lost && !look->since_start.running) {
        print_lost(page, look);
        return;
    }
    print_bar(page, "since start", &look->since_start);
    snprintf(name, sizeof(name), "last %s", BP_TIME(page, look->interval.wall_s));
    print_bar(page, look->interval.wall_s > 0 ? name : "last", &look->interval);
    print_lost(page, look);
}

static uint32_t count_paused(const struct bp_look *look) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < look->process_count; i++) {
        const struct bp_live_process *process = look->processes[i];
        const struct bp_header *header = bp_live_file_header(&process->file);
        count += process->state == BP_LIVE_RUNS && header && header->paused_since != 0;
    }
    return count;
}

static void print_threads(const struct bp_page *page, const struct bp_look *look) {
    const struct bp_live_totals *start = &look->since_start, *last = &look->interval;
    uint32_t paused = count_paused(look);
    if (paused)
        fprintf(page->out, "recording of %u process%s is paused: %s start %s\n", paused,
                paused == 1 ? "" : "es", bp_invoked(), look->directory);
    fprintf(page->out, "%u process%s (%u running), %u thread%s", start->processes,
            start->processes == 1 ? "" : "es", start->running, start->alive,
            start->alive == 1 ? "" : "s");
    if (last->wall_s > 0)
        fprintf(page->out, ": %.1f busy, %.1f waiting", last->busy_s / last->wall_s,
                last->waiting_s / last->wall_s);
    if (last->ready_s >= 0)
        fprintf(page->out, ", %.1f without a CPU", last->ready_s);
    fputc('\n', page->out);
}

/* By the mean rate since the start. */
static void print_end(const struct bp_screen *screen, const struct bp_look *look, double rate) {
    const struct bp_page *page = &screen->page;
    double wall_s = look->since_start.wall_s;
    double left = screen->budget_s - wall_s;
    uint64_t ended = bp_task_watch_counts(look->tasks).ended;
    if (screen->expected && rate > 0) {
        double more = screen->expected > ended ? (double)(screen->expected - ended) / rate : 0;
        fprintf(page->out, "; %u expected in %s", screen->expected, BP_TIME(page, more));
        if (screen->budget_s > 0)
            fprintf(page->out, ", %s the budget", wall_s + more > screen->budget_s ? "over" : "in");
    } else if (screen->budget_s > 0 && rate > 0) {
        fprintf(page->out, "; about %s in the budget of %s",
                BP_COUNT(ended + bp_whole(left * rate)), BP_TIME(page, screen->budget_s));
    }
}

static void print_tasks(const struct bp_screen *screen, const struct bp_look *look) {
    const struct bp_page *page = &screen->page;
    struct bp_task_counts tasks = bp_task_watch_counts(look->tasks);
    if (!tasks.ended && !tasks.running)
        return;
    double wall_s = look->since_start.wall_s;
    double rate = wall_s > 0 ? (double)tasks.ended / wall_s : 0;
    fprintf(page->out, "tasks: %s ended", BP_COUNT(tasks.ended));
    if (tasks.failed)
        fprintf(page->out, " (%s failed)", BP_COUNT(tasks.failed));
    fprintf(page->out, ", %s running, %.3g a second", BP_COUNT(tasks.running), rate);
    print_end(screen, look, rate);
    fputc('\n', page->out);
}

static void print_devices(const struct bp_page *page, const struct bp_look *look) {
    static const char *const names[BP_DIRECTIONS] = {"H2D", "D2H", "D2D", "P2P", "memset"};
    double s = look->interval.wall_s;
    bool any = false;
    for (int i = 0; i < BP_DIRECTIONS; i++) {
        const struct bp_live_copies *now = &look->devices.copies[i];
        const struct bp_live_copies *before = &look->devices_before.copies[i];
        if (!now->count || !(s > 0))
            continue;
        fprintf(page->out, "%s%s %s/s, %s/s", any ? "; " : "copies: ", names[i],
                BP_RATIO((double)(now->count - before->count) / s),
                BP_BYTES((double)(now->bytes - before->bytes) / s));
        any = true;
    }
    for (uint32_t i = 0; i < look->devices.count && s > 0; i++) {
        double busy = look->devices.busy_s[i] - look->devices_before.busy_s[i];
        fprintf(page->out, "%sdevice %u busy %s", any ? "; " : "", i, BP_SHARE(busy, s));
        any = true;
    }
    if (any)
        fputc('\n', page->out);
}

static void print_help(const struct bp_page *page) {
    fputs("\n  f  functions          s  sort by self time, calls, or self time since the start\n  "
          "t  threads            space  freeze the screen, and go on\n  p  processes          q  "
          "quit\n  h  this text\n\n  Times are as recorded: they include the overhead, which a "
          "report subtracts. The\n  target does not notice that it is watched.\n",
          page->out);
}

static int lines_of(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Into memory first, since the table has what the head leaves. */
void bp_screen_print(const struct bp_screen *screen, const struct bp_look *look) {
    char *text = NULL;
    size_t size = 0;
    struct bp_screen head = *screen;
    head.page.out = open_memstream(&text, &size);
    if (!head.page.out)
        bp_memory_end();
    print_title(&head, look);
    print_bars(&head.page, look);
    print_threads(&head.page, look);
    print_tasks(&head, look);
    print_devices(&head.page, look);
    fclose(head.page.out);
    int left = screen->rows - lines_of(text) - FRAME_ROWS;
    fputs(text, screen->page.out);
    free(text);
    if (screen->table == BP_SCREEN_HELP)
        print_help(&screen->page);
    else
        bp_screen_table(screen, look, left > LEAST_ROWS ? left : LEAST_ROWS);
    if (screen->keys)
        fputs("\nf functions  t threads  p processes  s sort  space freeze  h help  q quit",
              screen->page.out);
}
