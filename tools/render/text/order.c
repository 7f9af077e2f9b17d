/* SPDX-License-Identifier: MIT
 *
 * The order of functions in a report. Equal ones go by name, so that two reports of one profile are
 * the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/render/report.h"

struct order {
    const struct bp_function *functions;
    const char *sort;
};

static int compare_numbers(double x, double y) {
    return x > y ? -1 : x < y;
}

static int compare_functions(const void *a, const void *b, void *data) {
    const struct order *order = data;
    const struct bp_function *x = &order->functions[*(const uint32_t *)a];
    const struct bp_function *y = &order->functions[*(const uint32_t *)b];
    int result = 0;
    if (strcmp(order->sort, "total") == 0)
        result = compare_numbers(x->total_s, y->total_s);
    else if (strcmp(order->sort, "calls") == 0)
        result = x->calls > y->calls ? -1 : x->calls < y->calls;
    else if (strcmp(order->sort, "self") == 0)
        result = compare_numbers(x->self_s, y->self_s);
    if (result == 0)
        result = strcmp(x->name, y->name);
    return result ? result : strcmp(x->library, y->library);
}

static int compare_line_functions(const void *a, const void *b, void *data) {
    const struct bp_model *model = data;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    int result =
        compare_numbers(bp_model_lines(model, x)->self_s, bp_model_lines(model, y)->self_s);
    if (result == 0)
        result =
            compare_numbers(bp_model_lines(model, x)->total_s, bp_model_lines(model, y)->total_s);
    if (result == 0)
        result = strcmp(model->functions[x].name, model->functions[y].name);
    return result ? result : strcmp(model->functions[x].library, model->functions[y].library);
}

uint32_t *bp_report_line_order(const struct bp_model *model,
                               const struct bp_report_settings *settings, uint32_t *count) {
    uint32_t *list = bp_alloc(model->function_count, sizeof(*list));
    *count = 0;
    uint32_t exact;
    for (uint32_t i = 0; i < model->function_count; i++)
        if ((bp_model_lines(model, i)->count || bp_model_exact_lines(model, i, &exact)) &&
            bp_report_wanted(settings, &model->functions[i]))
            list[(*count)++] = i;
    qsort_r(list, *count, sizeof(*list), compare_line_functions, (void *)model);
    return list;
}

uint32_t *bp_report_order(const struct bp_model *model, const char *sort, uint32_t *count) {
    uint32_t *list = bp_alloc(model->function_count, sizeof(*list));
    struct order order = {model->functions, sort ? sort : "self"};
    *count = 0;
    for (uint32_t i = 0; i < model->function_count; i++)
        if (bp_function_used(&model->functions[i]))
            list[(*count)++] = i;
    qsort_r(list, *count, sizeof(*list), compare_functions, &order);
    return list;
}
