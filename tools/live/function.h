/* SPDX-License-Identifier: MIT
 *
 * Functions of a run that goes on, over all its processes: one row for all that have the same name
 * in the same library or module. A row keeps what calls left behind when they ended, and what the
 * open ones have added so far.
 */
#ifndef BP_TOOLS_LIVE_FUNCTION_H
#define BP_TOOLS_LIVE_FUNCTION_H

#include "tools/base/keys.h"
#include "tools/live/file.h"
#include "tools/rules/rules.h"

struct bp_live_function {
    char *name;    /* module.name of Python's, "own code" of a thread's root */
    char *place;   /* library, or the module's file */
    uint32_t kind; /* enum bp_func_kind */
    enum bp_category category;
    double self_s; /* of ended calls */
    double open_s; /* of open ones, in this look */
    uint64_t calls;
    uint32_t open;   /* calls that are open */
    double before_s; /* self_s + open_s in the look before */
    uint64_t before_calls;
    double interval_s; /* self time between the two looks */
    uint64_t interval_calls;
};

struct bp_live_functions {
    struct bp_live_function *rows;
    uint32_t count;
    struct bp_keys keys;
    const struct bp_rules *rules; /* borrowed */
};

/* The number of the row of a file's function. */
uint32_t bp_live_functions_put(struct bp_live_functions *functions, const struct bp_live_file *file,
                               const struct bp_func *func);

/* Before and after a look. */
void bp_live_functions_begin(struct bp_live_functions *functions);
void bp_live_functions_end(struct bp_live_functions *functions);
void bp_live_functions_fini(struct bp_live_functions *functions);

#endif
