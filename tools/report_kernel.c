/* SPDX-License-Identifier: MIT
 *
 * Kernels in the text report: the largest in a small table, and all of them by --by kernel, with
 * their whole names.
 */
#include <string.h>

#include "tools/report_internal.h"

#define ROWS 5
/* Columns for a name, without its end if it is longer. */
#define NAME 24

static void cell_time(const struct bp_page *page, double s, int width) {
    char text[32];
    bp_page_right(page, bp_page_time(page, s, text), width);
}

static const char *name_of(const struct bp_model_kernel *kernel) {
    return kernel->name[0] ? kernel->name : "(unnamed)";
}

static const char *launcher(const struct bp_model *model, uint32_t function, char *text,
                            size_t size) {
    if (function == BP_NO_FUNCTION)
        return "(unknown)";
    if (model->functions[function].kind == BP_FUNC_ROOT)
        return "(own code)";
    return bp_report_name(&model->functions[function], text, size);
}

void bp_report_kernels(const struct bp_page *page, const struct bp_model *model) {
    if (model->kernel_count == 0)
        return;
    bp_page_title(page, "Kernels", 25,
                  BP_COLUMNS({"launched by", 19}, {"count", 12}, {"device", 12}, {"waited", 12}));
    for (uint32_t i = 0; i < model->kernel_count && i < ROWS; i++) {
        const struct bp_model_kernel *kernel = &model->kernels[i];
        char name[300];
        char text[32];
        fputs("  ", page->out);
        bp_page_left(page, name_of(kernel), 22);
        fputc(' ', page->out);
        bp_page_right(page, launcher(model, kernel->caller, name, sizeof(name)), 19);
        bp_page_right(page, bp_page_count(kernel->count, text), 12);
        cell_time(page, kernel->device_s, 12);
        cell_time(page, kernel->wait_s, 12);
        fputc('\n', page->out);
    }
    if (model->kernel_count > ROWS)
        fprintf(page->out, "  and %u more kernels: --by kernel\n", model->kernel_count - ROWS);
}

static void print_kernel(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_model_kernel *kernel) {
    char text[32];
    char name[300];
    char line[2400];
    bool cut = bp_page_columns(name_of(kernel)) > NAME;
    fputs("  ", page->out);
    bp_page_left(page, name_of(kernel), NAME);
    bp_page_right(page, bp_page_count(kernel->count, text), 10);
    cell_time(page, kernel->device_s, 9);
    cell_time(page, kernel->count ? kernel->device_s / (double)kernel->count : 0, 9);
    cell_time(page, kernel->min_s, 9);
    cell_time(page, kernel->max_s, 9);
    cell_time(page, kernel->wait_s, 8);
    snprintf(line, sizeof(line), "      %.2000s%slaunched by %s%s", cut ? name_of(kernel) : "",
             cut ? "; " : "", launcher(model, kernel->caller, name, sizeof(name)),
             kernel->dsl ? ", for the DSL" : "");
    fputc('\n', page->out);
    bp_page_wrap(page, line, 8);
}

void bp_report_by_kernel(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    if (model->kernel_count == 0) {
        fputs("\nNo kernels: none was recorded.\n", page->out);
        return;
    }
    bp_page_title(page, "Kernels", NAME + 2,
                  BP_COLUMNS({"count", 10}, {"device", 9}, {"mean", 9}, {"min", 9}, {"max", 9},
                             {"waited", 8}));
    for (uint32_t i = 0; i < model->kernel_count && i < settings->top; i++)
        print_kernel(page, model, &model->kernels[i]);
    if (model->kernel_count > settings->top)
        fprintf(page->out, "  and %u more: --top %u\n", model->kernel_count - settings->top,
                model->kernel_count);
    fputs("waited: by threads in CUDA calls, while no copy ran\n", page->out);
}
