/* SPDX-License-Identifier: MIT
 *
 * `battprof top`: a run while it goes on, on a terminal as top(1) does it, elsewhere a block of
 * lines per interval. It ends with the run.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/clock.h"
#include "tools/base/memory.h"
#include "tools/command/commands.h"
#include "tools/live/find.h"
#include "tools/live/screen.h"
#include "tools/live/terminal.h"

#define USUAL_S 1.0        /* between looks on a terminal */
#define USUAL_BLOCK_S 10.0 /* elsewhere */
#define SHORTEST_S 0.05
#define BLOCK_ROWS 20
#define START_MS 200 /* for the first interval */

struct settings {
    double every_s;
    double budget_s;
    unsigned expect;
    unsigned count;
    const char *by;
    const char *rules;
};

#define SETTING(member) offsetof(struct settings, member)

static const struct bp_option options[] = {
    {"budget", 0, "TIME", "compare the expected end with TIME: 8h, 90m, 300s", bp_option_time,
     SETTING(budget_s)},
    {"by", 0, "function|thread|process", "the table that is shown first", bp_option_choice,
     SETTING(by)},
    {"count", 'n', "N", "stop after N updates", bp_option_number, SETTING(count)},
    {"every", 0, "TIME", "time between updates (default 1s on a terminal, else 10s)",
     bp_option_time, SETTING(every_s)},
    {"expect", 0, "N", "the run has N tasks: estimate when it will end", bp_option_number,
     SETTING(expect)},
    {"rules", 0, "FILE", "categories and groups from FILE", bp_option_text, SETTING(rules)},
};

const struct bp_command bp_command_top = {
    .name = "top",
    .summary = "watch a run while it goes on",
    .usage = "[options] [PID|DIR]",
    .about = "Shows what a run is doing: its categories since the start and in the last interval, "
             "the busiest functions, tasks, copies, threads and their open calls. Reads the "
             "profiles that the run writes; the targets do not notice. Without a name: the run in "
             "the working directory. On a terminal h shows the keys.",
    .next = "Examples:\n"
            "  battprof top\n"
            "  battprof top --every 60s --budget 9h battprof.out > progress.log &",
    .options = options,
    .option_count = BP_OPTION_COUNT(options),
    .main = bp_cmd_top,
};

struct top {
    struct settings settings;
    struct bp_look look;
    struct bp_screen screen;
    bool terminal;
};

/* Without the blanks that fill columns. */
static void print_lines(const char *text) {
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        size_t length = (size_t)(end - text);
        while (length && text[length - 1] == ' ')
            length--;
        printf("%.*s\n", (int)length, text);
    }
}

/* The page of the last look: on the terminal's own screen, or as a block of lines. */
static void show(const struct top *top, bool block) {
    char *text = NULL;
    size_t size = 0;
    struct bp_screen screen = top->screen;
    screen.keys = !block;
    if (!block)
        bp_terminal_size(&screen.page.width, &screen.rows);
    screen.page.out = open_memstream(&text, &size);
    if (!screen.page.out)
        bp_memory_end();
    bp_screen_print(&screen, &top->look);
    fclose(screen.page.out);
    if (block)
        print_lines(text);
    else
        bp_terminal_show(text, size);
    free(text);
    fflush(stdout);
}

/* False: to end. */
static bool act_on(struct top *top, int key) {
    struct bp_screen *screen = &top->screen;
    static const char tables[] = "ftph";
    const char *table = key > 0 ? strchr(tables, key == '?' ? 'h' : key) : NULL;
    if (key == 'q' || key == BP_TERMINAL_END)
        return false;
    if (table)
        screen->table = (enum bp_screen_table)(table - tables);
    else if (key == 's')
        screen->sort = (screen->sort + 1) % BP_SORTS;
    else if (key == ' ')
        screen->frozen = !screen->frozen;
    return true;
}

static uint64_t now_ms(void) {
    return bp_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Keys are acted upon at once. False: to end. */
static bool wait_until(struct top *top, uint64_t due) {
    for (uint64_t now; (now = now_ms()) < due || top->screen.frozen;) {
        uint64_t left = now < due ? due - now : 500;
        int key = bp_terminal_key(left < 500 ? (int)left : 500);
        if (!act_on(top, key))
            return false;
        if (key != BP_TERMINAL_NOTHING)
            show(top, false);
    }
    return true;
}

static void sleep_until(uint64_t due) {
    uint64_t now = now_ms();
    struct timespec time = {.tv_sec = (time_t)(now < due ? (due - now) / 1000 : 0),
                            .tv_nsec = (long)(now < due ? (due - now) % 1000 * 1000000 : 0)};
    nanosleep(&time, NULL);
}

/* Until the run is over, or enough was seen. */
static void watch(struct top *top) {
    uint64_t every = (uint64_t)(top->settings.every_s * 1000);
    uint64_t due = now_ms() + (top->terminal && every > START_MS ? START_MS : every);
    bool on = true;
    bp_look_again(&top->look);
    for (unsigned i = 1; on; i++, due = now_ms() + every) {
        if (top->terminal)
            show(top, false);
        if (!top->terminal)
            sleep_until(due);
        else if (!wait_until(top, due))
            break;
        bp_look_again(&top->look);
        on = bp_look_is_running(&top->look) && (!top->settings.count || i < top->settings.count);
        if (!top->terminal) {
            show(top, true);
            fputs(on ? "\n" : "", stdout);
        }
    }
}

static void set_up(struct top *top) {
    const char *by = top->settings.by;
    top->terminal = bp_terminal_open();
    bp_page_init(&top->screen.page, stdout);
    if (top->settings.every_s == 0)
        top->settings.every_s = top->terminal ? USUAL_S : USUAL_BLOCK_S;
    if (top->settings.every_s < SHORTEST_S)
        top->settings.every_s = SHORTEST_S;
    top->screen.rows = BLOCK_ROWS;
    top->screen.budget_s = top->settings.budget_s;
    top->screen.expected = top->settings.expect;
    top->screen.table = !by || by[0] == 'f' ? BP_SCREEN_FUNCTIONS
                        : by[0] == 't'      ? BP_SCREEN_THREADS
                                            : BP_SCREEN_PROCESSES;
}

int bp_cmd_top(int argc, char **argv, struct bp_error *error) {
    struct top top = {0};
    int first = bp_options_parse(&bp_command_top, &top.settings, argc, argv, error);
    if (first <= 0)
        return first == 0 ? BP_FINE : BP_USAGE;
    if (argc - first > 1) {
        bp_error_set(error, BP_USAGE, "top: one run at a time; '%s' is one too many",
                     argv[first + 1]);
        return BP_USAGE;
    }
    char *path = bp_find_run(first < argc ? argv[first] : NULL, error);
    int failed = !path || bp_look_init(&top.look, path, top.settings.rules, error);
    free(path);
    if (failed)
        return BP_FAILED;
    set_up(&top);
    watch(&top);
    bp_terminal_close();
    if (top.terminal) /* what was last seen stays in the terminal's history */
        show(&top, true);
    bp_look_fini(&top.look);
    bp_terminal_raise();
    return BP_FINE;
}
