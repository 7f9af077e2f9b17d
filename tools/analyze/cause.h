/* SPDX-License-Identifier: MIT
 *
 * Why a line takes its time (causes.def), from the functions below it and from what it says.
 */
#ifndef BP_TOOLS_ANALYZE_CAUSE_H
#define BP_TOOLS_ANALYZE_CAUSE_H

#include "tools/model/model.h"

/* Which lines share an advice. */
enum bp_reach { BP_REACH_LINE, BP_REACH_FUNCTION, BP_REACH_RUN };

struct bp_cause_about {
    const char *word;
    double enough; /* part of a line's time that must be below functions which prove it */
    enum bp_reach reach;
    const char *does;
    const char *change;
};

extern const struct bp_cause_about bp_causes[BP_CAUSES];

/* BP_CAUSES if it is not known. */
enum bp_cause bp_spot_cause(const struct bp_model *model, const struct bp_spot *spot);

/* Levels of loggers, by the name of the method; BP_LEVELS if the line calls none. */
#define BP_LEVELS 7
unsigned bp_spot_level(const struct bp_model *model, const struct bp_spot *spot);
/* So much below a logger that writes: the message was wanted. */
bool bp_cause_is_wanted(double logged_s, double wall_s);

/* The line that has most of a function's own time, so that the rest is another function. It may be
 * in a function below that is not intercepted. */
struct bp_main_line {
    const struct bp_spot *spot; /* NULL if there is none */
    double wall_s;              /* the function's time at this line */
    double whole_s;             /* at all lines */
};

struct bp_main_line bp_model_main_line(const struct bp_model *model, uint32_t function);

#endif
