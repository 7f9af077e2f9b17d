/* SPDX-License-Identifier: MIT
 *
 * Lines of functions: in the overview those that dominate a function, below it; with --lines all of
 * the functions that are asked for, in the order of their source.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/render/text/internal.h"

/* What dominates: parts of the function and of the wall, and samples enough to know it. */
#define MOST_LINES 3
#define LEAST_OF_FUNCTION 0.1
#define LEAST_OF_WALL 0.01
#define LEAST_SAMPLES 8
/* Words that are shown, and the part of the time that one must have. */
#define MOST_WORDS 3
#define LEAST_WORD 0.05
/* A kind of work that is worth a row in the overview. */
#define LEAST_WORK 0.25
/* Columns right of the source text: self with its error, its share, total. */
#define RIGHT (BP_PAGE_ESTIMATE + 9 + 10)
#define WIDEST_PLACE 24

/* "dsl.py:6": a new text. */
static char *place_of(const struct bp_source_line *line) {
    return bp_make_text("%s:%u", bp_base_name(line->file), line->line);
}

/* The place, padded, and the text of the line as far as it is known: a new text. */
static char *label_of(const struct bp_model *model, const struct bp_source_line *line, int width) {
    const char *source = bp_model_source(model, line);
    char *place = place_of(line);
    int pad = width - bp_page_columns(place);
    char *label = bp_make_text("%s%*s%s%s", place, source && pad > 0 ? pad : 0, "",
                               source ? "  " : "", source ? source : "");
    free(place);
    return label;
}

/* "95 % building strings, 3 % calling functions"; nothing if nothing stands out. */
static void add_words(struct bp_text *text, const struct bp_model *model,
                      const struct bp_work *works, uint32_t count, double whole) {
    for (uint32_t i = 0; i < count && i < MOST_WORDS && works[i].s >= LEAST_WORD * whole; i++) {
        char *label = bp_work_label(model, &works[i]);
        bp_text_add(text, "%s%.0f %% %s", i ? ", " : "", 100 * works[i].s / whole, label);
        free(label);
    }
}

static bool dominates(const struct bp_model *model, const struct bp_function_lines *of,
                      const struct bp_source_line *line) {
    return line->self_samples >= LEAST_SAMPLES && line->self_s >= LEAST_OF_FUNCTION * of->self_s &&
           line->self_wall_s >= LEAST_OF_WALL * model->wall.total_s &&
           line->self_s > line->self_error_s;
}

/* Bytecode is what Python code is expected to do, and of the rest nothing is known. */
static bool tells(const struct bp_function_lines *of) {
    for (uint32_t i = 0; i < of->work_count; i++)
        if (of->works[i].kind < BP_WORK_CALLS && of->works[i].s >= LEAST_WORK * of->self_s)
            return true;
    return false;
}

static void overview_line(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_source_line *line, double whole, int column) {
    char *label = label_of(model, line, 0);
    char share[32];
    fputs("    ", page->out);
    bp_page_left(page, label, column - 4 + bp_columns_extra(page));
    snprintf(share, sizeof(share), "%.0f %% of it", 100 * line->self_s / whole);
    fputs(BP_ESTIMATE(page, line->self_s, line->self_error_s), page->out);
    bp_page_right(page, share, 11);
    fputc('\n', page->out);
    free(label);
}

void bp_report_overview_lines(const struct bp_page *page, const struct bp_model *model,
                              uint32_t function, int column) {
    const struct bp_function_lines *of = bp_model_lines(model, function);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < of->count && shown < MOST_LINES; i++)
        if (dominates(model, of, &of->lines[i])) {
            overview_line(page, model, &of->lines[i], of->self_s, column);
            shown++;
        }
    if (!shown || !tells(of))
        return;
    struct bp_text words = {0};
    add_words(&words, model, of->works, of->work_count, of->self_s);
    bp_page_say(page, 6, "    %s", bp_text_get(&words));
    bp_text_fini(&words);
}

static int compare_source(const void *a, const void *b) {
    const struct bp_source_line *x = *(const struct bp_source_line *const *)a;
    const struct bp_source_line *y = *(const struct bp_source_line *const *)b;
    int files = strcmp(x->file, y->file);
    return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

/* A paragraph below a row, if there is one. Ends the text. */
static void print_detail(const struct bp_page *page, struct bp_text *text, int indent) {
    char *line = bp_make_text("%*s%s", indent, "", bp_text_get(text));
    if (text->length)
        bp_page_wrap(page, line, indent);
    free(line);
    bp_text_fini(text);
}

/* What is known of a line beside its times, below its text. */
static void print_details(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_source_line *line, double whole, int indent) {
    struct bp_text text = {0};
    if (line->self_s >= LEAST_OF_FUNCTION * whole && line->work_count &&
        line->works[0].kind < BP_WORK_CALLS)
        add_words(&text, model, line->works, line->work_count, line->self_s);
    bool told = text.length && line->works[0].function == line->callee;
    if (line->callee != BP_NO_FUNCTION && !told && line->callee_s >= LEAST_OF_FUNCTION * whole)
        bp_text_add(&text, "%s%s: %s", text.length ? "; " : "",
                    model->functions[line->callee].label, BP_TIME(page, line->callee_s));
    print_detail(page, &text, indent);
}

static const char *cell_self(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_source_line *line = value;
    return line->self_s > 0 ? bp_page_estimate(page, line->self_s, line->self_error_s, text) : "";
}

static const char *cell_share(const struct bp_page *page, const void *value, char text[64]) {
    return *(const double *)value > 0 ? bp_cell_share(page, value, text) : "";
}

/* The page's whole is the function's. */
static void print_times(const struct bp_page *page, const char *mark, const char *label,
                        const struct bp_source_line *line) {
    const struct bp_column columns[] = {
        BP_LABEL(BP_PAGE_WIDTH - RIGHT),
        {"", BP_PAGE_ESTIMATE, cell_self, 0},
        BP_COLUMN("", 9, cell_share, struct bp_source_line, self_s),
        BP_COLUMN("", 10, bp_cell_time, struct bp_source_line, total_s),
        BP_LAST_COLUMN,
    };
    bp_columns_row(page, columns, mark, label, line);
}

static void print_line(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_function_lines *of, const struct bp_source_line *line,
                       int place) {
    char *label = label_of(model, line, place);
    struct bp_page table = *page;
    table.whole = of->self_s;
    print_times(&table, "  ", label, line);
    free(label);
    print_details(page, model, line, of->total_s, 4 + place);
}

/* The line of the whole function; its time is exact where it is intercepted. */
static void print_function(const struct bp_page *page, const struct bp_model *model,
                           uint32_t number) {
    const struct bp_function *function = &model->functions[number];
    const struct bp_function_lines *of = bp_model_lines(model, number);
    struct bp_text words = {0};
    bool exact = bp_function_used(function);
    char *label = bp_make_text("%s%s", exact ? "" : "~ ", function->label);
    bp_page_left(page, label, BP_PAGE_WIDTH - RIGHT + bp_columns_extra(page));
    bp_page_right(page, BP_TIME(page, exact ? function->self_s : of->self_s), BP_PAGE_VALUE);
    bp_page_right(page, BP_TIME(page, exact ? function->total_s : of->total_s),
                  RIGHT - BP_PAGE_VALUE);
    fputc('\n', page->out);
    free(label);
    add_words(&words, model, of->works, of->work_count, of->self_s);
    print_detail(page, &words, 2);
}

static int widest_place(const struct bp_source_line *const *lines, uint32_t count) {
    int widest = 0;
    for (uint32_t i = 0; i < count; i++) {
        char *place = place_of(lines[i]);
        int columns = bp_page_columns(place);
        free(place);
        if (columns > widest && columns <= WIDEST_PLACE)
            widest = columns;
    }
    return widest;
}

/* All lines of a function in source order, or those that dominate it. */
static void print_lines(const struct bp_page *page, const struct bp_model *model, uint32_t number,
                        bool all) {
    const struct bp_function_lines *of = bp_model_lines(model, number);
    const struct bp_source_line **lines = bp_alloc(of->count, sizeof(*lines));
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->count; i++)
        if (all || dominates(model, of, &of->lines[i]))
            lines[count++] = &of->lines[i];
    qsort(lines, count, sizeof(*lines), compare_source);
    int place = widest_place(lines, count);
    print_function(page, model, number);
    for (uint32_t i = 0; i < count; i++)
        print_line(page, model, of, lines[i], place);
    free(lines);
}

static bool has_dominating(const struct bp_model *model, uint32_t number) {
    const struct bp_function_lines *of = bp_model_lines(model, number);
    return of->count > 0 && dominates(model, of, &of->lines[0]);
}

bool bp_report_has_lines(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->function_count; i++)
        if (has_dominating(model, i))
            return true;
    return false;
}

/* Why there is nothing, and for a run without lines that stand out which function has most. */
static void say_none(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings) {
    struct bp_text text = {0};
    bool named = settings->search.count > 0;
    uint32_t count;
    uint32_t *order = bp_report_line_order(model, settings, &count);
    bp_text_add(&text, "no line");
    for (size_t i = 0; i < settings->search.count; i++)
        bp_text_add(&text, "%s'%s'", i ? ", " : " of ", settings->search.word[i]);
    bp_text_add(&text, "%s", named ? "" : " takes a part that stands out");
    if (!model->samples.on)
        bp_text_add(&text, ": the run was not sampled");
    else if (named)
        bp_text_add(&text, ": samples found no function of that name, or it has no line table "
                           "(compile with -g)");
    else if (count)
        bp_text_add(&text, ": --lines %s has all of one function",
                    model->functions[order[0]].full_name);
    fputc('\n', page->out);
    bp_page_wrap(page, bp_text_get(&text), 2);
    bp_text_fini(&text);
    free(order);
}

static bool is_exact(const struct bp_model *model, uint32_t number) {
    uint32_t count;
    return bp_model_exact_lines(model, number, &count) != NULL;
}

/* Functions whose lines were counted have tables of their own, first. Returns how many. */
static uint32_t print_exact(const struct bp_page *page, const struct bp_model *model,
                            const uint32_t *order, uint32_t count, uint32_t top) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_exact(model, order[i]) && shown++ < top)
            bp_report_exact_function(page, model, order[i]);
    bp_columns_more(page, "", shown, top);
    return shown;
}

static void print_title(const struct bp_page *page) {
    const struct bp_column columns[] = {
        BP_LABEL(BP_PAGE_WIDTH - RIGHT),
        BP_HEAD("self", BP_PAGE_VALUE),
        BP_HEAD("of it", 9 + BP_PAGE_ESTIMATE - BP_PAGE_VALUE),
        BP_HEAD("total", 10),
        BP_LAST_COLUMN,
    };
    bp_columns_title(page, "Lines", columns);
}

void bp_report_lines_of(const struct bp_page *page, const struct bp_model *model, uint32_t number) {
    if (is_exact(model, number)) {
        bp_report_exact_function(page, model, number);
    } else if (bp_model_lines(model, number)->count) {
        print_title(page);
        print_lines(page, model, number, true);
    }
}

void bp_report_lines(const struct bp_page *page, const struct bp_model *model,
                     const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t shown = 0;
    bool all = settings->search.count > 0;
    uint32_t *order = bp_report_line_order(model, settings, &count);
    uint32_t exact = print_exact(page, model, order, count, settings->top);
    for (uint32_t i = 0; i < count; i++) {
        if (is_exact(model, order[i]) || (!all && !has_dominating(model, order[i])))
            continue;
        if (shown == 0)
            print_title(page);
        if (shown++ < settings->top)
            print_lines(page, model, order[i], all);
    }
    bp_columns_more(page, "", shown, settings->top);
    if (shown + exact == 0)
        say_none(page, model, settings);
    free(order);
}
