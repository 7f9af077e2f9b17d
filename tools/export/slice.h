/* SPDX-License-Identifier: MIT
 *
 * Tasks and phases by time, and marks, for formats that know time. A lane is a track on which
 * slices lie within one another or apart; of a thread most have one. Ranges that overlap, as those
 * that another thread ended may, get further lanes.
 */
#ifndef BP_TOOLS_EXPORT_SLICE_H
#define BP_TOOLS_EXPORT_SLICE_H

#include "tools/base/keys.h"
#include "tools/model/model.h"

struct bp_slice {
    uint32_t lane;
    uint32_t thread; /* index in the model */
    uint32_t name;   /* index in names */
    uint32_t depth;  /* slices of its lane around it */
    bool phase;
    bool instant; /* a mark, or a start or stop of the recording: it ends where it begins */
    bool failed;
    bool unfinished;   /* its end is that of its process */
    uint64_t start_ns; /* from the start of the run */
    uint64_t end_ns;
};

struct bp_slice_lane {
    uint32_t thread;
    uint32_t depth;  /* which one of its thread */
    uint32_t ranges; /* slices that are no instants */
    uint64_t end_ns; /* of its last slice */
};

struct bp_slices {
    struct bp_slice *list; /* by lane, then start; what contains another comes before it */
    uint32_t count;
    struct bp_slice_lane *lanes; /* by thread */
    uint32_t lane_count;
    char **names; /* "solve 3": UTF-8 */
    uint32_t name_count;
    struct bp_keys name_keys;
};

void bp_slices_init(struct bp_slices *slices, const struct bp_model *model);
void bp_slices_fini(struct bp_slices *slices);

/* "task", "phase" or "mark" */
const char *bp_slice_kind(const struct bp_slice *slice);

/* Every slice of a lane opens and closes, in the order of time. */
typedef void bp_slice_visit(const struct bp_slice *slice, bool opens, void *data);
void bp_slices_visit(const struct bp_slices *slices, uint32_t lane, bp_slice_visit *visit,
                     void *data);

#endif
