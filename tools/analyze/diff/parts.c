/* SPDX-License-Identifier: MIT
 *
 * What the change of the walls is made of: five parts that add up to it. And where the functions
 * lead together: each may have changed by its own spread more or less, all of them in the same
 * direction. If the sum of that has one sign the wall's change has it, whatever the walls alone
 * say.
 */
#include <math.h>

#include "tools/analyze/diff/diff.h"

/* The change that all functions share is a part of its own from this factor on. */
#define NOTABLE 1.03
/* Seconds that starting a program may take more or less. */
#define START_S 0.003

static double mean_overhead(const struct bp_diff_run *runs, uint32_t count) {
    double s = 0;
    for (uint32_t i = 0; i < count; i++)
        s += runs[i].model->wall.overhead_s / count;
    return s;
}

/* Functions that did not certainly change. In the time of threads they may share a factor; and the
 * wall has less of a thread's time when more of them are busy. */
static void add_shared(struct bp_diff *diff, const struct bp_diff_row *row) {
    if (row->kind != BP_DIFF_FUNCTION || bp_diff_differs(row) || !(row->old_s > 0) ||
        !(row->new_s > 0))
        return;
    double old_rate = row->old_wall_s / row->old_s;
    double new_rate = row->new_wall_s / row->new_s;
    diff->wall.parallel_s += row->old_s * (new_rate - old_rate);
    if (!row->cuda && fabs(log(diff->common)) > log(NOTABLE))
        diff->wall.even_s += row->new_wall_s * (1 - 1 / diff->common);
}

/* The wall is the sum of its rows, and of what is in none of them: starts, overhead. */
static void find_bounds(struct bp_diff *diff) {
    struct bp_diff_wall *wall = &diff->wall;
    double rest_old_s = wall->old_s;
    double rest_new_s = wall->new_s;
    double base_s = 0;
    double low_s = 0;
    double high_s = 0;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct bp_diff_row *row = &diff->rows[i];
        if (!bp_diff_is_cause(row))
            continue;
        rest_old_s -= row->old_wall_s;
        rest_new_s -= row->new_wall_s;
        base_s += row->quiet_old_s;
        low_s += row->quiet_low_s;
        high_s += row->quiet_high_s;
    }
    double rest_s = rest_new_s - rest_old_s;
    base_s += fmax(rest_old_s, 0);
    wall->parts_low = wall->parts_high = 1;
    if (base_s > 0) {
        wall->parts_low = 1 + (low_s + fmin(rest_s, 0) - START_S) / base_s;
        wall->parts_high = 1 + (high_s + fmax(rest_s, 0) + START_S) / base_s;
    }
}

void bp_diff_find_parts(struct bp_diff *diff) {
    struct bp_diff_wall *wall = &diff->wall;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        wall->certain_s += bp_diff_is_cause(&diff->rows[i]) ? diff->rows[i].wall_change_s : 0;
        add_shared(diff, &diff->rows[i]);
    }
    wall->overhead_s = mean_overhead(diff->runs + diff->old_side.count, diff->new_side.count) -
                       mean_overhead(diff->runs, diff->old_side.count);
    wall->unexplained_s = wall->new_s - wall->old_s - wall->certain_s - wall->even_s -
                          wall->parallel_s - wall->overhead_s;
    find_bounds(diff);
}
