/* SPDX-License-Identifier: MIT
 *
 * Kernels in the text report: the largest in a small table, and all of them by --by kernel, with
 * their whole names.
 */
#include <string.h>

#include "tools/render/text/internal.h"

#define ROWS 5

static const char *name_of(const struct bp_model_kernel *kernel) {
    return kernel->name[0] ? kernel->name : "(unnamed)";
}

const char *bp_report_cuda_caller(const struct bp_model *model, uint32_t number,
                                  const char *unknown) {
    if (number == BP_NO_FUNCTION)
        return unknown;
    return bp_function_part_label(&model->functions[number]);
}

static const char *launcher(const struct bp_model *model, const struct bp_model_kernel *kernel) {
    return bp_report_cuda_caller(model, kernel->caller, "(unknown)");
}

static const char *cell_mean(const struct bp_page *page, const void *value, char text[64]) {
    const struct bp_model_kernel *kernel = value;
    return bp_page_time(page, kernel->count ? kernel->device_s / (double)kernel->count : 0, text);
}

struct few {
    const char *launcher;
    struct bp_model_kernel kernel;
};

static const struct bp_column few_columns[] = {
    BP_LABEL(24),
    BP_COLUMN("launched by", 20, bp_cell_text, struct few, launcher),
    BP_COLUMN("count", 12, bp_cell_count, struct few, kernel.count),
    BP_COLUMN("device", 12, bp_cell_time, struct few, kernel.device_s),
    BP_COLUMN("waited", 12, bp_cell_time, struct few, kernel.wait_s),
    BP_LAST_COLUMN,
};

static const struct bp_column columns[] = {
    BP_LABEL(26),
    BP_COLUMN("count", 10, bp_cell_count, struct bp_model_kernel, count),
    BP_COLUMN("device", 9, bp_cell_time, struct bp_model_kernel, device_s),
    {"mean", 9, cell_mean, 0},
    BP_COLUMN("min", 9, bp_cell_time, struct bp_model_kernel, min_s),
    BP_COLUMN("max", 9, bp_cell_time, struct bp_model_kernel, max_s),
    BP_COLUMN("waited", 8, bp_cell_time, struct bp_model_kernel, wait_s),
    BP_LAST_COLUMN,
};

void bp_report_kernels(const struct bp_page *page, const struct bp_model *model) {
    if (model->cuda.kernel_count == 0)
        return;
    bp_columns_title(page, "Kernels", few_columns);
    for (uint32_t i = 0; i < model->cuda.kernel_count && i < ROWS; i++) {
        const struct bp_model_kernel *kernel = &model->cuda.kernels[i];
        struct few few = {launcher(model, kernel), *kernel};
        bp_columns_row(page, few_columns, "  ", name_of(kernel), &few);
    }
    bp_columns_more_by(page, "  ", model->cuda.kernel_count, ROWS, " kernels", "--by kernel");
}

static void print_kernel(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_model_kernel *kernel) {
    bool cut = bp_page_columns(name_of(kernel)) > columns[0].width + bp_columns_extra(page) - 2;
    bp_columns_row(page, columns, "  ", name_of(kernel), kernel);
    bp_page_say(page, 8, "      %s%slaunched by %s%s", cut ? name_of(kernel) : "", cut ? "; " : "",
                launcher(model, kernel), kernel->dsl ? ", for the DSL" : "");
}

void bp_report_by_kernel(const struct bp_page *page, const struct bp_model *model,
                         const struct bp_report_settings *settings) {
    if (model->cuda.kernel_count == 0) {
        fputs("\nNo kernels: none was recorded.\n", page->out);
        return;
    }
    bp_columns_title(page, "Kernels", columns);
    for (uint32_t i = 0; i < model->cuda.kernel_count && i < settings->top; i++)
        print_kernel(page, model, &model->cuda.kernels[i]);
    bp_columns_more(page, "  ", model->cuda.kernel_count, settings->top);
    fputs("waited: by threads in CUDA calls, while no copy ran\n", page->out);
}
