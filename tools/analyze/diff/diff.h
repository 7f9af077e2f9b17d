/* SPDX-License-Identifier: MIT
 *
 * What differs between two runs, or two series of runs of `run --repeat`. Everything that can be
 * compared — a function, a group, a category, a direction of copies, the wall — is a row with a
 * value for every run. Times are compared as seconds, never as shares: one function made faster
 * must not make all others look slower. Every number that is shown was measured; how fast the
 * machine was decides only which changes are certain.
 *
 *     diff_collect.c   rows and values from the models
 *     diff_mode.c      what cannot be compared where CUDA was recorded in different ways
 *     diff_chosen.c    the same where other functions were counted
 *     diff_speed.c     the change that most functions share
 *     diff_compare.c   which rows certainly changed
 *     diff_wall.c      the walls and their interval
 *     diff_parts.c     what their change is made of, and where that leads
 *     diff_words.c     factors, intervals, and what is odd about the two sides
 *     diff_text.c, diff_text_row.c, diff_json.c
 *     diff.c           the command
 */
#ifndef BP_TOOLS_ANALYZE_DIFF_DIFF_H
#define BP_TOOLS_ANALYZE_DIFF_DIFF_H

#include <stdio.h>

#include "tools/base/runs.h"
#include "tools/model/model.h"

/* Half of an interval, as a logarithm, that calls for repetition. */
#define BP_DIFF_WIDE 0.15

enum bp_diff_kind {
    BP_DIFF_WALL,
    BP_DIFF_CATEGORY,
    BP_DIFF_SPLIT, /* the wall by whose code it was: the same once more */
    BP_DIFF_IDLE,  /* wall without a busy thread */
    BP_DIFF_GROUP,
    BP_DIFF_FUNCTION,
    BP_DIFF_TRANSFER, /* a direction; exposed time */
    BP_DIFF_KERNEL,   /* time on the device */
    BP_DIFF_TASK,     /* the median task */
    BP_DIFF_SAMPLED,  /* a function that is not counted: a part of what is, by samples */
    BP_DIFF_KINDS
};

/* A row in one run. */
struct bp_diff_value {
    double s;
    double likely_s;   /* without time that was lost waiting for a CPU */
    double doubt_s;    /* how far likely_s may be off */
    double wall_s;     /* of s; of a kernel what was waited for it */
    double overhead_s; /* taken out of s */
    double fixed_s;    /* of s: not by the CPU's speed; a device, CUDA's calls (contexts, queues) */
    double first_s;    /* the longest first call of a context */
    double least_s;    /* the shortest call; 0: too few of them to tell */
    uint64_t count;    /* calls, copies */
    uint64_t bytes;
};

struct bp_diff_row {
    enum bp_diff_kind kind;
    const char *name;
    const struct bp_function *function; /* one of the runs'; NULL in other rows */
    enum bp_category category;          /* of a cause: a function, copies, a kernel, idle time */
    struct bp_diff_value *values;       /* by run */
    bool in_old;
    bool in_new;
    bool cuda;    /* a CUDA call, or a group with some */
    bool on_host; /* copies without device records: the time of their calls */
    bool other;   /* its time means something else on the other side: not compared */
    bool unseen;  /* one side cannot see it: nor is its number */
    /* Means over the runs of a side, as measured. */
    double old_s;
    double new_s;
    double old_wall_s;
    double new_wall_s;
    double old_count;
    double new_count;
    double old_bytes; /* of copies */
    double new_bytes;
    double change_s;      /* new_s minus old_s */
    double spread_s;      /* a change of as many seconds may have no cause */
    double wall_change_s; /* what a difference changes of the wall; 0 of rows that do not differ */
    double neighbour_s;   /* of the wall's change: maybe a neighbour on the same core */
    double quiet_old_s;   /* of the wall, without lost time */
    double quiet_low_s;   /* what it may have changed by, of that */
    double quiet_high_s;
    bool time_differs;
    bool count_differs;
};

struct bp_diff_run {
    struct bp_model *model;
    double slowness; /* 1.2: everything takes 1.2 times what it took in the first run */
    double busy_s;   /* of threads */
    double lost_s;   /* of it: without a CPU */
    double quiet_s; /* the wall without time in which others had the CPU, as far as that is known */
    double stray_s; /* of quiet_s: another run of the same may be without it */
    double stall_s; /* of idle time: the same */
};

/* The walls, and what their change is made of: the five parts sum to it. */
struct bp_diff_wall {
    double old_s;
    double new_s;
    double factor; /* NEW's wall by OLD's; 1 if OLD has none */
    double low;    /* the 95 % interval of the factor */
    double high;
    double parts_low; /* where the changes of all functions lead, each with its spread */
    double parts_high;
    bool certain;         /* they differ: beyond the interval with room to spare, or the parts do */
    double certain_s;     /* of the rows that differ */
    double even_s;        /* shared by most functions: the machine, or a cause that they share */
    double parallel_s;    /* more or fewer threads at once with the same work */
    double overhead_s;    /* what battprof itself cost */
    double unexplained_s; /* what is left */
};

struct bp_diff_side {
    const char *path;
    uint64_t began_ns;
    uint32_t count;
    int cuda; /* enum bp_collector_mode: what its runs recorded of CUDA; BP_DIFF_NO_CUDA */
};

/* No CUDA was used: comparable with anything. */
#define BP_DIFF_NO_CUDA (-1)

struct bp_diff {
    struct bp_diff_side old_side;
    struct bp_diff_side new_side;
    struct bp_diff_run *runs; /* OLD's first */
    uint32_t run_count;
    struct bp_diff_row *rows; /* sums first, then by falling change */
    uint32_t row_count;
    double slowness;   /* a call's time in NEW by that in OLD: what most functions share */
    double common;     /* the same if a machine may be as much slower or faster; 1 otherwise */
    uint32_t alike;    /* functions that it was taken from */
    bool speed_known;  /* enough of them agree, and a machine may differ as much */
    double scatter;    /* relative: how far functions stray from it */
    double repetition; /* relative deviation of a function in repeated runs, the median one's */
    struct bp_diff_wall wall;
    uint32_t differences;
    bool chosen; /* the sides counted other functions */
};

struct bp_diff_settings {
    bool no_pager;
    const char *rules;
    const char *by;     /* the table for CSV; NULL: the differences */
    const char *output; /* file; NULL: stdout */
    bool csv;
    bool json;
    bool same_speed;  /* the machine was equally fast */
    unsigned top;     /* rows; 0: not said */
    double fail_over; /* part of OLD's wall; negative: never */
};

/* New; NULL with the error set. The runs and rules are borrowed; NEW may have none, for the report
 * of a series. */
struct bp_diff *bp_diff_new(const struct bp_runs *old_runs, const struct bp_runs *new_runs,
                            const struct bp_rules *rules, struct bp_error *error);
void bp_diff_free(struct bp_diff *diff);

/* Marks rows that cannot be compared. */
void bp_diff_mark_modes(struct bp_diff *diff);
/* The same where the sides counted other functions, and a sentence about it: a new text, or NULL.
 */
void bp_diff_mark_choices(struct bp_diff *diff);
char *bp_diff_describe_choices(const struct bp_diff *diff);
/* A sentence about them; false if the sides tell the same of CUDA. */
char *bp_diff_describe_modes(const struct bp_diff *diff);
/* "full"; NULL without CUDA. */
const char *bp_diff_mode_name(int mode);

void bp_diff_find_speed(struct bp_diff *diff, bool same_speed);
/* Relative variance of a row's time among runs of one side, and its degrees of freedom. */
double bp_diff_variance(const struct bp_diff *diff, const struct bp_diff_row *row, double *degrees);
void bp_diff_compare(struct bp_diff *diff, bool same_speed);
/* Mean of a side's walls, without time in which others had the CPU. */
double bp_diff_quiet_mean(const struct bp_diff_run *runs, uint32_t count);
/* After the rows: the parts of the wall's change. */
void bp_diff_find_parts(struct bp_diff *diff);
void bp_diff_find_wall(struct bp_diff *diff);

static inline bool bp_diff_differs(const struct bp_diff_row *row) {
    return row->time_differs || row->count_differs;
}

/* For people; of copies the direction alone. */
const char *bp_diff_name(const struct bp_diff_row *row);

/* How much of a function's time, the mean of two single runs, may be chance. */
double bp_diff_relative_spread(const struct bp_diff *diff);
/* Times on a device follow no CPU. */
static inline bool bp_diff_on_device(const struct bp_diff_row *row) {
    return row->kind == BP_DIFF_KERNEL || (row->kind == BP_DIFF_TRANSFER && !row->on_host);
}
/* The spread of what is on a device. */
#define BP_DIFF_DEVICE_SPREAD 0.15
/* Limits as parts of OLD's time, by that spread: a function that takes up to so much more, or
 * less, in NEW does not differ. The first is infinite where nothing would be enough. */
double bp_diff_chance_slower(double spread);
double bp_diff_chance_faster(double spread);

/* The first row of the kind, NULL without. */
struct bp_diff_row *bp_diff_find(const struct bp_diff *diff, enum bp_diff_kind kind);
/* Is it a part of the wall in the headline: by category, or by whose code it was where no run has a
 * DSL? Then what it is called. */
bool bp_diff_is_headline(const struct bp_diff *diff, const struct bp_diff_row *row);
const char *bp_diff_headline_name(const struct bp_diff_row *row);
/* A function, copies, a kernel, idle time: sums and groups follow from those. */
bool bp_diff_is_cause(const struct bp_diff_row *row);

/* The walls differ beyond their interval, or the rows that differ are most of their change. */
bool bp_diff_is_likely(const struct bp_diff *diff);
/* How much slower NEW certainly is, as part of OLD's wall: without what is spread evenly over all
 * functions. 0 or less if it is not. */
double bp_diff_slower_part(const struct bp_diff *diff);
/* The change as measured, certain or not. */
double bp_diff_measured_part(const struct bp_diff *diff);

/* "18.5 × as fast", "3.2 % slower" for 0.054 and 1.032. */
const char *bp_diff_factor(double factor, bool utf8, char text[64]);
/* Fewer functions do not show the speed of the machine. */
#define BP_DIFF_WITNESSES 5

/* The interval and where it is from: a new text. */
char *bp_diff_describe_interval(const struct bp_diff *diff, bool utf8);
/* The next thing that makes the two sides hard to compare, as a sentence: other commands, the wrong
 * order, other numbers of tasks, a failed run. A new text; NULL when there are no more. `*next`
 * begins at 0. */
char *bp_diff_describe_sides(const struct bp_diff *diff, int *next);

int bp_diff_text(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out);
/* Rows that differ: causes, or of a kind (BP_DIFF_GROUP, BP_DIFF_SAMPLED) below a title. */
struct bp_page;
void bp_diff_text_causes(const struct bp_page *page, const struct bp_diff *diff, unsigned top);
void bp_diff_text_rows(const struct bp_page *page, const struct bp_diff *diff,
                       enum bp_diff_kind kind, const char *title, unsigned top);
/* "+12.3 ms", and how much that is; red if slower, green if faster. */
void bp_diff_text_change(const struct bp_page *page, double change_s, const char *how);
int bp_diff_json(const struct bp_diff *diff, FILE *out);
int bp_diff_csv(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out);

#endif
