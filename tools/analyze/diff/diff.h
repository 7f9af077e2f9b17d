/* SPDX-License-Identifier: MIT
 *
 * What differs between two runs, or two series of runs of `run --repeat`. Everything that can be
 * compared — a function, a group, a category, a direction of copies, the wall — is a row with a
 * value for every run. Times are compared as seconds, never as shares: one function made faster
 * must not make all others look slower.
 *
 *     diff_collect.c   rows and values from the models
 *     diff_mode.c      what cannot be compared where CUDA was recorded in different ways
 *     diff_compare.c   the speed of the machine, the spread, the verdict
 *     diff_text.c, diff_json.c
 *     diff.c           the command
 */
#ifndef BP_TOOLS_DIFF_H
#define BP_TOOLS_DIFF_H

#include <stdio.h>

#include "tools/model.h"
#include "tools/runs.h"

/* Of the wall: less is not called faster or slower. */
#define BP_DIFF_LEAST 0.005
/* A spread that calls for repetition. */
#define BP_DIFF_WIDE 0.2

enum bp_diff_kind {
    BP_DIFF_WALL,
    BP_DIFF_CATEGORY,
    BP_DIFF_IDLE, /* wall without a busy thread */
    BP_DIFF_GROUP,
    BP_DIFF_FUNCTION,
    BP_DIFF_TRANSFER, /* a direction; exposed time */
    BP_DIFF_KERNEL,   /* time on the device */
    BP_DIFF_TASK,     /* the median task */
    BP_DIFF_KINDS
};

/* A row in one run. */
struct bp_diff_value {
    double s;
    double likely_s; /* without time that was lost waiting for a CPU */
    double doubt_s;  /* how far likely_s may be off */
    double wall_s;   /* of s; of a kernel what was waited for it */
    double cost_s;   /* taken out of s as the profiler's */
    double fixed_s;  /* of s: not by the CPU's speed; a device, CUDA's calls (contexts, queues) */
    double first_s;  /* the longest first call of a context */
    uint64_t count;  /* calls, copies */
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
    /* The verdict. Means over the runs of a side, as measured. */
    double old_s;
    double new_s;
    double old_count;
    double new_count;
    double old_bytes; /* of copies */
    double new_bytes;
    double even_s;        /* NEW at OLD's speed */
    double change_s;      /* that, minus OLD */
    double spread_s;      /* a change may be as large without any cause */
    double wall_change_s; /* what a difference changes of the wall; 0 of rows that do not differ */
    bool time_differs;
    bool count_differs;
};

struct bp_diff_run {
    struct bp_model *model;
    double slowness; /* 1.2: everything takes 1.2 times what it took in the first run */
    double busy_s;   /* of threads */
    double lost_s;   /* of it: without a CPU */
};

struct bp_diff_side {
    const char *path;
    uint64_t began_ns;
    uint32_t count;
    int cuda; /* enum bp_collector_mode: what its runs tell of CUDA; BP_DIFF_NO_CUDA */
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
    double slowness; /* of NEW against OLD */
    double changed;  /* the same where that is too much for a machine; 0 otherwise */
    uint32_t alike;  /* functions that it was taken from; 0: too few, all speeds are 1 */
    double scatter;  /* relative: how far functions stray from it */
    double kinds;    /* relative: a fifth of them strays further than this */
    double net_s;    /* of the wall: what the differences change, added */
    double category_net_s[BP_CATEGORIES];
    uint32_t differences;
    bool slower_or_faster; /* some differ in time, not only in number */
};

struct bp_diff_settings {
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
/* A sentence about them; false if the sides tell the same of CUDA. */
bool bp_diff_describe_modes(const struct bp_diff *diff, char *text, size_t size);
/* "full"; NULL without CUDA. */
const char *bp_diff_mode_name(int mode);

void bp_diff_compare(struct bp_diff *diff, bool same_speed);

static inline bool bp_diff_differs(const struct bp_diff_row *row) {
    return row->time_differs || row->count_differs;
}

/* For people; of copies the direction alone. */
void bp_diff_name(const struct bp_diff_row *row, char *text, size_t size);

/* Of two single runs: how much of a function's time, the mean of both, may be chance. */
double bp_diff_relative_spread(const struct bp_diff *diff);
/* Times on a device follow no CPU. */
static inline bool bp_diff_on_device(const struct bp_diff_row *row) {
    return row->kind == BP_DIFF_KERNEL || (row->kind == BP_DIFF_TRANSFER && !row->on_host);
}
/* The same of what is on a device. */
#define BP_DIFF_DEVICE_SPREAD 0.15
/* The same as parts of OLD's time, by that spread: a function that takes up to so much more, or
 * less, in NEW does not differ. The first is infinite where nothing would be enough. */
double bp_diff_chance_slower(double spread);
double bp_diff_chance_faster(double spread);

/* The first row of the kind, NULL without. */
const struct bp_diff_row *bp_diff_find(const struct bp_diff *diff, enum bp_diff_kind kind);
/* What the differences make of OLD's wall: 0.5 is half as long again. */
double bp_diff_part(const struct bp_diff *diff);
/* The walls differ, but runs scatter so much, this part, that no cause can be shown; 0 otherwise.
 */
double bp_diff_unclear(const struct bp_diff *diff);

int bp_diff_text(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out);
int bp_diff_json(const struct bp_diff *diff, FILE *out);
int bp_diff_csv(const struct bp_diff *diff, const struct bp_diff_settings *settings, FILE *out);

#endif
