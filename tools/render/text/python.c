/* SPDX-License-Identifier: MIT
 *
 * Functions of other Python modules are shown with the DSL function that called them.
 */
#include "tools/render/text/internal.h"

const struct bp_function *bp_report_caller(const struct bp_model *model,
                                           const struct bp_function *function, uint32_t *others) {
    uint32_t number = (uint32_t)(function - model->functions);
    const struct bp_context *most = NULL;
    *others = 0;
    if (!function->module[0] || function->category == BP_DSL)
        return NULL;
    for (uint32_t i = 1; i < model->context_count; i++) {
        const struct bp_context *context = &model->contexts[i];
        if (context->function != number || context->parent == 0)
            continue;
        if (model->functions[model->contexts[context->parent].function].category != BP_DSL)
            continue;
        ++*others;
        if (!most || context->total_s > most->total_s)
            most = context;
    }
    *others -= *others > 0;
    return most ? &model->functions[model->contexts[most->parent].function] : NULL;
}
