/* SPDX-License-Identifier: MIT
 *
 * Processes that did not say themselves how they ended: once for all that ended alike.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/analyze/note/note.h"
#include "tools/base/text.h"

#define MOST_PIDS 5 /* by number */

/* How a process ended that did not say so itself. */
enum ending { SAID, RUNNING, KILLED, SILENT };

static enum ending ending_of(const struct bp_model_process *process) {
    if (process->live)
        return RUNNING;
    if (process->killed && process->signal)
        return process->ended_by_parent && process->signal == SIGTERM ? SAID : KILLED;
    return process->killed && process->end_estimated ? SILENT : SAID;
}

static bool ends_alike(const struct bp_model_process *a, const struct bp_model_process *b) {
    return ending_of(a) == ending_of(b) && a->signal == b->signal &&
           a->ended_by_parent == b->ended_by_parent;
}

/* "process 12", or "3 processes (12, 13, 14)" for it and all later ones that ended alike; "" if an
 * earlier one has told of it. */
static uint32_t name_alike(const struct bp_model *model, const struct bp_model_process *process,
                           struct bp_text *text) {
    uint32_t count = 0;
    struct bp_text list = {0};
    for (const struct bp_model_process *other = model->processes;
         other < model->processes + model->process_count; other++) {
        if (!ends_alike(other, process))
            continue;
        if (other < process)
            return 0;
        if (count++ < MOST_PIDS)
            bp_text_add(&list, "%s%d", count > 1 ? ", " : "", other->profile->header.pid);
    }
    if (count == 1)
        bp_text_add(text, "process %s", bp_text_get(&list));
    else
        bp_text_add(text, "%u processes (%s%s)", count, bp_text_get(&list),
                    count > MOST_PIDS ? ", …" : "");
    bp_text_fini(&list);
    return count;
}

/* A worker that its parent told to end is no news. */
void bp_notes_end(struct bp_analysis *analysis, const struct bp_model_process *process) {
    const struct bp_model *model = analysis->model;
    struct bp_text text = {0};
    enum ending ending = ending_of(process);
    uint32_t count = ending == SAID ? 0 : name_alike(model, process, &text);
    const char *names = bp_text_get(&text);
    if (count == 0)
        return;
    if (ending == RUNNING)
        bp_analysis_note(analysis, "%s %s still running: times are up to now", names,
                         count == 1 ? "is" : "are");
    else if (ending == KILLED)
        bp_analysis_note(analysis, "%s %s killed by signal %d (%s)%s", names,
                         count == 1 ? "was" : "were", process->signal, strsignal(process->signal),
                         process->ended_by_parent ? ", which the parent sent" : "");
    else
        bp_analysis_note(
            analysis, "%s disappeared (killed?) and %s", names,
            count == 1
                ? "was never reaped; its end is estimated from the last data it wrote"
                : "were never reaped; their ends are estimated from the last data they wrote");
    bp_text_fini(&text);
}
