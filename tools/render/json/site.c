/* SPDX-License-Identifier: MIT
 *
 * Call sites of copies in the JSON report.
 */
#include "tools/base/json.h"
#include "tools/base/text.h"
#include "tools/render/json/report.h"

static json_t *make_step(const struct bp_site_step *step) {
    json_t *object = json_object();
    bp_json_take_text(
        object, "function",
        bp_make_text("%s%s%s", step->module, step->module[0] ? "." : "", step->function));
    bp_json_set_text(object, "library", step->library);
    bp_json_set_text(object, "file", step->file);
    bp_json_set_count(object, "line", step->line);
    return object;
}

json_t *bp_report_json_sites(const struct bp_model *model) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < model->cuda.site_count; i++) {
        const struct bp_copy_site *site = &model->cuda.sites[i];
        json_t *object = json_object();
        json_t *stack = json_array();
        bp_json_set_text(object, "call", model->functions[site->call].name);
        bp_json_set_text(object, "direction", bp_direction_names[site->direction]);
        bp_json_set_count(object, "count", site->count);
        bp_json_set_count(object, "bytes", site->bytes);
        for (uint32_t k = 0; k < site->step_count; k++)
            json_array_append_new(stack, make_step(&site->steps[k]));
        json_object_set_new(object, "stack", stack);
        json_array_append_new(list, object);
    }
    return list;
}
