/* SPDX-License-Identifier: MIT
 *
 * Calls that were counted and not timed, where their time matters.
 */
#include "tools/analyze/note/note.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* Part of the time of all threads below which the error of an estimate is not worth a note. */
#define WORTH_SAYING 0.01

void bp_notes_estimated(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    uint64_t calls = 0, sampled = 0;
    uint32_t functions = 0;
    double self_s = 0;
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *function = &model->functions[i];
        calls += function->untimed;
        sampled += function->sampled;
        functions += function->untimed > 0;
        self_s += function->untimed ? function->self_s : 0;
    }
    if (!calls || self_s < WORTH_SAYING * model->thread_time.total_s)
        return;
    bp_analysis_note(analysis,
                     "the times of %s short function%s are estimates: %s calls were counted, and "
                     "%s of them timed (run --exact times all)",
                     functions == 1 ? "a" : BP_COUNT(functions), functions == 1 ? "" : "s",
                     BP_COUNT(calls + sampled), BP_COUNT(sampled));
}
