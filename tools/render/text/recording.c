/* SPDX-License-Identifier: MIT
 *
 * When the run was recorded: pauses, and the marks that somebody set. Nothing, if there were none.
 */
#include "tools/base/invoked.h"
#include "tools/render/text/internal.h"

#define MOST_MARKS 20

/* What there is to do, if the run goes on. */
static void say_how(const struct bp_page *page, const struct bp_model *model) {
    if (model->run.live)
        bp_page_say(page, 2, "recording is paused; to go on: %s start %s", bp_invoked(),
                    model->run.path);
}

static void print_pauses(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_pauses *pauses = &model->pauses;
    if (!pauses->recorded)
        bp_page_say(page, 2, "recording was paused all the time: nothing was measured");
    else
        bp_page_say(page, 2, "recording was paused %s time%s, for %s of the wall",
                    BP_COUNT(pauses->count), pauses->count == 1 ? "" : "s",
                    BP_SHARE(model->wall.paused_s, model->wall.total_s));
    if (pauses->paused)
        say_how(page, model);
    if (!pauses->recorded && !model->run.live)
        bp_page_say(page, 2, "while it runs: %s start PID; or without --paused", bp_invoked());
}

static void print_mark(const struct bp_page *page, const struct bp_model_mark *mark) {
    static const char *const words[] = {"", "mark", "recording starts", "recording stops"};
    bool text = mark->kind == BP_MARK_TEXT;
    fputs("  ", page->out);
    bp_page_right(page, BP_TIME(page, mark->at_s), 11);
    fprintf(page->out, "  %s", text ? mark->text : words[mark->kind]);
    if (mark->pid)
        fprintf(page->out, " (process %d)", (int)mark->pid);
    fputc('\n', page->out);
}

void bp_report_recording(const struct bp_page *page, const struct bp_model *model) {
    const struct bp_pauses *pauses = &model->pauses;
    if (pauses->count || pauses->mark_count)
        fputc('\n', page->out);
    if (pauses->count)
        print_pauses(page, model);
    for (uint32_t i = 0; i < pauses->mark_count && i < MOST_MARKS; i++)
        print_mark(page, &pauses->marks[i]);
    if (pauses->mark_count > MOST_MARKS)
        fprintf(page->out, "  and %u more: --json\n", pauses->mark_count - MOST_MARKS);
    if (pauses->marks_lost)
        fprintf(page->out, "  %s more starts, stops and marks found no room\n",
                BP_COUNT(pauses->marks_lost));
}
