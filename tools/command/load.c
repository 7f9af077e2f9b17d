/* SPDX-License-Identifier: MIT */
#include "tools/command/load.h"

#include <stdlib.h>

#include "tools/command/trace.h"

struct bp_model *bp_load_model(const char *path, const struct bp_rules *rules,
                               const struct bp_task_wishes *wishes, struct bp_error *error) {
    if (!bp_trace_is(path))
        return bp_model_new_with(path, rules, wishes, error);
    char *profile = bp_trace_open(path, error);
    struct bp_model *model = profile ? bp_model_new_with(profile, rules, wishes, error) : NULL;
    if (model)
        model->run.path = path;
    free(profile);
    return model;
}
