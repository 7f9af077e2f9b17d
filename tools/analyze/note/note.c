/* SPDX-License-Identifier: MIT
 *
 * What the user should know before believing the numbers, in plain words, most important first:
 * an empty result, lost parts, estimated ends, sums that do not fit.
 */
#include "tools/analyze/note/note.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/advise/advise.h"
#include "tools/base/invoked.h"
#include "tools/base/page.h"
#include "tools/base/text.h"

/* A thread that was blocked out of our sight less than this is noise of the CPU clock. */
#define BLOCKED_S 0.01
#define BLOCKED_PART 0.05
#define MOST_LIBRARIES 8   /* by name */
#define MOST_BLOCKED 5     /* threads by name */
#define OVERHEAD_PART 0.01 /* of the wall: less is not worth a note */
/* Errors of sums that rounding does not explain: of the wall, of a thread's lifetime. */
#define UNSPLIT_PART 0.005
#define SUM_PART 0.001

/* Nobody would hook these. */
static bool is_machinery(const char *name) {
    return strncmp(name, "linux-vdso", 10) == 0 || strncmp(name, "ld-linux", 8) == 0 ||
           strncmp(name, "libbattprof", 11) == 0;
}

/* A new text. */
static char *list_libraries(const struct bp_profile *profile) {
    struct bp_text text = {0};
    uint32_t shown = 0;
    for (uint32_t i = 0; i < profile->object_count && shown < MOST_LIBRARIES; i++) {
        const char *path = bp_profile_string(profile, profile->objects[i].path);
        bool main_program = profile->objects[i].flags & BP_OBJECT_MAIN;
        if (!path[0] || main_program || is_machinery(bp_base_name(path)))
            continue;
        bp_text_add(&text, "%s%s", shown++ ? ", " : "", bp_base_name(path));
    }
    bp_text_add(&text, "%s", !shown ? "none" : shown == MOST_LIBRARIES ? ", …" : "");
    return bp_text_take(&text);
}

static void note_empty(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    bool called = false;
    for (uint32_t i = 0; i < model->process_count; i++)
        called |= model->processes[i].profile->missing[0] != 0; /* known already why */
    for (uint32_t i = 0; i < model->function_count; i++)
        called |=
            model->functions[i].kind == BP_FUNC_CALL && bp_function_used(&model->functions[i]);
    if (called || model->run.imported)
        return;
    if (model->process_count == 0) {
        bp_analysis_note(analysis,
                         "no process of this run loaded battprof; a static or setuid program "
                         "cannot be profiled; what this machine can do:\n%s doctor",
                         bp_invoked());
        return;
    }
    if (model->coverage_count) {
        bp_analysis_note(analysis,
                         "%s is hooked, but no call of its functions could be intercepted (static "
                         "linking, -Bsymbolic and hidden symbols hide calls)",
                         model->coverage[0].library);
        return;
    }
    const char *hooks = model->processes[0].profile->header.hooks;
    char *libraries = list_libraries(model->processes[0].profile);
    if (model->split.leads)
        bp_analysis_note(analysis,
                         "no function of the program was intercepted; name yours with --dsl; these "
                         "were loaded: %s",
                         libraries);
    else
        bp_analysis_note(
            analysis,
            "no library matching %s was loaded; name yours with --dsl; these were loaded: %s",
            hooks[0] ? hooks : "libdsl*", libraries);
    free(libraries);
}

static void note_lost(struct bp_analysis *analysis, const struct bp_model_process *process) {
    const struct bp_header *header = &process->profile->header;
    if (header->flags & BP_OFF)
        bp_analysis_note(analysis, "process %d: the profiler switched itself off: %s", header->pid,
                         header->reason[0] ? header->reason : "no reason recorded");
    else if (header->reason[0])
        bp_analysis_note(analysis, "process %d: %s", header->pid, header->reason);
    if (header->flags & BP_LOST_DISK)
        bp_analysis_note(analysis, "process %d: its file could not grow (%s), %.1f MB are lost",
                         header->pid,
                         strerror((int)(header->lost_errno ? header->lost_errno : ENOSPC)),
                         (double)header->lost_bytes / 1e6);
    if (header->flags & BP_LOST_STUBS)
        bp_analysis_note(analysis,
                         "process %d ran out of stubs: the remaining functions were not hooked",
                         header->pid);
    if (header->flags & BP_LOST_TREE)
        bp_analysis_note(
            analysis,
            "process %d could not join the wall page: its time is missing from the wall split",
            header->pid);
    if (header->flags & BP_LATE)
        bp_analysis_note(analysis,
                         "process %d was already running when battprof was loaded; anything before "
                         "that is missing",
                         header->pid);
}

static void note_folded(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    uint64_t nodes = 0;
    uint64_t threads = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        nodes += model->processes[i].profile->header.node_limit_hits;
        threads += model->processes[i].profile->header.threads_folded;
    }
    if (nodes)
        bp_analysis_note(analysis,
                         "%s contexts were folded: a thread reached its limit of contexts, and the "
                         "callers of calls below (folded) are unknown",
                         BP_COUNT(nodes));
    if (threads)
        bp_analysis_note(
            analysis, "%s short threads are recorded together with threads that ended before them",
            BP_COUNT(threads));
}

static const char *task_rules(const struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->variable_count; i++)
        if (strcmp(bp_profile_string(profile, profile->variables[i].name), "BATTPROF_TASKS") == 0)
            return bp_profile_string(profile, profile->variables[i].value);
    return "";
}

static bool has_tasks(const struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->task_count; i++)
        if (!(profile->tasks[i].flags & BP_TASK_PHASE))
            return true;
    return false;
}

/* Somebody asked for tasks and there are none. */
static void note_tasks(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    const char *rules = "";
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_profile *profile = model->processes[i].profile;
        if (has_tasks(profile))
            return;
        if (strstr(task_rules(profile), "task=") && !strstr(task_rules(profile), "task=none"))
            rules = task_rules(profile);
    }
    if (*rules)
        bp_analysis_note(analysis,
                         "no task was seen (%s): calls of native functions are seen where a "
                         "library exports them, not where a program calls its own; names are globs",
                         rules);
}

static void note_threads(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    uint32_t blocked = 0;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        const struct bp_model_thread *thread = &model->threads[i];
        double difference = fabs(thread->sum_s - thread->lifetime_s);
        wrong += difference > SUM_PART * thread->lifetime_s && difference > 1e-5;
        if (thread->blocked_s <= BLOCKED_PART * thread->busy_s || thread->blocked_s <= BLOCKED_S)
            continue;
        if (blocked++ < MOST_BLOCKED)
            bp_analysis_note(
                analysis, "thread %d (%s) was blocked where battprof cannot see for %.2f s",
                thread->source->info.tid, thread->source->info.name, thread->blocked_s);
    }
    if (blocked > MOST_BLOCKED)
        bp_analysis_note(analysis, "%u more thread%s blocked where battprof cannot see",
                         blocked - MOST_BLOCKED, blocked == MOST_BLOCKED + 1 ? " was" : "s were");
    if (wrong)
        bp_analysis_note(analysis,
                         "the self times of %u thread%s from %s lifetime by more than 0.1 %%",
                         wrong, wrong == 1 ? " differ" : "s differ", wrong == 1 ? "its" : "their");
}

static void note_overhead(struct bp_analysis *analysis, const struct bp_model_process *process,
                          uint64_t ticks, const char *what) {
    const struct bp_model *model = analysis->model;
    double s = (double)ticks * process->tick_s;
    if (s > OVERHEAD_PART * model->wall.total_s)
        bp_analysis_note(analysis, "process %d: CUPTI reports %s for %s",
                         process->profile->header.pid, BP_SENTENCE_TIME(s), what);
}

static bool is_alike(const struct bp_model_process *a, const struct bp_model_process *b) {
    const struct bp_collector *x = a->profile->collector, *y = b->profile->collector;
    return x && y && x->state == y->state && strcmp(x->reason, y->reason) == 0;
}

static bool has_graphs(const struct bp_profile *profile) {
    for (uint32_t i = 0; i < profile->thread_count; i++)
        for (uint32_t k = 1; k < profile->threads[i].node_count; k++) {
            const struct bp_func *func = &profile->funcs[profile->threads[i].nodes[k].func];
            if (func->flags & BP_FUNC_CUDA &&
                strstr(bp_profile_string(profile, func->name), "GraphLaunch"))
                return true;
        }
    return false;
}

/* Once for all processes that have no device records for the same reason. */
static void note_host_only(struct bp_analysis *analysis, const struct bp_model_process *process,
                           const char *reason) {
    const struct bp_model *model = analysis->model;
    uint32_t others = 0;
    char more[48] = "";
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_model_process *other = &model->processes[i];
        if (other < process && is_alike(other, process))
            return;
        others += other > process && is_alike(other, process);
    }
    if (others)
        snprintf(more, sizeof(more), " and %u others", others);
    bool forked = process->profile->collector->flags & BP_COLLECTOR_FORKED;
    const char *means = strcmp(reason, "no CUDA driver") == 0 && !process->profile->transfer_count
                            ? "no GPU was used"
                        : forked ? "CUDA calls are timed, copies are not counted"
                                 : "the time of a blocking copy is that of its call, including "
                                   "kernels it waited for; an asynchronous copy has none; other "
                                   "waiting for copies and kernels counts as CUDA calls";
    bp_analysis_note(analysis, "process %d%s: no device records: %s; %s",
                     process->profile->header.pid, more, reason, means);
}

/* Records that did not come, or not in time, and what that does to the figures. */
static void note_missing(struct bp_analysis *analysis, int pid,
                         const struct bp_collector *collector) {
    if (collector->dropped)
        bp_analysis_note(analysis,
                         "process %d: %llu device records were dropped by CUPTI or had no times, "
                         "%llu arrived: copies and kernels are missing, and waiting for them "
                         "counts as time of the CUDA calls themselves",
                         pid, (unsigned long long)collector->dropped,
                         (unsigned long long)collector->records);
    if (collector->late)
        bp_analysis_note(analysis,
                         "process %d: %llu of %llu device records arrived too late: waiting for "
                         "their work counts as time of the CUDA calls themselves",
                         pid, (unsigned long long)collector->late,
                         (unsigned long long)collector->records);
    if (collector->lost_calls)
        bp_analysis_note(analysis,
                         "process %d: %llu CUDA calls came too fast: their time is not split "
                         "into transfer and waiting",
                         pid, (unsigned long long)collector->lost_calls);
}

static void note_collector(struct bp_analysis *analysis, const struct bp_model_process *process) {
    const struct bp_model *model = analysis->model;
    const struct bp_collector *collector = process->profile->collector;
    int pid = process->profile->header.pid;
    if (!collector)
        return;
    const char *reason = collector->reason[0] ? collector->reason : "no reason recorded";
    if (collector->state == BP_COLLECTOR_IMPORTED && collector->reason[0])
        bp_analysis_note(analysis, "imported from %s: %s", bp_base_name(collector->library),
                         reason);
    else if (collector->state == BP_COLLECTOR_HOST)
        note_host_only(analysis, process, reason);
    if (collector->untold_copies)
        bp_analysis_note(analysis,
                         "process %d: %llu copies are not among the transfers: their arguments do "
                         "not show size or direction",
                         pid, (unsigned long long)collector->untold_copies);
    if (collector->flags & BP_COLLECTOR_UNREAD)
        bp_analysis_note(analysis,
                         "process %d: what was copied could not be read, the system refuses "
                         "process_vm_readv: duplicates and round trips are unknown",
                         pid);
    if (collector->state == BP_COLLECTOR_HOST && has_graphs(process->profile))
        bp_analysis_note(analysis,
                         "process %d: what launches of graphs copied is not among the transfers: "
                         "only device records show it",
                         pid);
    if (collector->state == BP_COLLECTOR_STOPPED)
        bp_analysis_note(analysis, "process %d: %s; later copies and kernels are not shown", pid,
                         reason);
    else if (collector->state == BP_COLLECTOR_ACTIVE && collector->reason[0])
        bp_analysis_note(analysis, "process %d: %s", pid, reason);
    if (collector->mode == BP_CUDA_TRANSFERS && process->profile->wait_count &&
        model->thread_time.kernel_wait_s + model->thread_time.dsl_kernel_wait_s > 0)
        bp_analysis_note(analysis,
                         "process %d: no kernel records (--cuda=transfers): waiting that no copy "
                         "explains is charged to the thread's last launch",
                         pid);
    note_overhead(analysis, process, collector->cupti_time, "its own work, on any thread");
    note_overhead(analysis, process, collector->loading_time, "compiling and loading device code");
    note_overhead(analysis, process, collector->full_time,
                  "calls that waited because the device's queue was full");
    if (collector->flags & BP_COLLECTOR_STOLEN && collector->state != BP_COLLECTOR_STOPPED)
        bp_analysis_note(analysis, "process %d: another profiler took CUPTI's records away", pid);
    note_missing(analysis, pid, collector);
}

static const char *count_or_none(uint64_t count, char text[32]) {
    return count ? bp_page_count(count, text) : "none";
}

/* Advice is of what is worth a line; who asked for the contents wants to know it either way. */
static void note_contents(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    char counts[5][32];
    struct bp_model_transfer sums[2] = {0}; /* by direction */
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_collector *collector = model->processes[i].profile->collector;
        if (collector && collector->flags & BP_COLLECTOR_UNREAD)
            return; /* there is a note that says so */
    }
    for (uint32_t i = 0; i < model->cuda.transfer_count; i++)
        if (model->cuda.transfers[i].direction <= BP_D2H)
            bp_transfer_add(&sums[model->cuda.transfers[i].direction], &model->cuda.transfers[i]);
    if (!bp_model_is_hashed(model) || sums[BP_H2D].count + sums[BP_D2H].count == 0)
        return;
    bp_analysis_note(
        analysis,
        "--check-transfers compared contents: of %s copies to the device %s repeated an earlier "
        "one, %s returned what came from it; of %s from the device %s came back unchanged",
        bp_page_count(sums[BP_H2D].count, counts[0]),
        count_or_none(sums[BP_H2D].duplicates, counts[1]),
        count_or_none(sums[BP_H2D].round_trips, counts[2]),
        bp_page_count(sums[BP_D2H].count, counts[3]),
        count_or_none(sums[BP_D2H].round_trips, counts[4]));
}

static void note_wall(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    if (model->run.imported && model->thread_count > 1)
        bp_analysis_note(analysis,
                         "a trace does not say when threads waited: the wall split is scaled "
                         "from thread times");
    else if (model->wall.tree_count == 0 && model->thread_count > 1)
        bp_analysis_note(analysis,
                         "the wall page of this run is not among the files: the wall split is "
                         "scaled from thread times");
    if (model->wall.tree_count > 1)
        bp_analysis_note(analysis, "%u separate runs are shown together, their wall times added",
                         model->wall.tree_count);
    if (model->thread_count && fabs(model->wall.unsplit_s) > UNSPLIT_PART * model->wall.total_s &&
        fabs(model->wall.unsplit_s) > 1e-4)
        bp_analysis_note(analysis, "the wall split is off by %+.3f s of %.3f s",
                         -model->wall.unsplit_s, model->wall.total_s);
}

void bp_notes_make(struct bp_analysis *analysis) {
    const struct bp_model *model = analysis->model;
    if (bp_model_lost(model)) {
        bp_notes_lost(analysis);
        bp_notes_reading(analysis); /* follows from it */
        return;
    }
    bp_notes_reading(analysis);
    if (!bp_notes_dsl(analysis) && !bp_notes_python(analysis))
        note_empty(analysis);
    for (uint32_t i = 0; i < model->process_count; i++) {
        bp_notes_end(analysis, &model->processes[i]);
        note_lost(analysis, &model->processes[i]);
        note_collector(analysis, &model->processes[i]);
        bp_notes_untimed(analysis, &model->processes[i]);
    }
    note_contents(analysis);
    note_folded(analysis);
    note_tasks(analysis);
    bp_notes_patterns(analysis);
    bp_notes_estimated(analysis);
    bp_notes_samples(analysis);
    note_threads(analysis);
    note_wall(analysis);
}
