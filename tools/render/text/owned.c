/* SPDX-License-Identifier: MIT
 *
 * The overview of a run in which nothing was named as the DSL: the wall by whose code it was, what
 * was taken as the user's and how to have it timed call by call, and one table of all functions,
 * sampled and exact ones side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/choice.h"
#include "tools/base/memory.h"
#include "tools/render/text/internal.h"

#define NAME 33
#define BAR 20
#define NARROW_BAR 4
#define LABEL 38
/* Below this part of the wall, or where chance may have made it, a row is shown only where there is
 * little else; below the second one it would say 0.0 %. */
#define SMALLEST_PART 0.005
#define SMALLEST_SHARE 0.0005
#define LEAST_ROWS 4
/* Share of the wall from which on a function's lines and callers are worth the room. */
#define DETAIL_PART 0.05
/* The user's functions that are named beside a library's callers; share of the row for one. */
#define USER_NAMES 2
#define LEAST_USER 0.05
/* Lines whose sum exceeds their function's row by this factor need to be explained. */
#define MUCH_MORE 1.1

/* A row of the table: what a function took, sampled and exact. */
struct row {
    uint32_t function;
    bool exact;
    uint64_t calls;
    double self_s;
    double error_s;
    double cpu_s; /* -1: unknown */
    double wall_s;
    const struct bp_part *part; /* for its callers */
};

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      enum bp_split_row row) {
    static const int colours[BP_SPLIT_ROWS] = {
        [BP_SPLIT_YOURS] = 32,    [BP_SPLIT_LIBRARIES] = 33, [BP_SPLIT_STANDARD] = 33,
        [BP_SPLIT_IMPORT] = 34,   [BP_SPLIT_WAITING] = 36,   [BP_SPLIT_IO] = 36,
        [BP_SPLIT_TRANSFER] = 35, [BP_SPLIT_CUDA] = 35,      [BP_SPLIT_KERNELS] = 35,
        [BP_SPLIT_START] = 90,    [BP_SPLIT_PROFILER] = 90,  [BP_SPLIT_PAUSED] = 90,
        [BP_SPLIT_UNKNOWN] = 90};
    double s = model->split.rows[row].wall_s;
    int extra = bp_columns_extra(page);
    fputs("  ", page->out);
    bp_page_left(page, bp_split_name(row), NAME);
    bp_page_bar(page, model->wall.total_s > 0 ? s / model->wall.total_s : 0,
                BAR + extra > NARROW_BAR ? BAR + extra : NARROW_BAR, colours[row]);
    bp_page_right(page, BP_SHARE(s, model->wall.total_s), 10);
    bp_page_right(page, BP_TIME(page, s), 11);
    fputc('\n', page->out);
}

/* What the command makes exact. */
static void add_purpose(struct bp_text *text, const struct bp_choice *choice) {
    if (choice->functions)
        bp_text_add(text,
                    "to time every call of the %s function%s of %s:", BP_COUNT(choice->functions),
                    choice->functions == 1 ? "" : "s", choice->named);
    else
        bp_text_add(text, "to time every call %s %s%s:", choice->native ? "into" : "of",
                    choice->named,
                    choice->native ? " (calls within a library may stay sampled)" : "");
}

/* A command stands on lines of its own: it is there to be pasted. */
void bp_report_choice(const struct bp_page *page, const struct bp_model *model) {
    struct bp_choice choice;
    if (!model->split.leads)
        return;
    bp_choice_init(&choice, model);
    char *command = bp_choice_command(&choice, model);
    struct bp_text text = {0};
    if (choice.yours[0])
        bp_text_add(&text, "your code: %s", choice.yours);
    else if (model->samples.count)
        bp_text_add(&text, "none of your code was seen running");
    if (choice.program && !command[0])
        bp_text_add(&text, "; calls within a program cannot be intercepted, they are sampled");
    if (text.length && command[0])
        bp_text_add(&text, "; ");
    if (command[0])
        add_purpose(&text, &choice);
    if (text.length)
        bp_page_wrap(page, bp_text_get(&text), 2);
    if (command[0]) {
        fputs("  ", page->out);
        bp_page_command(page, command, 2, 4);
    }
    bp_text_fini(&text);
    free(command);
    bp_choice_fini(&choice);
}

void bp_report_split(const struct bp_page *page, const struct bp_model *model) {
    for (int i = 0; i < BP_SPLIT_ROWS; i++)
        if (bp_split_is_shown(model, (enum bp_split_row)i))
            print_row(page, model, (enum bp_split_row)i);
}

/* Waits and CUDA's calls have lines of their own below the table. */
static bool belongs(const struct bp_model *model, const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    return function->kind != BP_FUNC_WAIT && !function->cuda && part->self_s > 0 &&
           part->kind != BP_PART_BLOCKED;
}

static void add_part(const struct bp_model *model, struct row *row, const struct bp_part *part) {
    row->calls += part->calls;
    row->self_s += part->self_s;
    row->error_s = part->error_s > row->error_s ? part->error_s : row->error_s;
    row->wall_s += part->wall_s;
    row->cpu_s = !model->samples.tell_cpu || part->samples == 0 || row->cpu_s < 0
                     ? -1
                     : row->cpu_s + part->cpu_s;
    row->exact |= part->kind == BP_PART_EXACT || part->calls > 0;
}

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a;
    const struct row *y = b;
    if (x->self_s != y->self_s)
        return x->self_s > y->self_s ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* One row for each function: a new array. */
static struct row *make_rows(const struct bp_model *model, uint32_t *count) {
    struct row *rows = NULL;
    uint32_t *place = bp_alloc(model->function_count, sizeof(*place)); /* + 1 */
    *count = 0;
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct bp_part *part = &model->parts[i];
        if (!belongs(model, part))
            continue;
        if (!place[part->function]) {
            *BP_APPEND(rows, *count) = (struct row){.function = part->function, .part = part};
            place[part->function] = *count;
        }
        add_part(model, &rows[place[part->function] - 1], part);
    }
    free(place);
    if (*count)
        qsort(rows, *count, sizeof(*rows), compare_rows);
    return rows;
}

static const char *cell_calls(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    (void)page;
    return row->calls ? bp_page_count(row->calls, text) : "";
}

static const char *cell_self(const struct bp_page *page, const void *value, char text[64]) {
    const double *s = value;
    return *s < 0 ? "" : bp_page_time(page, *s, text);
}

/* Nothing of all that are not shown. */
static const char *cell_cpu(const struct bp_page *page, const void *value, char text[64]) {
    const struct row *row = value;
    return row->part ? bp_cell_cpu(page, &row->cpu_s, text) : "";
}

/* Samples below a line are in the line: more than the row, where native functions have their own.
 */
static void add_native(const struct bp_page *page, const struct bp_model *model,
                       const struct row *row, struct bp_text *text) {
    double whole_s = bp_model_lines(model, row->function)->self_s;
    if (whole_s > MUCH_MORE * row->self_s)
        bp_text_add(text, "%s%s with the native code that it runs", text->length ? "; " : "",
                    BP_TIME(page, whole_s));
}

/* "; for np_code.step (np_code.py:6) 97 %": what a user can change, where a library calls itself.
 */
static void add_users(const struct bp_model *model, const struct bp_part *part,
                      struct bp_text *text) {
    const struct bp_caller *users = part->users;
    bool direct =
        part->user_count && part->caller_count && users[0].function == part->callers[0].function;
    for (uint32_t i = 0; i < part->user_count && i < USER_NAMES && !direct; i++) {
        const struct bp_function *user = &model->functions[users[i].function];
        if (users[i].s < LEAST_USER * part->self_s)
            break;
        bp_text_add(text, "%s%s", i ? ", " : text->length ? "; for " : "for ", user->label);
        if (user->file[0] && user->line && !strchr(user->label, ':')) /* else it has its place */
            bp_text_add(text, " (%s:%u)", bp_base_name(user->file), user->line);
        bp_text_add(text, " %.0f %%", 100 * users[i].s / part->self_s);
    }
}

/* "features.py:3, your code; called from …" */
static void print_detail(const struct bp_page *page, const struct bp_model *model,
                         const struct row *row) {
    const struct bp_function *function = &model->functions[row->function];
    struct bp_text text = {0};
    if (function->file[0] && function->line)
        bp_text_add(&text, "%s:%u, ", bp_base_name(function->file), function->line);
    else if (function->library[0] && function->kind != BP_FUNC_ROOT)
        bp_text_add(&text, "%s, ", function->library);
    bp_text_add(&text, "%s",
                function->kind == BP_FUNC_ROOT ? "" : bp_split_name(bp_split_row_of(function)));
    struct bp_text callers = {0};
    bp_report_callers(model, row->part->callers, row->part->caller_count, row->part->self_s,
                      &callers);
    add_users(model, row->part, &callers);
    if (callers.length)
        bp_text_add(&text, "%s%s", text.length ? "; " : "", bp_text_get(&callers));
    add_native(page, model, row, &text);
    if (text.length)
        bp_page_say(page, 6, "    %s", bp_text_get(&text));
    bp_text_fini(&callers);
    bp_text_fini(&text);
    bp_report_overview_lines(page, model, row->function, LABEL + 12);
}

static const char *mark_of(const struct bp_model *model, const struct row *row) {
    if (model->functions[row->function].kind == BP_FUNC_ROOT)
        return "  ";
    return row->exact ? "= " : "~ ";
}

static char *label_of(const struct bp_model *model, const struct row *row) {
    const struct bp_function *function = &model->functions[row->function];
    const char *why = function->kind != BP_FUNC_ROOT ? ""
                      : !model->samples.on           ? ", not hooked"
                      : row->part->samples           ? ", few samples"
                                                     : ", not sampled";
    return bp_make_text("%s%s", function->label, why);
}

static bool is_worth(const struct bp_model *model, const struct row *row, uint32_t shown) {
    bool clear = row->error_s <= row->self_s;
    if (row->wall_s >= SMALLEST_PART * model->wall.total_s && clear)
        return true;
    return shown == 0 ||
           (shown < LEAST_ROWS && row->wall_s >= SMALLEST_SHARE * model->wall.total_s);
}

static void print_rows(const struct bp_page *page, const struct bp_model *model,
                       const struct bp_column *columns, const struct row *rows, uint32_t count,
                       uint32_t top) {
    uint32_t shown = 0;
    struct row rest = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (shown >= top || !is_worth(model, &rows[i], shown)) {
            rest.self_s += rows[i].self_s;
            rest.wall_s += rows[i].wall_s;
            continue;
        }
        char *label = label_of(model, &rows[i]);
        bp_columns_whole_row(page, columns, mark_of(model, &rows[i]), label, &rows[i]);
        free(label);
        if (rows[i].wall_s >= DETAIL_PART * model->wall.total_s)
            print_detail(page, model, &rows[i]);
        shown++;
    }
    if (shown == count)
        return;
    char *label = bp_make_text("%u more: --by group", count - shown);
    bp_columns_row(page, columns, "  ", label, &rest);
    free(label);
}

void bp_report_owned_functions(const struct bp_page *page, const struct bp_model *model,
                               const struct bp_report_settings *settings) {
    bool starved = bp_model_starved_s(model, NULL) > 0;
    bool errors = !starved || page->width >= BP_PAGE_WIDTH; /* is there room for them? */
    int estimate = errors ? BP_PAGE_ESTIMATE : BP_PAGE_VALUE;
    const struct bp_column columns[] = {
        BP_LABEL(LABEL - (starved ? 10 : 0) + BP_PAGE_ESTIMATE - estimate),
        {"calls", 12, cell_calls, 0},
        BP_COLUMN("", estimate + 1, errors ? bp_cell_estimate : cell_self, struct row, self_s),
        {"CPU", starved ? 10 : 0, cell_cpu, 0},
        BP_COLUMN("of wall", 12, bp_cell_share, struct row, wall_s),
        BP_LAST_COLUMN,
    };
    struct bp_column head[sizeof(columns) / sizeof(columns[0])];
    memcpy(head, columns, sizeof(columns));
    head[2] = (struct bp_column)BP_HEAD("self", 1 + BP_PAGE_VALUE);
    head[3].width += estimate - BP_PAGE_VALUE;
    if (!starved)
        head[4].width += BP_PAGE_ESTIMATE - BP_PAGE_VALUE, head[3].width = 0;
    uint32_t count;
    struct row *rows = make_rows(model, &count);
    if (model->process_count)
        bp_columns_title(page, "Functions", head);
    print_rows(page, model, columns, rows, count, settings->top);
    free(rows);
    bp_report_waits(page, model);
    if (count)
        fputs("  = each call counted and timed   ~ estimated from samples\n", page->out);
}
