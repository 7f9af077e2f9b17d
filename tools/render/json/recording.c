/* SPDX-License-Identifier: MIT
 *
 * When the run was recorded, in the JSON report: pauses and marks.
 */
#include "tools/base/json.h"
#include "tools/render/json/report.h"

static json_t *make_marks(const struct bp_pauses *pauses) {
    static const char *const kinds[] = {"", "mark", "start", "stop"};
    json_t *list = json_array();
    for (uint32_t i = 0; i < pauses->mark_count; i++) {
        const struct bp_model_mark *mark = &pauses->marks[i];
        json_t *object = json_object();
        bp_json_set(object, "at_s", mark->at_s);
        bp_json_set_text(object, "kind", kinds[mark->kind]);
        bp_json_set_count(object, "process", (uint64_t)mark->pid);
        bp_json_set_text(object, "text", mark->text);
        json_array_append_new(list, object);
    }
    return list;
}

json_t *bp_report_json_recording(const struct bp_model *model) {
    const struct bp_pauses *pauses = &model->pauses;
    json_t *object = json_object();
    bp_json_set(object, "paused_s", model->wall.paused_s);
    bp_json_set_percent(object, "paused_pct", model->wall.paused_s, model->wall.total_s);
    bp_json_set(object, "paused_thread_s", model->thread_time.paused_s);
    bp_json_set_count(object, "pauses", pauses->count);
    bp_json_set_count(object, "processes_paused", pauses->paused);
    bp_json_set_count(object, "processes_recorded", pauses->recorded);
    json_object_set_new(object, "marks", make_marks(pauses));
    bp_json_set_count(object, "marks_lost", pauses->marks_lost);
    return object;
}
