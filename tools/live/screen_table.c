/* SPDX-License-Identifier: MIT
 *
 * The tables of `battprof top`: functions, threads, processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/live/screen.h"

/* Columns of the numbers before a name. */
#define NUMBERS 48

static struct {
    enum bp_screen_sort sort;
    const struct bp_live_function *rows;
} order;

static double key_of(const struct bp_live_function *row) {
    return order.sort == BP_SORT_CALLS ? (double)row->interval_calls
           : order.sort == BP_SORT_ALL ? row->self_s + row->open_s
                                       : row->interval_s;
}

/* Who waits is not busy: those come last, unless calls are asked for. What has not moved in this
 * interval is in the order of the whole run. */
static int compare(const void *a, const void *b) {
    const struct bp_live_function *x = &order.rows[*(const uint32_t *)a];
    const struct bp_live_function *y = &order.rows[*(const uint32_t *)b];
    bool x_waits = x->kind == BP_FUNC_WAIT, y_waits = y->kind == BP_FUNC_WAIT;
    if (x_waits != y_waits && order.sort != BP_SORT_CALLS)
        return x_waits ? 1 : -1;
    if (key_of(x) != key_of(y))
        return key_of(x) > key_of(y) ? -1 : 1;
    double all = x->self_s + x->open_s - y->self_s - y->open_s;
    return all > 0 ? -1 : all < 0 ? 1 : strcmp(x->name, y->name);
}

static void print_function(const struct bp_page *page, const struct bp_look *look,
                           const struct bp_live_function *row) {
    double s = look->interval.wall_s;
    bool called = row->kind != BP_FUNC_ROOT && row->kind != BP_FUNC_FOLDED;
    bp_page_right(page, s > 0 ? BP_TIME(page, row->interval_s / s) : "-", 9);
    bp_page_right(page, s > 0 && called ? BP_RATIO((double)row->interval_calls / s) : "-", 11);
    bp_page_right(page, BP_TIME(page, row->self_s + row->open_s), 11);
    bp_page_right(page, called ? BP_COUNT(row->calls) : "-", 15);
    char *label =
        row->place[0] ? bp_make_text("%s  %s", row->name, row->place) : bp_copy_text(row->name);
    fputs("  ", page->out);
    bp_page_colour(page, row->category == BP_DSL ? 32 : 0);
    bp_page_left(page, label, page->width - NUMBERS);
    bp_page_colour(page, 0);
    fputc('\n', page->out);
    free(label);
}

static void print_functions(const struct bp_screen *screen, const struct bp_look *look, int rows) {
    static const char *const sorted[BP_SORTS] = {"self time", "calls", "self time since the start"};
    uint32_t count = 0, *list = bp_alloc(look->functions.count + 1, sizeof(*list));
    for (uint32_t i = 0; i < look->functions.count; i++)
        if (look->functions.rows[i].calls || look->functions.rows[i].open ||
            look->functions.rows[i].self_s + look->functions.rows[i].open_s > 0)
            list[count++] = i;
    order.sort = screen->sort;
    order.rows = look->functions.rows;
    qsort(list, count, sizeof(*list), compare);
    fprintf(screen->page.out, "\n   self/s    calls/s       self          calls  function, by %s\n",
            sorted[screen->sort]);
    for (uint32_t i = 0; i < count && (int)i < rows; i++)
        print_function(&screen->page, look, &look->functions.rows[list[i]]);
    free(list);
}

/* "malloc < objects < solve": innermost first, since the line may be cut. */
static char *path_of(const struct bp_look *look, const struct bp_live_thread *thread) {
    struct bp_text text = {0};
    for (uint32_t i = 0; i < thread->call_count; i++)
        bp_text_add(&text, "%s%s", i ? " < " : "",
                    look->functions.rows[thread->calls[i].function].name);
    if (thread->depth > thread->call_count)
        bp_text_add(&text, " < and %u more", thread->depth - thread->call_count);
    if (!thread->call_count)
        bp_text_add(&text, "own code");
    return bp_text_take(&text);
}

static void print_thread(const struct bp_page *page, const struct bp_look *look,
                         const struct bp_live_process *process,
                         const struct bp_live_thread *thread) {
    struct bp_live_times times = bp_live_thread_interval(thread);
    double s = look->interval.wall_s;
    char *path = path_of(look, thread);
    fprintf(page->out, "%8d %8d  ", process->pid, thread->tid);
    bp_page_left(page, thread->name, 12);
    bp_page_right(page, s > 0 ? BP_SHARE(bp_live_times_busy(&times), s) : "-", 9);
    bp_page_right(page, thread->ready_s >= 0 ? BP_SHARE(thread->ready_s, 1) : "-", 9);
    bp_page_right(page, thread->call_count ? BP_TIME(page, thread->calls[0].age_s) : "-", 10);
    fputs("  ", page->out);
    bp_page_left(page, path, page->width - 62);
    fputc('\n', page->out);
    free(path);
}

static void print_threads(const struct bp_screen *screen, const struct bp_look *look, int rows) {
    const struct bp_page *page = &screen->page;
    fprintf(page->out,
            "\n     pid      tid  name             busy   no CPU  open for  open calls\n");
    for (uint32_t i = 0; i < look->process_count; i++)
        for (uint32_t t = 0; t < look->processes[i]->thread_count; t++)
            if (look->processes[i]->threads[t].alive && rows-- > 0)
                print_thread(page, look, look->processes[i], &look->processes[i]->threads[t]);
}

static void print_process(const struct bp_page *page, const struct bp_look *look,
                          const struct bp_live_process *process) {
    static const char *const states[] = {"running", "ended", "exec", "gone"};
    double s = look->interval.wall_s, busy = 0, dsl = 0;
    uint32_t alive = 0;
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct bp_live_times times = bp_live_thread_interval(&process->threads[i]);
        busy += bp_live_times_busy(&times);
        dsl += times.category_s[BP_DSL];
        alive += process->threads[i].alive;
    }
    fprintf(page->out, "%8d  ", process->pid);
    bp_page_left(page, states[process->state], 9);
    fprintf(page->out, "%7u", alive);
    fprintf(page->out, s > 0 ? "%9.1f" : "%9.0f", s > 0 ? busy / s : 0);
    bp_page_right(page, busy > 0 ? BP_SHARE(dsl, busy) : "-", 10);
    fputs("  ", page->out);
    bp_page_left(page, process->program, page->width - 47);
    fputc('\n', page->out);
}

/* Those that run come first. */
static void print_processes(const struct bp_screen *screen, const struct bp_look *look, int rows) {
    fputs("\n     pid  state    threads     busy   DSL of it  program\n", screen->page.out);
    for (int runs = 1; runs >= 0; runs--)
        for (uint32_t i = 0; i < look->process_count; i++)
            if ((look->processes[i]->state == BP_LIVE_RUNS) == runs && rows-- > 0)
                print_process(&screen->page, look, look->processes[i]);
}

void bp_screen_table(const struct bp_screen *screen, const struct bp_look *look, int rows) {
    if (screen->table == BP_SCREEN_THREADS)
        print_threads(screen, look, rows);
    else if (screen->table == BP_SCREEN_PROCESSES)
        print_processes(screen, look, rows);
    else
        print_functions(screen, look, rows);
}
