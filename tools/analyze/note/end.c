/* SPDX-License-Identifier: MIT
 *
 * Processes that did not say themselves how they ended: once for all that ended alike.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/model_internal.h"

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
                           char *text, size_t size) {
    uint32_t count = 0;
    char list[128] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *other = &model->processes[i];
        if (!ends_alike(other, process))
            continue;
        if (other < process)
            return 0;
        if (count++ < MOST_PIDS)
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%d",
                                       length ? ", " : "", other->profile->header.pid);
    }
    if (count == 1)
        snprintf(text, size, "process %s", list);
    else
        snprintf(text, size, "%u processes (%s%s)", count, list, count > MOST_PIDS ? ", …" : "");
    return count;
}

/* A worker that its parent told to end is no news. */
void bp_model_note_end(struct bp_model *model, const struct bp_model_process *process) {
    char names[200];
    enum ending ending = ending_of(process);
    uint32_t count = ending == SAID ? 0 : name_alike(model, process, names, sizeof(names));
    if (count == 0)
        return;
    if (ending == RUNNING)
        bp_model_note(model, "%s %s still running: times are up to now", names,
                      count == 1 ? "is" : "are");
    else if (ending == KILLED)
        bp_model_note(model, "%s %s killed by signal %d (%s)%s", names, count == 1 ? "was" : "were",
                      process->signal, strsignal(process->signal),
                      process->ended_by_parent ? ", which the parent sent" : "");
    else
        bp_model_note(model, "%s ended without a word (killed?) and nobody waited for %s", names,
                      count == 1 ? "it: its end is estimated from its last trace"
                                 : "them: their ends are estimated from their last traces");
}
