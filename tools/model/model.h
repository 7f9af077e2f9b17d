/* SPDX-License-Identifier: MIT
 *
 * One run, put together from the profiles of its processes: what every report, export and
 * comparison is made of. All times are seconds. Two kinds of them stand side by side and are never
 * added to each other: thread-seconds (self_s, total_s, thread_time), and the wall split (wall_s,
 * wall), in which the busy threads of an instant share it. Texts are borrowed from the profiles and
 * rules unless a comment says otherwise.
 */
#ifndef BP_TOOLS_MODEL_MODEL_H
#define BP_TOOLS_MODEL_MODEL_H

#include "tools/base/error.h"
#include "tools/model/call.h"
#include "tools/model/device.h"
#include "tools/model/function.h"
#include "tools/model/group.h"
#include "tools/model/line/line.h"
#include "tools/model/owner/owner.h"
#include "tools/model/owner/split.h"
#include "tools/model/pause.h"
#include "tools/model/process.h"
#include "tools/model/role.h"
#include "tools/model/run.h"
#include "tools/model/sample.h"
#include "tools/model/task/task.h"
#include "tools/model/thread.h"
#include "tools/model/wall.h"

struct bp_model {
    struct bp_run run;
    struct bp_wall wall;
    struct bp_pauses pauses;
    struct bp_owner_split split; /* the same wall by whose code it was */
    struct bp_thread_time thread_time;
    struct bp_model_process *processes; /* by start; sessions are apart */
    uint32_t process_count;
    uint32_t pid_count; /* the same without programs that followed another by exec */
    struct bp_model_process *sessions;
    uint32_t session_count;
    struct bp_role *roles; /* by first process */
    uint32_t role_count;
    struct bp_machine *machines; /* the same */
    uint32_t machine_count;
    struct bp_model_thread *threads;
    uint32_t thread_count;
    uint32_t lived_count; /* threads that ever lived: some share their records */
    struct bp_in_flight *in_flight;
    uint32_t in_flight_count;
    struct bp_function *functions;    /* hooked ones; calls or self_s tell the used ones */
    struct bp_call_times *call_times; /* per function */
    uint32_t function_count;
    char **texts; /* that functions borrow, and are not in a profile as they are */
    uint32_t text_count;
    struct bp_rules *rules; /* those that were given or kept, for this run */
    struct bp_context *contexts;
    uint32_t context_count;
    struct bp_coverage *coverage;
    uint32_t coverage_count;
    struct bp_group *groups; /* by falling self_s */
    uint32_t group_count;
    struct bp_part *parts; /* what functions took, exact and sampled; by falling self_s */
    uint32_t part_count;
    struct bp_context_part *context_parts; /* by context, then falling */
    uint32_t context_part_count;
    struct bp_model_tasks tasks;
    struct bp_model_phase *phases;
    uint32_t phase_count;
    struct bp_model_cuda cuda;
    struct bp_model_samples samples;
    struct bp_model_lines lines;
    struct bp_model_work *work; /* while it is built */
};

/* A file, or all *.bp of a directory. NULL with the error set. Rules that the run was given are
 * kept in the profile; those of a file that is given here stand in their place. */
struct bp_model *bp_model_new(const char *path, const struct bp_rules *rules,
                              struct bp_error *error);
/* A model whose tasks are looked at by `wishes`; NULL: as usual. */
struct bp_model *bp_model_new_with(const char *path, const struct bp_rules *rules,
                                   const struct bp_task_wishes *wishes, struct bp_error *error);
/* One of many: names come from `symbols`, which know the files of the others, and outlive them all.
 */
struct bp_model *bp_model_new_of_many(const char *path, const struct bp_rules *rules,
                                      struct bp_symbols *symbols, struct bp_error *error);
/* Looks up files and lines of native functions, where their debug information is there. */
void bp_model_locate(struct bp_model *model);
void bp_model_free(struct bp_model *model);

#endif
