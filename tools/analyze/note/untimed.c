/* SPDX-License-Identifier: MIT
 *
 * Processes that ended, or have come so far, without the last of their device records: how many
 * copies have no device time, once for all that ended alike.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/analyze/note/note.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

struct untimed {
    uint32_t processes;
    int pid; /* of the first */
    uint64_t copies;
    uint64_t without;
    double behind_s; /* between its last device records and its end, the longest */
};

static double behind_s(const struct bp_model_process *process) {
    const struct bp_collector *collector = process->profile->collector;
    uint64_t flushed = collector ? collector->flushed : process->end;
    return process->end > flushed ? (double)(process->end - flushed) * process->tick_s : 0;
}

/* Its last flush was not the last word of it. */
static bool is_cut(const struct bp_model_process *process) {
    const struct bp_collector *collector = process->profile->collector;
    return collector && collector->state == BP_COLLECTOR_ACTIVE &&
           process->profile->header.state != BP_EXITED;
}

static bool is_alike(const struct bp_model_process *a, const struct bp_model_process *b) {
    return is_cut(a) == is_cut(b) && a->live == b->live && a->signal == b->signal &&
           a->profile->header.state == b->profile->header.state;
}

static void add(struct untimed *sum, const struct bp_model_process *process) {
    const struct bp_profile *profile = process->profile;
    uint64_t without = 0;
    for (uint32_t i = 0; i < profile->transfer_count; i++) {
        const struct bp_transfer *transfer = &profile->transfers[i];
        sum->copies += transfer->direction != BP_MEMSET ? transfer->count : 0;
        without += transfer->flags & BP_TRANSFER_UNTIMED ? transfer->count : 0;
    }
    if (!without && !is_cut(process))
        return;
    if (!sum->processes++)
        sum->pid = profile->header.pid;
    sum->without += without;
    double behind = behind_s(process);
    sum->behind_s = behind > sum->behind_s ? behind : sum->behind_s;
}

static const char *signal_name(int number) {
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGTERM, "SIGTERM"}, {SIGKILL, "SIGKILL"}, {SIGINT, "SIGINT"},
                 {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGHUP, "SIGHUP"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].number == number)
            return names[i].name;
    return strsignal(number);
}

/* "process 12 was ended by SIGTERM" */
static void add_end(struct bp_text *text, const struct bp_model_process *process,
                    const struct untimed *sum) {
    bool many = sum->processes > 1;
    if (many)
        bp_text_add(text, "%u processes", sum->processes);
    else
        bp_text_add(text, "process %d", sum->pid);
    if (process->live)
        bp_text_add(text, " %s still running,", many ? "are" : "is");
    else if (process->profile->header.state == BP_EXECED)
        bp_text_add(text, " became %s", many ? "other programs" : "another program");
    else if (process->signal)
        bp_text_add(text, " %s ended by %s", many ? "were" : "was", signal_name(process->signal));
    else
        bp_text_add(text, " disappeared");
}

static void note(struct bp_analysis *analysis, const struct bp_model_process *process,
                 const struct untimed *sum) {
    struct bp_text text = {0};
    if (sum->without)
        bp_text_add(&text, "%s of %s copies have no device time: ", BP_COUNT(sum->without),
                    BP_COUNT(sum->copies));
    if (is_cut(process)) {
        add_end(&text, process, sum);
        bp_text_add(&text,
                    " %.2g s after the last device records; later CUDA calls are not divided into "
                    "transfer and waiting",
                    sum->behind_s);
    } else {
        bp_text_add(&text, "no records of them arrived");
    }
    bp_analysis_note(analysis, "%s", bp_text_get(&text));
    bp_text_fini(&text);
}

void bp_notes_untimed(struct bp_analysis *analysis, const struct bp_model_process *process) {
    const struct bp_model *model = analysis->model;
    struct untimed sum = {0};
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *other = &model->processes[i];
        if (!is_alike(other, process))
            continue;
        if (other < process)
            return;
        add(&sum, other);
    }
    if (sum.processes)
        note(analysis, process, &sum);
}
