/* SPDX-License-Identifier: MIT
 *
 * The wall by whose code it was, in the JSON report, and how to name the DSL.
 */
#include <stdlib.h>

#include "tools/analyze/choice.h"
#include "tools/base/json.h"
#include "tools/render/json/report.h"

json_t *bp_report_json_split(const struct bp_model *model) {
    json_t *object = json_object();
    for (int i = 0; i < BP_SPLIT_ROWS; i++) {
        const struct bp_split_time *time = &model->split.rows[i];
        json_t *row = json_object();
        bp_json_set(row, "s", time->wall_s);
        bp_json_set_percent(row, "pct", time->wall_s, model->wall.total_s);
        bp_json_set(row, "thread_s", time->thread_s);
        json_object_set_new(object, bp_split_key((enum bp_split_row)i), row);
    }
    return object;
}

json_t *bp_report_json_choice(const struct bp_model *model) {
    if (!model->split.leads)
        return json_null();
    struct bp_choice choice;
    bp_choice_init(&choice, model);
    json_t *object = json_object();
    char *command = bp_choice_command(&choice, model);
    bp_json_set_text(object, "yours", choice.yours);
    bp_json_set_text(object, "command", command);
    json_object_set_new(object, "functions",
                        choice.functions ? json_integer(choice.functions) : json_null());
    free(command);
    bp_choice_fini(&choice);
    return object;
}

void bp_report_json_set_known(json_t *object, const char *key, double s) {
    json_object_set_new(object, key, s < 0 ? json_null() : json_real(s));
}
