/* SPDX-License-Identifier: MIT
 *
 * The framework is never one number: what its time was for, group by group, or function by function
 * where the purpose is unknown; who called for it; and which functions took it. A time with a
 * tilde is an exact one divided by samples, with its error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/render/text/internal.h"

#define ENTRY_ROWS 8
#define LEAST_ROWS 4
/* Smaller ones are shown only where there is little else. */
#define SMALLEST_PART 0.005
#define DETAIL_ROWS 3
#define DETAIL_PART 0.05 /* of the group */
/* Share of the wall; the latter cannot be changed. */
#define LEAST_IDLE 0.0005
/* Share of the waiting: less was for want of work everywhere. */
#define LEAST_OTHERS 0.01
#define LEAST_START 0.001
#define LABEL 48

/* A line of the section: a group, or a function without one. */
struct entry {
    const struct bp_group *group; /* NULL for a function */
    const struct bp_part *part;
    struct bp_report_time time;
};

const struct bp_column bp_report_time_columns[] = {
    BP_LABEL(2 + LABEL),
    BP_COLUMN("", BP_PAGE_ESTIMATE, bp_cell_estimate, struct bp_report_time, s),
    BP_COLUMN("", 14, bp_cell_share, struct bp_report_time, wall_s),
    BP_LAST_COLUMN,
};

static void print_row(const struct bp_page *page, const char *label, const struct entry *entry) {
    bp_columns_row(page, bp_report_time_columns, "  ", label, &entry->time);
}

static void print_time(const struct bp_page *page, const char *label, double s, double wall_s) {
    struct entry entry = {.time = {.s = s, .wall_s = wall_s}};
    print_row(page, label, &entry);
}

static void add_function(struct bp_text *text, const struct bp_function *function) {
    bool named = function->kind != BP_FUNC_ROOT && function->library[0];
    bp_text_add(text, "%s", named ? function->name : function->label);
    if (named && !strstr(function->name, "+0x")) /* else it has the library in it */
        bp_text_add(text, " (%s)", function->library);
}

/* A lock that is free is taken without a record. */
static bool is_tried_first(const struct bp_function *function) {
    return function->kind == BP_FUNC_WAIT && !function->gil &&
           (strcmp(function->name, "pthread_mutex_lock") == 0 ||
            strncmp(function->name, "pthread_rwlock_", 15) == 0 ||
            strcmp(function->name, "mtx_lock") == 0);
}

static void add_calls(struct bp_text *text, const struct bp_function *function, uint64_t calls) {
    bp_text_add(text, ", %s %s%s", BP_COUNT(calls), is_tried_first(function) ? "wait" : "call",
                calls == 1 ? "" : "s");
}

char *bp_report_part(const struct bp_model *model, const struct bp_part *part) {
    static const char *const starts[] = {"", "~ ", "off the CPU: "};
    const struct bp_function *function = &model->functions[part->function];
    struct bp_text text = {0};
    bp_text_add(&text, "%s", starts[part->kind]);
    add_function(&text, function);
    if (part->kind == BP_PART_EXACT && function->kind == BP_FUNC_ROOT)
        bp_text_add(&text, "%s",
                    !model->samples.on ? ", not hooked"
                    : part->samples    ? ", few samples"
                                       : ", not sampled");
    if (part->calls)
        add_calls(&text, function, part->calls);
    return bp_text_take(&text);
}

static void print_callers(const struct bp_page *page, const struct bp_model *model,
                          const struct bp_caller *callers, uint32_t count, double whole) {
    struct bp_text text = {0};
    bp_report_callers(model, callers, count, whole, &text);
    if (text.length)
        bp_page_say(page, 6, "    %s", bp_text_get(&text));
    bp_text_fini(&text);
}

/* A time that may as well be nothing. */
static bool says_nothing(double s, double error_s) {
    return error_s > s;
}

/* Waiting and CUDA's calls have lines of their own. */
static bool is_running(const struct bp_model *model, const struct bp_part *part) {
    const struct bp_function *function = &model->functions[part->function];
    return part->category == BP_FRAMEWORK && function->kind != BP_FUNC_WAIT && !function->cuda &&
           part->self_s > 0;
}

/* Below a row, one step further in; nothing stands to the right of its time. */
static void print_detail(const struct bp_page *page, const char *label, double s, double error_s) {
    char text[64];
    bp_page_estimate(page, s, error_s, text);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    int width = LABEL - 2 + bp_columns_extra(page);
    if (bp_page_columns(label) > width && page->width < BP_PAGE_WIDTH) {
        fprintf(page->out, "    %s\n", label);
        label = "";
    }
    fputs("    ", page->out);
    bp_page_left(page, label, width);
    fprintf(page->out, "%.*s\n", (int)length, text);
}

/* A part that says nothing may be larger than the ones after it: small ones alone would mislead. */
static void print_parts(const struct bp_page *page, const struct bp_model *model,
                        const struct bp_group *group) {
    uint32_t shown = 0;
    double least_s = 0;
    for (uint32_t i = 0; i < group->part_count && shown < DETAIL_ROWS; i++) {
        const struct bp_part *part = &group->parts[i];
        if (!is_running(model, part))
            continue;
        if (says_nothing(part->self_s, part->error_s)) {
            least_s = DETAIL_PART * group->self_s;
            continue;
        }
        if (part->self_s < least_s)
            break;
        char *label = bp_report_part(model, part);
        print_detail(page, label, part->self_s, part->error_s);
        free(label);
        shown++;
    }
}

static void print_entry(const struct bp_page *page, const struct bp_model *model,
                        const struct entry *entry) {
    if (!entry->group) {
        char *label = bp_report_part(model, entry->part);
        print_row(page, label, entry);
        free(label);
        print_callers(page, model, entry->part->callers, entry->part->caller_count, entry->time.s);
        bp_report_overview_lines(page, model, entry->part->function, LABEL + 2);
        return;
    }
    print_row(page, entry->group->name, entry);
    print_callers(page, model, entry->group->callers, entry->group->caller_count,
                  entry->group->self_s);
    print_parts(page, model, entry->group);
}

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->time.s != y->time.s)
        return x->time.s > y->time.s ? -1 : 1;
    return 0;
}

static struct entry sum_group(const struct bp_model *model, const struct bp_group *group) {
    struct entry sum = {.group = group, .time.error_s = group->error_s};
    for (uint32_t i = 0; i < group->part_count; i++)
        if (is_running(model, &group->parts[i])) {
            sum.time.s += group->parts[i].self_s;
            sum.time.wall_s += group->parts[i].wall_s;
        }
    return sum;
}

static void add_entry(struct entry entry, struct entry **list, uint32_t *count) {
    if (entry.time.s > 0)
        *BP_APPEND(*list, *count) = entry;
}

/* Where a group has no purpose, each of its functions is a line. */
static bool stands_apart(const struct bp_group *group) {
    return strcmp(group->name, BP_GROUP_OTHER) == 0 || strcmp(group->name, "waiting") == 0;
}

/* Functions that no rule knows stand for themselves: a new array. */
static struct entry *make_entries(const struct bp_model *model, uint32_t *count) {
    struct entry *list = NULL;
    *count = 0;
    for (uint32_t i = 0; i < model->group_count; i++) {
        const struct bp_group *group = &model->groups[i];
        if (!stands_apart(group)) {
            add_entry(sum_group(model, group), &list, count);
            continue;
        }
        for (uint32_t k = 0; k < group->part_count; k++) {
            const struct bp_part *part = &group->parts[k];
            if (is_running(model, part))
                add_entry((struct entry){NULL, part, {part->self_s, part->error_s, part->wall_s}},
                          &list, count);
        }
    }
    if (*count)
        qsort(list, *count, sizeof(struct entry), compare_entries);
    return list;
}

static void print_entries(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count;
    struct entry *entries = make_entries(model, &count);
    struct entry rest = {0};
    uint32_t shown = 0;
    uint32_t left = 0;
    char label[64];
    for (uint32_t i = 0; i < count; i++) {
        bool large = entries[i].time.wall_s >= SMALLEST_PART * model->wall.total_s;
        if (shown < ENTRY_ROWS && (large || shown < LEAST_ROWS) &&
            !says_nothing(entries[i].time.s, entries[i].time.error_s)) {
            print_entry(page, model, &entries[i]);
            shown++;
            continue;
        }
        left++;
        rest.time.s += entries[i].time.s;
        rest.time.wall_s += entries[i].time.wall_s;
    }
    if (left) {
        snprintf(label, sizeof(label), "%u more: --by group", left);
        print_row(page, label, &rest);
    }
    free(entries);
}

/* Where both do not fit the count is worth more than the library. */
static void detail_row(const struct bp_page *page, const struct bp_function *function, double s) {
    struct bp_text text = {0};
    add_function(&text, function);
    add_calls(&text, function, function->calls);
    if (bp_page_columns(bp_text_get(&text)) > LABEL - 2 + bp_columns_extra(page)) {
        bp_text_set(&text, "%s", function->label);
        add_calls(&text, function, function->calls);
    }
    print_detail(page, bp_text_get(&text), s, 0);
    bp_text_fini(&text);
}

/* The wall has nothing of threads that wait for work while others have some. */
static void print_waits_of_others(const struct bp_page *page, const struct bp_model *model) {
    bool exact;
    double all_s = bp_model_all_wait(model, &exact);
    double others_s = model->thread_time.waiting_s - all_s;
    if (all_s < 0 || others_s < LEAST_OTHERS * model->thread_time.waiting_s)
        return;
    print_detail(page,
                 exact ? "of it while other threads were busy"
                       : "of it while other threads were busy, at least",
                 others_s, 0);
}

static void print_waits(const struct bp_page *page, const struct bp_model *model,
                        const uint32_t *order, uint32_t count) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count && shown < DETAIL_ROWS; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if (function->category != BP_FRAMEWORK || function->kind != BP_FUNC_WAIT)
            continue;
        detail_row(page, function, function->self_s);
        shown++;
    }
}

static double api_time(const struct bp_function *function) {
    return function->self_s - function->transfer_s - function->kernel_wait_s;
}

/* The CUDA calls with most time of their own; they are few, so searching them out will do. */
static void print_cuda_details(const struct bp_page *page, const struct bp_model *model,
                               const uint32_t *order, uint32_t count) {
    double limit = INFINITY;
    for (uint32_t shown = 0; shown < DETAIL_ROWS; shown++) {
        const struct bp_function *best = NULL;
        for (uint32_t i = 0; i < count; i++) {
            const struct bp_function *function = &model->functions[order[i]];
            if (function->cuda && function->category == BP_FRAMEWORK && api_time(function) > 0 &&
                api_time(function) < limit && (!best || api_time(function) > api_time(best)))
                best = function;
        }
        if (!best)
            return;
        limit = api_time(best);
        detail_row(page, best, limit);
    }
}

static void print_cuda(const struct bp_page *page, const struct bp_model *model,
                       const uint32_t *order, uint32_t count) {
    if (model->thread_time.cuda_api_s > 0) {
        print_time(page, "CUDA calls: launch, allocation, context, JIT",
                   model->thread_time.cuda_api_s, model->wall.cuda_api_s);
        print_cuda_details(page, model, order, count);
    }
    if (model->thread_time.kernel_wait_s > 0)
        print_time(page,
                   model->split.leads ? "waiting for kernels"
                                      : "waiting for kernels launched outside the DSL",
                   model->thread_time.kernel_wait_s, model->wall.kernel_wait_s);
}

void bp_report_time_title(const struct bp_page *page, const char *text) {
    const struct bp_column columns[] = {
        BP_LABEL(LABEL - 8),
        BP_HEAD("thread time", 10 + BP_PAGE_VALUE),
        BP_HEAD("of wall", 14 + BP_PAGE_ESTIMATE - BP_PAGE_VALUE),
        BP_LAST_COLUMN,
    };
    bp_columns_title(page, text, columns);
}

void bp_report_waits(const struct bp_page *page, const struct bp_model *model) {
    uint32_t count;
    uint32_t *order = bp_report_order(model, "self", &count);
    print_cuda(page, model, order, count);
    if (model->thread_time.waiting_s > 0 || model->wall.idle_s > LEAST_IDLE * model->wall.total_s) {
        print_time(page, "waiting (of wall: while no thread was busy)",
                   model->thread_time.waiting_s, model->wall.idle_s);
        print_waits_of_others(page, model);
        print_waits(page, model, order, count);
    }
    if (model->wall.start_s > LEAST_START * model->wall.total_s)
        print_time(page, "starting and ending, while no thread was there", -1, model->wall.start_s);
    free(order);
}

void bp_report_framework(const struct bp_page *page, const struct bp_model *model) {
    bp_report_time_title(page, "Framework");
    print_entries(page, model);
    bp_report_waits(page, model);
    bp_report_suspect_line(page, model);
}
