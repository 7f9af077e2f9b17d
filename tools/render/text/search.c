/* SPDX-License-Identifier: MIT
 *
 * --search: functions by name, whatever their rank and category. A word without * ? [ is found
 * anywhere in a name, and case does not matter: who searches does not know the exact name.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/render/text/internal.h"

#define MOST_OPENED 3

bool bp_report_matches(const char *pattern, const char *name) {
    bool glob = strpbrk(pattern, "*?[");
    return glob ? fnmatch(pattern, name, FNM_CASEFOLD) == 0 : strcasestr(name, pattern) != NULL;
}

/* MODULE:FUNCTION or LIBRARY:FUNCTION, as options of `run` have it; two colons are of C++. */
static bool matches_at(const struct bp_function *function, const char *pattern) {
    const char *colon = strchr(pattern, ':');
    if (!colon || colon[1] == ':')
        return false;
    char *where = bp_make_text("%.*s", (int)(colon - pattern), pattern);
    bool is =
        bp_report_matches(where, function->module[0] ? function->module : function->library) &&
        bp_report_matches(colon + 1, function->name);
    free(where);
    return is;
}

static bool matches(const struct bp_function *function, const char *pattern) {
    return bp_report_matches(pattern, function->name) ||
           bp_report_matches(pattern, function->full_name) || matches_at(function, pattern);
}

bool bp_report_wanted(const struct bp_report_settings *settings,
                      const struct bp_function *function) {
    for (size_t i = 0; i < settings->search.count; i++)
        if (matches(function, settings->search.word[i]))
            return true;
    return settings->search.count == 0;
}

static const char *cell_category(const struct bp_page *page, const void *value, char text[64]) {
    (void)page;
    (void)text;
    return bp_category_name(*(const enum bp_category *)value);
}

static const struct bp_column columns[] = {
    BP_LABEL(29),
    BP_COLUMN("category", 10, cell_category, struct bp_function, category),
    BP_COLUMN("calls", 13, bp_cell_count, struct bp_function, calls),
    {"self", 10, bp_cell_self, 0},
    {"total", 10, bp_cell_total, 0},
    {"wall", 8, bp_cell_function_wall, 0},
    BP_LAST_COLUMN,
};

static const char *rank_of(uint32_t rank, char text[16]) {
    snprintf(text, 16, "%4u ", rank);
    return text;
}

/* Time that samples found in each function; the caller frees it. */
static double *sum_sampled(const struct bp_model *model) {
    double *sampled_s = bp_alloc(model->function_count, sizeof(*sampled_s));
    for (uint32_t i = 0; i < model->group_count; i++)
        for (uint32_t k = 0; k < model->groups[i].part_count; k++) {
            const struct bp_part *part = &model->groups[i].parts[k];
            if (part->kind == BP_PART_SAMPLED)
                sampled_s[part->function] += part->self_s;
        }
    return sampled_s;
}

/* Time of libc, of the interpreter and of callers is charged to others. */
static void print_uncounted(const struct bp_page *page, const struct bp_function *function,
                            double sampled_s) {
    char text[32];
    fprintf(page->out, "  ~ %s: ", function->label);
    if (sampled_s > 0)
        fprintf(page->out, "%s by samples; ", bp_page_time(page, sampled_s, text));
    else
        fputs("on sampled stacks, no time of its own; ", page->out);
    fputs("calls not counted\n", page->out);
}

/* Functions whose calls were not counted and that samples met. How many. */
static uint32_t print_sampled(const struct bp_page *page, const struct bp_model *model,
                              const char *pattern, uint32_t top) {
    double *sampled_s = sum_sampled(model);
    uint32_t count = 0;
    char option[24];
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (bp_function_used(function) || !function->on_stacks || !matches(function, pattern))
            continue;
        if (count++ < top)
            print_uncounted(page, function, sampled_s[i]);
    }
    snprintf(option, sizeof(option), "--top %u", count);
    bp_columns_more_by(page, "  ", count, top, " by samples", option);
    free(sampled_s);
    return count;
}

/* Hooked and never called is an answer too: it is not "no such function". */
static uint32_t count_unused(const struct bp_model *model, const char *pattern) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->function_count; i++)
        count += !bp_function_used(&model->functions[i]) && matches(&model->functions[i], pattern);
    return count;
}

static void print_misses(const struct bp_page *page, const struct bp_model *model,
                         const uint32_t *order, uint32_t count, const char *pattern, uint32_t top) {
    uint32_t found = print_sampled(page, model, pattern, top);
    uint32_t unused = count_unused(model, pattern) - found;
    for (uint32_t i = 0; i < count; i++)
        found += matches(&model->functions[order[i]], pattern);
    if (found == 0 && unused == 0)
        fprintf(page->out, "  no match for '%s' among %u functions\n", pattern,
                model->function_count);
    else if (unused)
        fprintf(page->out, "  '%s': %u more that %s never called\n", pattern, unused,
                unused == 1 ? "was" : "were");
}

void bp_report_misses(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (size_t i = 0; i < settings->search.count; i++)
        print_misses(page, model, order, count, settings->search.word[i], settings->top);
    free(order);
}

/* More are a list, and each of them a search of its own. */
static void open_functions(const struct bp_page *page, const struct bp_model *model,
                           const struct bp_report_settings *settings) {
    uint32_t found[MOST_OPENED];
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        if (!bp_report_wanted(settings, function) ||
            (!bp_function_used(function) && !function->on_stacks))
            continue;
        if (count < MOST_OPENED)
            found[count] = i;
        count++;
    }
    for (uint32_t i = 0; count <= MOST_OPENED && i < count; i++)
        bp_report_open_function(page, model, found[i]);
}

void bp_report_search(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t shown = 0;
    char rank[16];
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if (!bp_report_wanted(settings, function))
            continue;
        if (shown == 0)
            bp_columns_title(page, "rank function", columns);
        if (shown++ < settings->top)
            bp_columns_whole_row(page, columns, rank_of(i + 1, rank), function->label, function);
    }
    if (shown == 0)
        fputc('\n', page->out);
    bp_columns_more(page, "  ", shown, settings->top);
    free(order);
    bp_report_misses(page, model, settings);
    open_functions(page, model, settings);
}
