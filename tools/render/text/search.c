/* SPDX-License-Identifier: MIT
 *
 * --search: functions by name, whatever their rank and category. A word without * ? [ is found
 * anywhere in a name, and case does not matter: who searches does not know the exact name.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report_internal.h"

bool bp_report_matches(const char *pattern, const char *name) {
    char wide[300];
    const char *glob = pattern;
    if (!strpbrk(pattern, "*?[")) {
        snprintf(wide, sizeof(wide), "*%.290s*", pattern);
        glob = wide;
    }
    return fnmatch(glob, name, FNM_CASEFOLD) == 0;
}

static bool matches(const struct bp_function *function, const char *pattern) {
    char full[600];
    snprintf(full, sizeof(full), "%.200s%s%.300s", function->module, function->module[0] ? "." : "",
             function->name);
    return bp_report_matches(pattern, function->name) || bp_report_matches(pattern, full);
}

bool bp_report_wanted(const struct bp_report_settings *settings,
                      const struct bp_function *function) {
    for (size_t i = 0; i < settings->search.count; i++)
        if (matches(function, settings->search.word[i]))
            return true;
    return settings->search.count == 0;
}

static void print_row(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_function *function, uint32_t rank) {
    char name[300];
    char text[32];
    const char *label = bp_report_name(function, name, sizeof(name));
    fprintf(page->out, "%4u ", rank);
    if (bp_page_columns(label) > 24) { /* its end tells it from others */
        fprintf(page->out, "%s\n     ", label);
        label = "";
    }
    bp_page_left(page, label, 24);
    bp_page_right(page, bp_category_name(function->category), 10);
    bp_page_right(page, bp_page_count(function->calls, text), 13);
    bp_page_right(page, bp_report_self(page, function, text), 10);
    bp_page_right(page, bp_report_total(page, function, text), 10);
    bp_page_right(page, bp_page_share(function->wall_s + function->idle_s, model->wall_s, text), 8);
    fputc('\n', page->out);
}

static void print_title(const struct bp_page *page) {
    bp_page_title(
        page, "rank function", 29,
        BP_COLUMNS({"category", 10}, {"calls", 13}, {"self", 10}, {"total", 10}, {"wall", 8}));
}

/* Hooked and never called is an answer too: it is not "no such function". */
static uint32_t count_unused(const struct bp_model *model, const char *pattern) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->function_count; i++)
        count += !bp_function_used(&model->functions[i]) && matches(&model->functions[i], pattern);
    return count;
}

static void print_misses(const struct bp_page *page, const struct bp_model *model,
                         const uint32_t *order, uint32_t count, const char *pattern) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += matches(&model->functions[order[i]], pattern);
    uint32_t unused = count_unused(model, pattern);
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
        print_misses(page, model, order, count, settings->search.word[i]);
    free(order);
}

void bp_report_search(const struct bp_page *page, const struct bp_model *model,
                      const struct bp_report_settings *settings) {
    uint32_t count;
    uint32_t shown = 0;
    uint32_t *order = bp_report_order(model, settings->sort, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct bp_function *function = &model->functions[order[i]];
        if (!bp_report_wanted(settings, function))
            continue;
        if (shown == 0)
            print_title(page);
        if (shown++ < settings->top)
            print_row(page, model, function, i + 1);
    }
    if (shown == 0)
        fputc('\n', page->out);
    if (shown > settings->top)
        fprintf(page->out, "  and %u more: --top %u\n", shown - settings->top, shown);
    free(order);
    bp_report_misses(page, model, settings);
}
